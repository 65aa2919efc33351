"""Positions of Pinnacola for tests, and its actions as the moves of the oracle."""

from collections import Counter

import numpy as np
from pinnacola_oracle import STEPS, SUITS, WILDS, Hand, cards_of_game

from cardenvs.core.registry import get_game
from cardenvs.core.state import State
from cardenvs.games.pinnacola import actions
from cardenvs.games.pinnacola.melds import describe, refresh
from cardenvs.games.pinnacola.state import FACE_LABELS, PHASES

GAME = get_game("pinnacola_v0")


def labels(state):
    """The labels of the legal actions."""
    return {state.action_label(action) for action in state.legal_actions()}


def starts(state, verb):
    """The labels of the legal actions that start with a word."""
    return {label for label in labels(state) if label.startswith(verb)}


def play(state, *texts):
    """Apply actions by label, and return the state."""
    for text in texts:
        state.apply(state.action_from_label(text))
    return state


def meld_key(meld):
    """A meld, so that those which are equal in everything are equal."""
    side, kind, key, low, cards = meld
    return (side, kind, key, low, cards if kind == "run" else tuple(sorted(cards)))


def targets(hand, fits):
    """The melds of the oracle's hand among which an action chooses: own ones first, equal ones once (4.7)."""
    found = []
    for own in (True, False):
        for m, meld in enumerate(hand.melds):
            is_new = meld_key(meld) not in [meld_key(hand.melds[k]) for k in found]
            if (meld[0] == hand.side) == own and fits(m, meld) and is_new:
                found.append(m)
    return found


def moves_of(hand):
    """The legal moves of the oracle: of those that add to equal melds, and to more than three, the first ones."""
    found = set()
    groups = {}
    for move in sorted(hand.legal(), key=lambda one: (one[0], str(one[1:]))):
        if move[0] not in ("add", "swap"):
            found.add(move)
            continue
        groups.setdefault(place_of(hand, move), set()).add(move)
    for group in groups.values():
        chosen = targets(hand, lambda m, meld, group=group: any(move[1] == m for move in group))[:3]
        for m in chosen:
            found.add(min((move for move in group if move[1] == m), key=lambda move: move[2]))
    return found


def place_of(hand, move):
    """What an addition or replacement has in common with those among which a player chooses."""
    verb, m, place, card = move
    _, kind, key, low, _ = hand.melds[m]
    cell = (key, low + place) if kind == "run" else key
    return verb, kind, cell, card, place < 0


def move_of(hand, action):
    """An action id as a move of the oracle, given its position."""
    op, x, y, wild = (int(part) for part in actions.parts(action))
    simple = {actions.OP_DRAW: ("draw",), actions.OP_STOP: ("stop",)}
    if op in simple:
        return simple[op]
    if op == actions.OP_TAKE:
        places = [place for place, card in enumerate(hand.row) if card == FACE_LABELS[x]]
        return ("take", places[-1 - y])
    if op == actions.OP_DISCARD:
        return ("discard", FACE_LABELS[x])
    suit, step = SUITS[x // 14 % 4], x % 14
    at = [STEPS[k] + suit for k in range(14)]
    if op == actions.OP_RUN:
        return ("new", (hand.side, "run", suit, step, tuple(at[step : step + y])))
    if op == actions.OP_GAP_RUN:
        three = at[step : step + 3]
        three[y] = WILDS[wild]
        return ("new", (hand.side, "run", suit, step, tuple(three)))
    if op == actions.OP_DOUBLE:
        return ("new", (hand.side, "run", suit, step, (at[step], WILDS[y], WILDS[wild], at[step + 3])))
    if op in (actions.OP_SET, actions.OP_WILD_SET):
        cards = tuple(STEPS[x] + one for k, one in enumerate(SUITS) if y >> k & 1)
        extra = (WILDS[wild],) if op == actions.OP_WILD_SET else ()
        return ("new", (hand.side, "set", STEPS[x], 0, cards + extra))
    if op == actions.OP_JOKERS:
        return ("new", (hand.side, "jokers", "", 0, ("JK",) * x))
    return added_or_replaced(hand, op, x, y, wild)


def added_or_replaced(hand, op, x, k, wild):
    is_swap = op in (actions.OP_SWAP_RUN, actions.OP_SWAP_SET)
    in_set = op in (actions.OP_TO_SET, actions.OP_SWAP_SET, actions.OP_WILD_TO_SET)
    if op == actions.OP_TO_JOKERS:
        card, wanted, k = "JK", ("add", "jokers", "", "JK", False), 0
    elif in_set:
        card = WILDS[wild] if op == actions.OP_WILD_TO_SET else FACE_LABELS[x]
        wanted = ("swap" if is_swap else "add", "set", STEPS[x % 13], card, False)
    else:
        card = WILDS[wild] if op in (actions.OP_WILD_ABOVE, actions.OP_WILD_BELOW) else STEPS[x % 14] + SUITS[x // 14]
        is_below = op in (actions.OP_BELOW, actions.OP_WILD_BELOW)
        wanted = ("swap" if is_swap else "add", "run", (SUITS[x // 14], x % 14), card, is_below)
    moves = [move for move in hand.moves() if move[0] == wanted[0] and hand.is_possible(move)]
    moves = [move for move in moves if place_of(hand, move) == wanted]
    m = targets(hand, lambda m, meld: any(move[1] == m for move in moves))[k]
    return min((move for move in moves if move[1] == m), key=lambda move: move[2])


def begin(deck, **options):
    """A state and the oracle's hand, dealt from the same cards."""
    state = GAME.new_state(seed=1, deck=" ".join(deck), **options)
    return state, Hand(state.options, deck)


def full_deck(chooser, options):
    """All cards in a random order."""
    deck = cards_of_game(options)
    chooser.shuffle(deck)
    return deck


def counts(held, twice, jokers):
    """The Counter of a hand in a record."""
    found = Counter({FACE_LABELS[f]: (held >> f & 1) + (twice >> f & 1) for f in range(52)})
    found["JK"] = int(jokers)
    return +found


# ---------------------------------------------------------------------------------------------------------------
# Written positions


class Cards:
    """All cards of a game, from which texts take some; X is a joker."""

    def __init__(self, options):
        self.left = cards_of_game(options)

    def take(self, text):
        found = ["JK" if word == "X" else word for word in text.split()]
        for card in found:
            self.left.remove(card)
        return found


def meld_of(text):
    """The oracle's meld, without its side, of a text: "5h X 7h", "9h 9d X", "X X X"."""
    cards = ["JK" if word == "X" else word for word in text.split()]
    naturals = [k for k, card in enumerate(cards) if card != "JK"]
    if not naturals:
        return ("jokers", "", 0, tuple(cards))
    suits = {cards[k][1] for k in naturals}
    rank = max({cards[k][0] for k in naturals}, key=lambda rank: sum(card[0] == rank for card in cards))
    if sum(cards[k][0] != rank for k in naturals) <= ("2s" in cards) and len(suits) > 1:
        return ("set", rank, 0, tuple(cards))
    for suit in suits:  # with pinelle, the suit that has most cards in their places
        for low in range(15 - len(cards)):
            fits = [k for k, card in enumerate(cards) if card == STEPS[low + k] + suit]
            if len(fits) >= 2 and len(fits) >= len(naturals) - 1:
                return ("run", suit, low, tuple(cards))
    raise AssertionError(f"{text} is no meld")


def lay_meld(record, side, text):
    """Put a meld on the table of a record."""
    kind, key, low, cards = meld_of(text)
    m = int(record["num_melds"][0])
    record["num_melds"] += 1
    record["meld_side"][0, m], record["meld_size"][0, m] = side, len(cards)
    record["meld_kind"][0, m] = ("", "run", "set", "jokers").index(kind)
    record["meld_key"][0, m] = 0 if kind == "jokers" else SUITS.index(key) if kind == "run" else STEPS.index(key)
    record["meld_low"][0, m] = low
    for k, card in enumerate(cards):
        is_natural = card == STEPS[low + k] + key if kind == "run" else card != "JK" and card[0] == key
        if is_natural:
            record["meld_naturals"][0, m] |= 1 << (low + k if kind == "run" else SUITS.index(card[1]))
        elif kind == "run":
            record["meld_wilds"][0, m, WILDS.index(card)] |= 1 << low + k
        else:
            record["meld_wilds"][0, m, WILDS.index(card)] += 1
        put(record, "melded", "melded_twice", "melded_jokers", side, card)


def put(record, once, twice, jokers, index, card):
    """Add a card to two bit sets and a number of jokers."""
    if card == "JK":
        record[jokers][0, index] += 1
        return
    bit = 1 << FACE_LABELS.index(card)
    if record[once][0, index] & bit:
        record[twice][0, index] |= bit
    record[once][0, index] |= bit


def position(hand, *, melds=(), others_melds=(), row="Td", stock=30, phase="meld", player=0, others=(), known="",
             first_turn=False, scores=(0, 0), **options):  # fmt: skip
    """A state in which `player` is to act.

    Args:
        hand: the hand of the player; `others` are those of the next players, by default eight cards each.
        melds: of the player's side, texts as in `meld_of`; `others_melds` those of the other side.
        row: the first card first.
        stock: number of cards.
        known: the part of the hand that all have seen.
        first_turn: whether nobody has ended a turn.
        scores: of both sides, in a match.
        options: options of the game.
    """
    begun = GAME.new_state(seed=1, **options)
    n, cards = begun.num_players, Cards(begun.options)
    record = np.frombuffer(begun.record_bytes(), GAME.state_dtype).copy()
    for name in ("held", "twice", "jokers", "hand_sizes"):
        record[name] = 0
    record["deck"] = record["row"] = -1
    for side, texts in ((player % 2, melds), (1 - player % 2, others_melds)):
        for text in texts:
            lay_meld(record, side, text)
            cards.take(" ".join("X" if card == "JK" else card for card in meld_of(text)[3]))
    hands = [(player, cards.take(hand))]
    faces = cards.take(row)
    record["num_row"] = len(faces)
    record["row"][0, : len(faces)] = [FACE_LABELS.index(card) for card in faces]
    for k in range(1, n):
        given = cards.take(others[k - 1]) if k <= len(others) else [cards.left.pop(5) for _ in range(8)]
        hands.append(((player + k) % n, given))
    for p, held in hands:
        for card in held:
            put(record, "held", "twice", "jokers", p, card)
        record["hand_sizes"][0, p] = len(held)
    for card in known.split():
        put(record, "known_held", "known_twice", "known_jokers", player, card)
    total = len(cards_of_game(begun.options))
    record["num_dealt"] = total - stock
    record["deck"][0, total - stock : total] = [FACE_LABELS.index(card) for card in cards.left[:stock]]
    record["current_player"], record["phase"] = player, PHASES.index(phase)
    record["scores"] = scores
    record["num_turns"] = 0 if first_turn else 2 * n
    for side in range(2):
        refresh(record[0], side)
    for m in range(int(record["num_melds"][0])):
        describe(record[0], m)
    return State._from_record(GAME, begun.options, record)
