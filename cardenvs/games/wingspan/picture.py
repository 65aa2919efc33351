"""The table of Wingspan as a picture for terminals, as rich markup: goals, birdfeeder and tray, then the mats."""

import textwrap

from cardenvs.games.wingspan import scoring
from cardenvs.games.wingspan.cards import (
    BIRD_COLOUR,
    BIRD_EGG_LIMIT,
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
    NESTS,
    NUM_BIRDS,
    NUM_FACES,
    NUM_ROUNDS,
    NUM_SLOTS,
)
from cardenvs.games.wingspan.known import birds_in_hand_or_tucked, known_birds, known_bonuses, knows_bonuses
from cardenvs.games.wingspan.state import BLUE, IN_BONUS_HAND, IN_HAND, NO_BIRD, TOKEN_NAMES
from cardenvs.games.wingspan.texts import bonus_text, cost_text, habitats_text, power_text

_WIDTH = 20  # of a slot
_LINE = 116  # of everything
_LABEL = 10  # of a row's name
_HABITAT_COLOURS = ("green", "yellow", "cyan")
_FOOD_COLOURS = ("green", "yellow", "red", "blue", "magenta")
_POWER_COLOURS = ("", "", "yellow", "magenta")
_POWER_MARKS = (" ", " ", "»", "↔")  # a white power has had its moment
_NESTS = ("", "bowl", "cav", "grnd", "plat", "star")
_PARTS = ("birds", "bonus", "goals", "eggs", "cached", "tucked")
_LEGEND = "» brown power  ↔ pink power  p points  ● egg  ○ room for an egg  f cached food  t tucked cards"
_ACTIONS = (("die", "dice", FOOD_GAINED), ("egg", "eggs", EGGS_LAID), ("card", "cards", CARDS_DRAWN))


def token(number):
    """A card or goal by its name."""
    return f"[bold]{TOKEN_NAMES[number]}[/bold]" if number < NUM_BIRDS else TOKEN_NAMES[number]


def render(s, viewer):
    """The table as `viewer` sees it; the viewer's own mat comes last."""
    bottom = max(viewer, 0)
    n = int(s.rules.num_players)
    lines = [_headline(s), *_goal_lines(s), _feeder_line(s), *_tray_lines(s), *_draft_lines(s)]
    for seat in range(1, n + 1):
        lines += ["", *_mat(s, (bottom + seat) % n, viewer)]
    lines.append(f"[dim]{_LEGEND}[/dim]")
    return "\n".join(line.rstrip() for line in lines)


# ---------------------------------------------------------------------------------------------------------------
# The middle of the table


def _headline(s):
    when = "the game is over" if s.terminal else f"round {s.round_number + 1} of {NUM_ROUNDS}"
    if s.round_number < 0:
        when = "setup: which birds and which bonus card to keep"
    return f"[bold]Wingspan[/bold], {when}"


def _goal_lines(s):
    """The goals; of those scored, the points, and of the current one, what everybody counts."""
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
    lines[0] += f"   [dim]{'blue: a point each, up to 5' if s.rules.goals == BLUE else 'green: by rank'}[/dim]"
    return lines


def _feeder_line(s):
    dice = [_face(face) for face in range(NUM_FACES) for _ in range(int(s.feeder[face]))]
    outside = [_face(face) for face in range(NUM_FACES) for _ in range(int(s.outside[face]))]
    line = f"  birdfeeder  {'  '.join(dice) or '-'}"
    return f"{line}    [dim]outside  {'  '.join(outside)}[/dim]" if outside else line


def _face(face):
    if face == DUAL_FACE:
        return f"{_food(0)}/{_food(1)}"
    return _food(face)


def _food(food):
    return f"[{_FOOD_COLOURS[food]}]{FOODS[food]}[/{_FOOD_COLOURS[food]}]"


def _tray_lines(s):
    cards = [int(bird) for bird in s.tray if bird != NO_BIRD]
    title = f"  tray [dim]({len(cards)} cards; in the deck {s.num_deck}, discarded {s.num_discards})[/dim]"
    return [title, *(line for bird in cards for line in _card(bird))]


def _draft_lines(s):
    cards = [int(bird) for bird in s.draft if bird != NO_BIRD]
    return ["  turned up", *(line for bird in cards for line in _card(bird))] if cards else []


def _card(bird):
    """A card outside the mats: what is printed on it, the power in a line of its own where it is too long."""
    name = f"    [bold]{BIRD_NAMES[bird]}[/bold]"
    nest = f"{NESTS[BIRD_NEST[bird]]} {'○' * int(BIRD_EGG_LIMIT[bird])}" if BIRD_NEST[bird] else "no nest"
    facts = f"{cost_text(bird)} · {habitats_text(bird)} · {BIRD_POINTS[bird]}p · {nest} · {BIRD_WINGSPAN[bird]} cm"
    power = power_text(bird)
    if len(BIRD_NAMES[bird]) + len(facts) + len(power) + 9 <= _LINE:
        return [f"{name}  {facts} · [dim]{power}[/dim]"]
    return [f"{name}  {facts}", *(f"      [dim]{line}[/dim]" for line in textwrap.wrap(power, _LINE - 6))]


# ---------------------------------------------------------------------------------------------------------------
# A player


def _mat(s, player, viewer):
    lines = [_name_line(s, player, viewer), _supply_line(s, player)]
    bar = "─" * _WIDTH
    lines.append(" " * _LABEL + "┌" + "┬".join([bar] * NUM_SLOTS) + "┐")
    for h in range(len(HABITATS)):
        slots = [_slot(s, player, NUM_SLOTS * h + column) for column in range(NUM_SLOTS)]
        names = [f"[{_HABITAT_COLOURS[h]}]{HABITATS[h]:<{_LABEL}}[/{_HABITAT_COLOURS[h]}]"]
        names.append(f"[dim]{_offer(s, player, h):<{_LABEL}}[/dim]")
        for line in range(2):
            lines.append(names[line] + "│" + "│".join(slot[line] for slot in slots) + "│")
        edge = "├┼┤" if h < len(HABITATS) - 1 else "└┴┘"
        lines.append(" " * _LABEL + edge[0] + edge[1].join([bar] * NUM_SLOTS) + edge[2])
    return lines + _cards_lines(s, player, viewer)


def _name_line(s, player, viewer):
    marks = []
    if s.round_number >= 0 and not s.terminal:
        marks.append(f"{s.turns_left[player]} turns left")
        if s.first_player == player:
            marks.append("first player")
    if not s.active[player]:
        marks.append("has left")
    if s.debts[player]:
        marks.append(f"owes {s.debts[player]} discards")
    if s.terminal:
        marks.append(f"{s.scores[player]} points" + (f", place {s.standing[player]}" if s.standing[player] else ""))
    marks.append(_parts(s, player, viewer))
    pointer = "▶" if s.current_player == player else " "
    return f"{pointer} [bold]player_{player}[/bold]  {'  '.join(filter(None, marks))}"


def _parts(s, player, viewer):
    """What `viewer` can see of a score: birds 12, eggs 5, ..."""
    parts = [
        f"{name} {scoring.score_part(s, player, k)}"
        for k, name in enumerate(_PARTS)
        if k != scoring.BONUSES or knows_bonuses(s, player, viewer)
    ]
    return f"[dim]{', '.join(parts)}[/dim]"


def _supply_line(s, player):
    food = [f"{s.food[player, k]} {_food(k)}" for k in range(len(FOODS)) if s.food[player, k]]
    held = int(s.bonus_hands[player]).bit_count()
    return f"  food: {'  '.join(food) or '-'}    hand: {s.hand_size[player]}    bonus cards: {held}"


def _offer(s, player, habitat):
    """What the action of a row gives now."""
    one, many, table = _ACTIONS[habitat]
    number = int(s.row_size[player, habitat])
    amount = int(table[number])
    return f"{amount} {one if amount == 1 else many}{'+1' if HAS_TRADE[number] else ''}"


def _slot(s, player, slot):
    """Two lines of one slot: the bird's name in the colour of its power, and what is on it."""
    habitat, column = divmod(slot, NUM_SLOTS)
    bird = int(s.birds[player, slot])
    if bird == NO_BIRD:
        is_next = column == s.row_size[player, habitat]
        cost = f" next: {EGG_COST[column]} egg{'' if EGG_COST[column] == 1 else 's'}" if is_next else ""
        return _fit(cost, "dim"), " " * _WIDTH
    exhausted = int(s.pink_used[player]) >> slot & 1
    colour = "dim" if exhausted else _POWER_COLOURS[BIRD_COLOUR[bird]]
    mark = "·" if exhausted else _POWER_MARKS[BIRD_COLOUR[bird]]
    return _fit(f"{mark}{BIRD_NAMES[bird]}", colour), _things(s, player, slot, bird)


def _things(s, player, slot, bird):
    """Such as "5p bowl ●●○ 1f 2t"; eggs as figures where there is no room."""
    eggs, limit = int(s.eggs[player, slot]), int(BIRD_EGG_LIMIT[bird])
    told = [f" {BIRD_POINTS[bird]}p", _NESTS[BIRD_NEST[bird]], "●" * eggs + "○" * (limit - eggs)]
    if s.cached[player, slot]:
        told.append(f"{s.cached[player, slot]}f")
    if s.tucked[player, slot]:
        told.append(f"{s.tucked[player, slot]}t")
    if len(" ".join(filter(None, told))) > _WIDTH:
        told[2] = f"●{eggs}/{limit}"
    return _fit(" ".join(filter(None, told)), "")


def _fit(text, colour):
    """Text cut or filled to the width of a slot."""
    text = text if len(text) <= _WIDTH else text[: _WIDTH - 1] + "…"
    text = f"{text:<{_WIDTH}}"
    return f"[{colour}]{text}[/{colour}]" if colour else text


def _cards_lines(s, player, viewer):
    """What the viewer knows of a player's hand and bonus cards."""
    birds = known_birds(s, IN_HAND + player, viewer)
    label = "hand" if len(birds) == s.hand_size[player] else "known"
    if label == "hand":
        lines = ["  hand", *(line for bird in birds for line in _card(bird))] if birds else []
    else:
        lines = textwrap.wrap(
            ", ".join(BIRD_NAMES[bird] for bird in birds),
            _LINE,
            initial_indent="  known in hand: ",
            subsequent_indent=" " * 17,
        )
    either = ", ".join(BIRD_NAMES[bird] for bird in birds_in_hand_or_tucked(s, player, viewer))
    if either:
        lines += textwrap.wrap(either, _LINE, initial_indent="  in hand or tucked: ", subsequent_indent=" " * 21)
    for card in known_bonuses(s, IN_BONUS_HAND + player, viewer):
        points = scoring.bonus_points(card, scoring.bonus_count(s, player, card))
        lines += textwrap.wrap(f"  bonus card  {bonus_text(card)} (now {points})", _LINE, subsequent_indent=" " * 14)
    return lines
