"""The table as a picture for terminals of 80 columns, in rich markup: goals, birdfeeder and tray, then the mats."""

import textwrap

from cardenvs.core.text import count
from cardenvs.games.wingspan import scoring
from cardenvs.games.wingspan.cards import (
    BIRD_COLOUR,
    BIRD_EGG_LIMIT,
    BIRD_HABITATS,
    BIRD_NAMES,
    BIRD_NEST,
    BIRD_POINTS,
    BIRD_WINGSPAN,
    CARDS_DRAWN,
    DUAL_FACE,
    EGG_COST,
    EGGS_LAID,
    FOOD_GAINED,
    FOODS,
    GOAL_NAMES,
    HABITATS,
    HAS_TRADE,
    INVERTEBRATE,
    NESTS,
    NUM_BIRDS,
    NUM_FACES,
    NUM_HABITATS,
    NUM_ROUNDS,
    NUM_SLOTS,
    SEED,
)
from cardenvs.games.wingspan.known import birds_in_hand_or_tucked, known_birds, known_bonuses, knows_bonuses
from cardenvs.games.wingspan.state import BLUE, IN_BONUS_HAND, IN_HAND, NO_BIRD, TOKEN_NAMES
from cardenvs.games.wingspan.texts import bonus_text, cost_text, power_text

_LINE = 76  # what an 80-column terminal leaves inside a frame
_GLUE = "\N{NO-BREAK SPACE}"  # keeps a fact on one line
_WIDTH = 14  # of a slot: five of them and six bars fill a line
_HABITAT_COLOURS = ("green", "yellow", "cyan")
_FOOD_COLOURS = ("green", "yellow", "red", "blue", "magenta")
_POWER_COLOURS = ("", "", "yellow", "magenta")
_POWER_MARKS = (" ", " ", "»", "↔")  # a white power has had its moment
_NESTS = ("", "bowl", "cav", "grnd", "plat", "star")
_PARTS = ("birds", "bonus", "goals", "eggs", "cached", "tucked")
_LEGEND = "» brown power  ↔ pink power  p points  ● egg  ○ room  f cached  t tucked"
_ACTIONS = (("die", "dice", FOOD_GAINED), ("egg", "eggs", EGGS_LAID), ("card", "cards", CARDS_DRAWN))


def token(number):
    """Return the name of a card or goal as rich markup."""
    return f"[bold]{TOKEN_NAMES[number]}[/bold]" if number < NUM_BIRDS else TOKEN_NAMES[number]


def render(s, viewer):
    """Return the table as `viewer` sees it, in lines of at most 76 characters; the viewer's own mat comes last."""
    bottom = max(viewer, 0)
    n = int(s.rules.num_players)
    lines = [_headline(s), *_goal_lines(s), *_dice_lines(s), *_tray_lines(s), *_draft_lines(s)]
    for seat in range(1, n + 1):
        lines += ["", *_mat(s, (bottom + seat) % n, viewer)]
    lines.append(f"[dim]{_LEGEND}[/dim]")
    return "\n".join(line.rstrip() for line in lines)


# ---------------------------------------------------------------------------------------------------------------
# The middle of the table


def _headline(s):
    when = "the game is over" if s.terminal else f"round {s.round_number + 1} of {NUM_ROUNDS}"
    if s.round_number < 0:
        when = "setup"
    side = "blue goals: a point each, up to 5" if s.rules.goals == BLUE else "green goals: points by rank"
    return f"[bold]Wingspan[/bold], {when}    [dim]{side}[/dim]"


def _goal_lines(s):
    """Return a line for each goal, with the points if it has been scored, or the counts if it is the current one."""
    lines = []
    for k in range(NUM_ROUNDS):
        goal = int(s.goals[k])
        name = f"{k + 1}  {GOAL_NAMES[goal]:<30}"
        players = range(int(s.rules.num_players))
        if k < s.round_number or s.terminal:
            totals = "points " + "  ".join(str(s.goal_points[k, p]) for p in players)
            lines.append(f"  goal {name} [dim]{totals}[/dim]")
        elif k == s.round_number:
            counts = "count " + "  ".join(str(scoring.goal_count(s, p, goal)) for p in players)
            lines.append(f"▶ goal [bold]{name}[/bold] {counts}")
        else:
            lines.append(f"  goal {name}")
    return lines


def _dice_lines(s):
    lines = [f"  birdfeeder  {_dice(s.feeder)}"]
    if s.outside.any():
        lines.append(f"  [dim]outside[/dim]     {_dice(s.outside)}")
    return lines


def _dice(faces):
    """Return dice by face, such as "2 seed  1 fish"."""
    return "  ".join(f"{faces[face]} {_face(face)}" for face in range(NUM_FACES) if faces[face]) or "-"


def _face(face):
    return f"{_food(INVERTEBRATE)}/{_food(SEED)}" if face == DUAL_FACE else _food(face)


def _food(food):
    return f"[{_FOOD_COLOURS[food]}]{FOODS[food]}[/{_FOOD_COLOURS[food]}]"


def _tray_lines(s):
    cards = [int(bird) for bird in s.tray if bird != NO_BIRD]
    title = f"  tray [dim](bird deck: {count(int(s.num_deck), 'card')}, discard pile: {s.num_discards})[/dim]"
    return [title, *(line for bird in cards for line in _card(bird))]


def _draft_lines(s):
    cards = [int(bird) for bird in s.draft if bird != NO_BIRD]
    return ["  turned up", *(line for bird in cards for line in _card(bird))] if cards else []


def _card(bird):
    """Return the lines of a card that is not on a mat: name, what is printed on it, and its power."""
    name = BIRD_NAMES[bird]
    nest = f"{NESTS[BIRD_NEST[bird]]} {'○' * int(BIRD_EGG_LIMIT[bird])}" if BIRD_NEST[bird] else "no nest"
    habitats = "/".join(habitat for h, habitat in enumerate(HABITATS) if BIRD_HABITATS[bird] >> h & 1)
    facts = [f"{name}  {cost_text(bird)}", habitats, f"{BIRD_POINTS[bird]}p", nest, f"{BIRD_WINGSPAN[bird]} cm"]
    glued = f"{_GLUE}· ".join(fact.replace(" ", _GLUE) for fact in facts)
    first, *rest = [line.replace(_GLUE, " ") for line in _wrapped("    ", glued, indent=6)]
    power = _wrapped(" " * 6, power_text(bird))
    return [first.replace(name, f"[bold]{name}[/bold]", 1), *rest, *(f"[dim]{line}[/dim]" for line in power)]


# ---------------------------------------------------------------------------------------------------------------
# A player


def _mat(s, player, viewer):
    lines = [*_name_lines(s, player), f"  [dim]{_parts(s, player, viewer)}[/dim]", _supply_line(s, player)]
    for h in range(NUM_HABITATS):
        slots = [_slot(s, player, NUM_SLOTS * h + column) for column in range(NUM_SLOTS)]
        lines.append(_row_title(s, player, h))
        for k in range(max(map(len, slots))):
            lines.append("│" + "│".join(slot[k] if k < len(slot) else " " * _WIDTH for slot in slots) + "│")
    return [*lines, _edge("└┴┘"), *_cards_lines(s, player, viewer)]


def _edge(corners):
    left, middle, right = corners
    return left + middle.join(["─" * _WIDTH] * NUM_SLOTS) + right


def _row_title(s, player, habitat):
    """Return the line above a row, with the habitat and what its action gives now."""
    one, many, table = _ACTIONS[habitat]
    number = int(s.row_size[player, habitat])
    amount = int(table[number])
    name = HABITATS[habitat]
    gives = f": {amount} {one if amount == 1 else many}{' + trade' if HAS_TRADE[number] else ''} "
    edge = _edge("┌┬┐" if habitat == 0 else "├┼┤")
    end = 3 + len(name + gives)
    return f"{edge[:2]} [{_HABITAT_COLOURS[habitat]}]{name}[/{_HABITAT_COLOURS[habitat]}]{gives}{edge[end:]}"


def _name_lines(s, player):
    marks = [f"{s.hand_size[player]} in hand", count(int(s.bonus_hands[player]).bit_count(), "bonus card")]
    if s.round_number >= 0 and not s.terminal:
        marks.append(f"{count(int(s.turns_left[player]), 'turn')} left")
        if s.first_player == player:
            marks.append("first player")
    if not s.active[player]:
        marks.append("has left")
    if s.debts[player]:
        marks.append(f"owes {count(int(s.debts[player]), 'discard')}")
    if s.terminal:
        marks.append(count(int(s.scores[player]), "point"))
        if s.standing[player]:
            marks.append(f"place {s.standing[player]}")
    pointer = "▶" if s.current_player == player else " "
    name = f"player_{player}"
    first, *rest = textwrap.wrap(f"{name}  {', '.join(marks)}", _LINE - 2, subsequent_indent="  ")
    return [f"{pointer} {first.replace(name, f'[bold]{name}[/bold]', 1)}", *(f"  {line}" for line in rest)]


def _parts(s, player, viewer):
    """Return the parts of a score that `viewer` can see, such as "points: birds 12, eggs 5"."""
    parts = [
        f"{name} {scoring.score_part(s, player, k)}"
        for k, name in enumerate(_PARTS)
        if k != scoring.BONUSES or knows_bonuses(s, player, viewer)
    ]
    return f"points: {', '.join(parts)}"


def _supply_line(s, player):
    food = [f"{s.food[player, k]} {_food(k)}" for k in range(len(FOODS)) if s.food[player, k]]
    return f"  food: {'  '.join(food) or '-'}"


def _slot(s, player, slot):
    """Return the lines of a slot: the bird's name in the colour of its power, then what is on it."""
    habitat, column = divmod(slot, NUM_SLOTS)
    bird = int(s.birds[player, slot])
    if bird == NO_BIRD:
        is_next = column == s.row_size[player, habitat]
        return [_fit(f" next: {count(int(EGG_COST[column]), 'egg')}" if is_next else "", "dim")]
    is_used = int(s.pink_used[player]) >> slot & 1
    colour = "dim" if is_used else _POWER_COLOURS[BIRD_COLOUR[bird]]
    mark = "·" if is_used else _POWER_MARKS[BIRD_COLOUR[bird]]
    name = textwrap.wrap(mark + BIRD_NAMES[bird], _WIDTH, subsequent_indent=" ")
    return [*(_fit(line, colour) for line in name), *(_fit(line, "") for line in _things(s, player, slot, bird))]


def _things(s, player, slot, bird):
    """Return what a bird is worth and has on it, such as "5p bowl ●●○" and "1f 2t"."""
    eggs, limit = int(s.eggs[player, slot]), int(BIRD_EGG_LIMIT[bird])
    parts = [f"{BIRD_POINTS[bird]}p", _NESTS[BIRD_NEST[bird]], "●" * eggs + "○" * (limit - eggs)]
    lines = [" ".join(filter(None, parts))]
    cached, tucked = int(s.cached[player, slot]), int(s.tucked[player, slot])
    if cached or tucked:
        lines.append(" ".join(f"{number}{unit}" for number, unit in ((cached, "f"), (tucked, "t")) if number))
    return [" " + line if len(line) < _WIDTH else line for line in lines]


def _fit(text, colour):
    """Return text filled to the width of a slot."""
    text = f"{text:<{_WIDTH}}"
    return f"[{colour}]{text}[/{colour}]" if colour else text


def _cards_lines(s, player, viewer):
    """Return what the viewer knows of a player's hand and bonus cards."""
    birds = known_birds(s, IN_HAND + player, viewer)
    if len(birds) == s.hand_size[player]:
        lines = ["  hand", *(line for bird in birds for line in _card(bird))] if birds else []
    else:
        lines = _wrapped("  known in hand: ", ", ".join(BIRD_NAMES[bird] for bird in birds))
    lines += _wrapped(
        "  in hand or tucked: ", ", ".join(BIRD_NAMES[bird] for bird in birds_in_hand_or_tucked(s, player, viewer))
    )
    for card in known_bonuses(s, IN_BONUS_HAND + player, viewer):
        points = scoring.bonus_points(card, scoring.bonus_count(s, player, card))
        lines += _wrapped("  bonus card  ", f"{bonus_text(card)} (now {points})")
    return lines


def _wrapped(label, text, indent=None):
    """Return a text after its label, wrapped and indented (by default to the end of the label); [] if it is empty."""
    indent = len(label) if indent is None else indent
    return textwrap.wrap(text, _LINE, initial_indent=label, subsequent_indent=" " * indent, break_on_hyphens=False)
