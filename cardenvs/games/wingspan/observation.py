"""Observations: named sections, and the kernel that writes them.

The sections about the decision, the middle of the table and the observer's secrets come first, then a block for each
seat, starting with the observer. A bird in the tray, a draft or on a mat is shown by what is printed on it
(`birds="attributes"`), or by its number plus 1 (`"ids"`), 0 being no bird. Hands have one entry for each bird in
both forms, as actions name birds.
"""

import functools

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.observation import Layout, Section
from cardenvs.core.seats import wrap
from cardenvs.games.wingspan import cards, stack, state
from cardenvs.games.wingspan.hands import bird_in_hand
from cardenvs.games.wingspan.memory import batch_known_to
from cardenvs.games.wingspan.powers import BIRD_HANDLER, BIRD_PARAMS, HANDLER_PARAMS, HANDLERS
from cardenvs.games.wingspan.scoring import goal_count
from cardenvs.kits.cards import count_bits, lowest_card

# ---------------------------------------------------------------------------------------------------------------
# Attributes: what is printed on a bird, as a row of numbers

_MOST = 255  # upper bound of counts that have no limit: food, tokens, cards


def _power_attributes(bird: int) -> dict[str, int]:
    """Return the attributes for the params of a power: foods, a habitat, a nest, the first number, the variant."""
    found: dict[str, int] = {}
    for name, value in zip(HANDLER_PARAMS[HANDLERS[BIRD_HANDLER[bird]]], BIRD_PARAMS[bird].tolist(), strict=False):
        if name in ("food", "foods"):
            bits = 1 << value if name == "food" else value
            found |= {f"power_food_{food}": bits >> f & 1 for f, food in enumerate(cards.FOODS)}
        elif name == "habitat":
            if value < cards.NUM_HABITATS:
                found[f"power_habitat_{cards.HABITATS[value]}"] = 1
        elif name == "nest":
            found[f"power_nest_{cards.NESTS[value]}"] = 1
        elif name in ("amount", "draw", "tuck", "under_cm"):
            found.setdefault("power_number", value)
        else:
            found.setdefault("power_option", value)
    return found


def _attributes() -> dict[str, np.ndarray]:
    """Return the attributes by name, each with an entry per bird."""
    powers = [_power_attributes(bird) for bird in range(cards.NUM_BIRDS)]
    of_powers = (
        *(f"power_food_{name}" for name in cards.FOODS),
        *(f"power_habitat_{name}" for name in cards.HABITATS),
        *(f"power_nest_{name}" for name in cards.NESTS[cards.BOWL : cards.STAR]),
        "power_number",
        "power_option",
    )
    return {
        **{f"habitat_{name}": cards.BIRD_HABITATS >> h & 1 for h, name in enumerate(cards.HABITATS)},
        **{f"cost_{name}": cards.BIRD_COST[:, f] for f, name in enumerate((*cards.FOODS, "wild"))},
        "cost_or": cards.BIRD_COST_OR,
        "points": cards.BIRD_POINTS,
        "egg_limit": cards.BIRD_EGG_LIMIT,
        "wingspan": cards.BIRD_WINGSPAN,
        **{f"nest_{name}": k == cards.BIRD_NEST for k, name in enumerate(cards.NESTS) if k != cards.NO_NEST},
        **{f"colour_{name}": k == cards.BIRD_COLOUR for k, name in enumerate(cards.COLOURS) if k != cards.NO_COLOUR},
        "predator": cards.BIRD_PREDATOR,
        "flocking": cards.BIRD_FLOCKING,
        **{f"power_{name}": k == BIRD_HANDLER for k, name in enumerate(HANDLERS)},
        **{name: np.array([found.get(name, 0) for found in powers]) for name in of_powers},
    }


ATTRIBUTES = tuple(_attributes())
NUM_ATTRIBUTES = len(ATTRIBUTES)
BIRD_ATTRIBUTES = np.column_stack(tuple(_attributes().values())).astype(np.int16)
"""Attributes of each bird, int16 (170, NUM_ATTRIBUTES), columns as in `ATTRIBUTES`."""
_MOST_OF_ATTRIBUTE = int(BIRD_ATTRIBUTES.max())

# ---------------------------------------------------------------------------------------------------------------
# The sections

_WHERE = "for each bird known to be {}, 1 + the seat of the player, the observer being seat 0"
_SLOTS = tuple(state.slot_name(slot) for slot in range(state.MAT_SLOTS))


def _birds(name: str, number: int, doc: str, ids: bool) -> Section:
    """Return a section of places for birds, each an id or the attributes."""
    if ids:
        return Section(name, number, f"{doc}: number of the bird plus 1, or 0", high=cards.NUM_BIRDS)
    labels = tuple(f"{place + 1}.{attribute}" for place in range(number) for attribute in ATTRIBUTES)
    size = number * NUM_ATTRIBUTES
    return Section(name, size, f"{doc}: what is printed, wingspans in cm", high=_MOST_OF_ATTRIBUTE, labels=labels)


def _named(name: str, labels: tuple[str, ...], doc: str, high: int = 1) -> Section:
    """Return a section with an entry for each of some names."""
    return Section(name, len(labels), doc, high=high, labels=labels)


def _common(ids: bool) -> tuple[Section, ...]:
    return (
        _named("decision", stack.DECISION_NAMES, "one-hot kind of the pending decision"),
        Section("to_act", 1, "1 if the observer is to act"),
        _named("decision_slot", _SLOTS, "one-hot slot of the bird whose power is being used"),
        Section("decision_number", 1, "dice, eggs or cards left to take, or worth left to pay", high=_MOST),
        _named("paid", cards.FOODS, "food paid so far for the bird being played", high=6),
        _named("paid_for", cards.BIRD_NAMES, "one-hot bird being paid for"),
        Section("round", cards.NUM_ROUNDS, "one-hot round; zeros in the setup"),
        Section("blue_goals", 1, "1 if goals score per item, 0 if by rank"),
        _named("goals", cards.GOAL_NAMES * cards.NUM_ROUNDS, "one-hot goal of each round"),
        _named("feeder", state.FACES, "dice of each face in the birdfeeder", high=cards.NUM_DICE),
        _named("outside", state.FACES, "dice of each face outside", high=cards.NUM_DICE),
        Section("decks", 3, "birds in deck, in discards, bonus cards in deck", high=_MOST),
        _named("discards", cards.BIRD_NAMES, "1 for each bird known to be discarded"),
        _named("tucked_birds", cards.BIRD_NAMES, _WHERE.format("tucked"), high=cards.MAX_PLAYERS),
        _named("hand_or_tucked", cards.BIRD_NAMES, _WHERE.format("in hand or tucked"), high=cards.MAX_PLAYERS),
        _named("reshuffled", cards.BIRD_NAMES, "1 for each bird known to be in the deck, or drawn since"),
        _named("bonus", cards.BONUS_NAMES, "1 for each own bonus card"),
        _named("bonus_offer", cards.BONUS_NAMES, "1 for each bonus card just drawn, of which one is kept"),
        _named("bonus_seen", cards.BONUS_NAMES, "1 for each bonus card that the observer did not keep"),
        _named("bonus_reshuffled", cards.BONUS_NAMES, "1 for each of those that has been reshuffled"),
        _named("setup_bonus", cards.BONUS_NAMES, "one-hot bonus card to be kept, once chosen"),
        _named("setup_dropped", cards.BIRD_NAMES, "1 for each dealt bird that will not be kept"),
        _named("setup_paid", cards.FOODS, "food that will be paid for the birds kept"),
        _birds("tray", cards.TRAY_SIZE, "the tray", ids),
        _birds("draft", state.DRAFT_SIZE, "birds turned up for a draft", ids),
    )


def _seat(seat: int, ids: bool) -> tuple[Section, ...]:
    who = "own" if seat == 0 else f"seat_{seat}"
    what = "own hand" if seat == 0 else "birds known to be in that hand"
    return (
        _named(f"{who}_hand", cards.BIRD_NAMES, f"1 for each of {what}"),
        _named(f"{who}_eggs", _SLOTS, "eggs by slot", high=6),
        _named(f"{who}_cached", _SLOTS, "cached food by slot", high=_MOST),
        _named(f"{who}_tucked", _SLOTS, "tucked cards by slot", high=_MOST),
        _named(f"{who}_pink_used", _SLOTS, "1 for each pink power used since that player's turn"),
        _named(f"{who}_food", cards.FOODS, f"supply, clipped at {_MOST}", high=_MOST),
        Section(f"{who}_goal_points", cards.NUM_ROUNDS, "points for the goals so far", high=_MOST),
        _named(
            f"{who}_numbers",
            _NUMBERS,
            "cards in hand, bonus cards, turns left in the round, discards owed, count for the goal of the round",
            high=_MOST,
        ),
        _named(f"{who}_marks", _MARKS, "1 each if in the game, first player, taking the turn, about to decide"),
        _birds(f"{who}_birds", state.MAT_SLOTS, "the mat", ids),
    )


_NUMBERS = ("hand", "bonus_cards", "turns_left", "discards_owed", "goal_count")
_MARKS = ("active", "first_player", "turn", "to_act")
# Sections of birds come last, so that only their width depends on how birds are shown.
_COMMON, _SEAT = Layout(_common(ids=True), "int16"), Layout(_seat(0, ids=True), "int16")
(
    _DECISION, _TO_ACT, _DECISION_SLOT, _DECISION_NUMBER, _PAID, _PAID_FOR, _ROUND, _BLUE, _GOALS, _FEEDER, _OUTSIDE,
    _DECKS, _DISCARDS, _TUCKED_BIRDS, _EITHER, _RESHUFFLED, _BONUS, _OFFER, _SEEN, _BONUS_RESHUFFLED, _SETUP_BONUS,
    _DROPPED, _SETUP_PAID, _TRAY, _,
) = _COMMON.starts  # fmt: skip
_HAND, _EGGS, _CACHED, _TUCKED, _PINK_USED, _FOOD, _GOAL_POINTS, _SEAT_NUMBERS, _SEAT_MARKS, _BIRDS = _SEAT.starts


@functools.cache
def _layout(num_players: int, ids: bool) -> Layout:
    sections = [*_common(ids)]
    for seat in range(num_players):
        sections += _seat(seat, ids)
    return Layout(sections, "int16")


def layout(options: state.WingspanOptions) -> Layout:
    """Return the sections of an observation, int16."""
    return _layout(options.num_players, options.birds == "ids")


# ---------------------------------------------------------------------------------------------------------------
# Writing observations


@kernel
def observe(s, player, out):
    """Write the observation of `player` into `out`, int16 (layout.size,): own cards, cards seen, public information."""
    out[:] = 0
    width = 1 if s.rules.birds == state.IDS else NUM_ATTRIBUTES
    _observe_decision(s, player, out)
    _observe_middle(s, out)
    _observe_bonuses(s, player, out)
    start = np.int64(_TRAY)
    for k in range(cards.TRAY_SIZE):
        _show_bird(s.tray[k], width, start, out)
        start += width
    for k in range(state.DRAFT_SIZE):
        _show_bird(s.draft[k], width, start, out)
        start += width
    seat_size = _BIRDS + state.MAT_SLOTS * width
    n = np.int64(s.rules.num_players)
    _observe_cards(s, player, n, start, seat_size, out)
    for seat in range(n):
        _observe_seat(s, wrap(player + seat, n), width, start, out)
        start += seat_size


@kernel
def _show_bird(bird, width, start, out):
    """Write a bird, or zeros for none, to `width` entries from `start`."""
    if width == 1:
        out[start] = bird + 1
    elif bird != state.NO_BIRD:
        row, first = np.uint64(bird), np.uint64(start)  # unsigned indices skip the handling of negative ones
        for k in range(NUM_ATTRIBUTES):
            out[first + np.uint64(k)] = BIRD_ATTRIBUTES[row, np.uint64(k)]


@kernel
def _observe_decision(s, player, out):
    """Write the pending decision; of another player's setup, only that it is going on."""
    if s.round_number < 0:
        for food in range(cards.NUM_FOODS):
            out[_SETUP_PAID + food] = s.setup_paid[player, food]
        for k in range(cards.BIRDS_DEALT):
            if s.setup_dropped[player] >> k & 1:
                out[_DROPPED + bird_in_hand(s, player, k)] = 1
        if s.current_player > player:
            bonuses = np.int64(s.bonus_hands[player])
            out[_SETUP_BONUS + lowest_card(bonuses if s.setup_bonus[player] == 0 else bonuses & bonuses - 1)] = 1
    if s.terminal:
        return
    op, who, slot, number, _, _ = stack.top(s)
    if s.round_number < 0 and who != player:
        out[_DECISION + stack.SETUP_BIRDS] = 1
        return
    out[_DECISION + op] = 1
    out[_TO_ACT] = who == player
    if slot >= 0 and op != stack.REACT:
        out[_DECISION_SLOT + slot] = 1
    if stack.TAKES_SEVERAL[op] or op == stack.PAY_DEBT:
        out[_DECISION_NUMBER] = number
    if op == stack.PAY_COST:
        out[_PAID_FOR + s.payment] = 1
        for food in range(cards.NUM_FOODS):
            out[_PAID + food] = s.paid[food]


@kernel
def _observe_middle(s, out):
    """Write round, goals, dice and decks."""
    if s.round_number >= 0:
        out[_ROUND + s.round_number] = 1
    out[_BLUE] = s.rules.goals == state.BLUE
    for k in range(cards.NUM_ROUNDS):
        out[_GOALS + cards.NUM_GOALS * k + s.goals[k]] = 1
    for face in range(cards.NUM_FACES):
        out[_FEEDER + face] = s.feeder[face]
        out[_OUTSIDE + face] = s.outside[face]
    out[_DECKS] = s.num_deck
    out[_DECKS + 1] = s.num_discards
    out[_DECKS + 2] = s.num_bonus_deck


@kernel
def _observe_bonuses(s, player, out):
    """Write the observer's bonus cards, and those that the observer saw and did not keep."""
    for card in range(cards.NUM_BONUSES):
        if s.bonus_known[card] >> player & 1:
            if s.bonus_hands[player] >> card & 1:
                out[_BONUS + card] = 1
                out[_OFFER + card] = s.bonus_offer >> card & 1
            elif s.bonus_place[card] == state.IN_BONUS_DISCARDS:
                out[_SEEN + card] = 1
        elif s.bonus_batch[card] > 0 and batch_known_to(np.int64(s.bonus_batch[card]), player) > 0:
            out[_SEEN + card] = 1
            out[_BONUS_RESHUFFLED + card] = 1


@kernel
def _observe_cards(s, player, n, first_seat, seat_size, out):
    """Write the birds that the observer knows in hands, tucked and on the discard pile."""
    for seat in range(n):
        p = wrap(player + seat, n)
        _observe_hand(s, player, p, first_seat + seat_size * seat + _HAND, out)
    # Loops over all birds have no branches, so that the compiler vectorizes them.
    for bird in range(cards.NUM_BIRDS):
        place, knows = np.int64(s.place[bird]), s.known[bird] >> player & 1
        out[_DISCARDS + bird] = knows & (place == state.IN_DISCARDS)
        out[_TUCKED_BIRDS + bird] = (knows & (place >= state.IN_TUCKED)) * _one_and_seat(
            place - state.IN_TUCKED - player, n
        )
    has_traces = s.num_shuffles > 0
    for p in range(n):
        has_traces |= s.num_tucks[p] > 0
    if has_traces:
        _observe_traces(s, player, n, out)


@kernel
def _observe_hand(s, player, p, start, out):
    """Write the birds that the observer knows to be in the hand of player p."""
    for w in range(state.NUM_WORDS):  # faster than next_in_hand
        bits = s.hands[p, w]
        while bits:
            bird = w * state.WORD_BITS + lowest_card(bits)
            out[start + bird] = s.known[bird] >> player & 1
            bits &= bits - 1


@kernel
def _observe_traces(s, player, n, out):
    """Write what the observer knows of hidden birds: held or tucked by a certain player, or reshuffled."""
    for bird in range(cards.NUM_BIRDS):
        place, is_hidden = np.int64(s.place[bird]), ~s.known[bird] >> player & 1
        is_taken = is_hidden & (s.taken[bird] > 0)
        owner = place - (state.IN_TUCKED if place >= state.IN_TUCKED else state.IN_HAND)
        out[_EITHER + bird] = is_taken * _one_and_seat(owner - player, n)
        batch = batch_known_to(np.int64(s.batch[bird]), player)
        out[_RESHUFFLED + bird] = is_hidden & (batch > 0) & (s.taken[bird] == 0)


@kernel(inline=True)
def _one_and_seat(distance, n):
    """Return 1 + the seat of a player, from that player's number minus the observer's, -n + 1..n - 1."""
    return 1 + distance + (n if distance < 0 else 0)


@kernel
def _observe_seat(s, p, width, start, out):
    """Write the block of a seat: public information about player p."""
    for slot in range(state.MAT_SLOTS):
        if s.birds[p, slot] == state.NO_BIRD:
            continue
        _show_bird(s.birds[p, slot], width, start + _BIRDS + width * slot, out)
        out[start + _EGGS + slot] = s.eggs[p, slot]
        out[start + _CACHED + slot] = s.cached[p, slot]
        out[start + _TUCKED + slot] = s.tucked[p, slot]
        out[start + _PINK_USED + slot] = s.pink_used[p] >> slot & 1
    for food in range(cards.NUM_FOODS):
        out[start + _FOOD + food] = min(s.food[p, food], _MOST)
    for k in range(cards.NUM_ROUNDS):
        out[start + _GOAL_POINTS + k] = s.goal_points[k, p]
    numbers = start + _SEAT_NUMBERS
    out[numbers] = s.hand_size[p]
    out[numbers + 1] = count_bits(np.int64(s.bonus_hands[p]))
    out[numbers + 2] = s.turns_left[p]
    out[numbers + 3] = s.debts[p]
    marks = start + _SEAT_MARKS
    out[marks] = s.active[p]
    out[marks + 3] = s.current_player == p
    if s.round_number >= 0:
        out[numbers + 4] = goal_count(s, p, np.int64(s.goals[s.round_number]))
        out[marks + 1] = s.first_player == p
        out[marks + 2] = s.turn_player == p
