"""The table of Canasta as text, at most 80 columns wide."""

from cardenvs.core.view import plain, sees
from cardenvs.games.canasta.state import (
    BLACK_MELD,
    CANASTA_SIZE,
    FACES_OF_KIND,
    KIND_LABELS,
    KIND_OF,
    MELD_LABELS,
    NUM_FACES,
    NUM_KINDS,
    NUM_MELDS,
    RED_THREE,
    WILD_MELD,
    initial_minimum,
    meld_size,
    num_sides,
    side_of,
    top_of_pile,
)

_WIDTH = 78


def render(view, s, viewer):
    """Return stock and pile, then for each side its melds and the hands of its players, the viewer's last."""
    what = f"deal {s.num_deals} of a match to {s.rules.target}" if s.rules.match else "a single deal"
    lines = [f"Canasta, {what}", "", *_pile_lines(view, s), ""]
    sides, own = int(num_sides(s)), int(side_of(s, max(viewer, 0)))
    for k in (*range(1, sides), 0):
        lines += _side_lines(view, s, (own + k) % sides, viewer)
    return "\n".join(lines)


def _pile_lines(view, s):
    """Return the lines of the stock and the pile: its top card, and the kinds of the cards below."""
    if not s.num_pile:
        return [f"    stock {s.num_stock}    pile empty"]
    counts = [0] * NUM_KINDS
    for face in s.pile[: int(s.num_pile) - 1]:
        counts[KIND_OF[int(face)]] += 1
    below = [_times(KIND_LABELS[kind], number) for kind, number in enumerate(counts) if number]
    frozen = "  [cyan]frozen[/cyan]" if s.pile_frozen else ""
    first = f"    stock {s.num_stock}    pile [bold]{view.token_markup(int(top_of_pile(s)))}[/bold]{frozen}"
    return [first, *wrapped(below, f"    on {int(s.num_pile) - 1}: ", ", ")] if below else [first]


def _times(label, number):
    return label if number == 1 else f"{number} x {label}"


def _side_lines(view, s, side, viewer):
    players = [p for p in range(int(s.rules.num_players)) if side_of(s, p) == side]
    marks = [f"score {s.scores[side]}"] if s.rules.match or s.terminal else []
    if not s.has_opened[side] and not s.terminal:
        marks.append(f"initial meld {initial_minimum(s, side)}")
    reds = sum(int(s.red_threes[p].sum()) for p in players)
    if reds:
        red = view.token_markup(int(FACES_OF_KIND[RED_THREE, 1]))
        marks.append(f"{red} x {reds}")
    name = " and ".join(f"player_{p}" for p in players)
    lines = [f"[bold]{name}[/bold]  {', '.join(marks)}".rstrip()]
    melds = [_meld_markup(view, s, side, m) for m in range(NUM_MELDS) if meld_size(s, side, m)]
    lines += wrapped(melds, "    melds  ", "  │  ") if melds else []
    order = [p for p in players if p != viewer] + [p for p in players if p == viewer]
    for p in order:
        lines += _hand_lines(view, s, p, viewer)
    return lines


def _meld_markup(view, s, side, m):
    """Return a meld such as "K K K 2", and a canasta as "[K canasta: 6 + 1]"."""
    naturals, jokers, twos = int(s.naturals[side, m]), int(s.jokers[side, m]), int(s.twos[side, m])
    label = "3" if m == BLACK_MELD else MELD_LABELS[m]
    if meld_size(s, side, m) >= CANASTA_SIZE:
        colour = "green" if m == WILD_MELD else "yellow" if jokers + twos else "red"
        parts = f"{naturals} + {jokers + twos}" if naturals and jokers + twos else str(naturals or jokers + twos)
        return f"[{colour}]{label} canasta, {parts} cards[/{colour}]"
    wild = "[magenta]{}[/magenta]"
    return " ".join([label] * naturals + [wild.format("2")] * twos + [wild.format("JK")] * jokers)


def _hand_lines(view, s, player, viewer):
    shown = s.hands[player] if sees(viewer, player) else s.known[player]
    faces = sorted((f for f in range(NUM_FACES) for _ in range(int(shown[f]))), key=lambda f: (KIND_OF[f], f))
    hidden = int(s.hand_sizes[player]) - len(faces)
    cards = [view.token_markup(face) for face in faces]
    if hidden:
        cards.append(f"[dim]{hidden} face down[/dim]")
    pointer = "▶" if s.current_player == player and not s.terminal else " "
    dealer = " (dealer)" if s.dealer == player else ""
    return wrapped(cards or ["-"], f"  {pointer} player_{player}{dealer}  ", " ")


def wrapped(parts, head, separator):
    """Return parts joined on lines of at most _WIDTH columns; the first line begins with `head`."""
    lines, line, width = [], head, len(plain(head))
    indent = " " * width
    for k, part in enumerate(parts):
        gap = "" if line in (head, indent) else separator
        if gap and width + len(gap) + len(plain(part)) > _WIDTH:
            lines.append(line + separator.rstrip() if separator == ", " else line)
            line, width, gap = indent, len(indent), ""
        line += gap + part
        width += len(gap) + len(plain(part))
        if k == len(parts) - 1:
            lines.append(line)
    return lines
