"""Positions of Canasta for tests, from texts such as "K K Kh 2 JK 3s": a rank without a suit takes any card left."""

import numpy as np
from canasta_oracle import KINDS, MELDS, Rules, Turn

from cardenvs.core.registry import get_game
from cardenvs.core.state import State
from cardenvs.games.canasta import actions, state
from cardenvs.games.canasta.state import FACE_LABELS, KIND_OF

GAME = get_game("canasta_v0")
PAIR, WITH_JOKER, WITH_TWO, ADD = ("take", "pair"), ("take", "JK"), ("take", "2"), ("take", "add")
_TAKES = {"pair": actions.TAKE_WITH_PAIR, "JK": actions.TAKE_WITH_JOKER, "2": actions.TAKE_WITH_TWO,
          "add": actions.TAKE_BY_ADDING}  # fmt: skip


class Cards:
    """The 108 cards, from which texts take some."""

    def __init__(self):
        self.left = np.repeat(np.arange(53), [2] * 52 + [4]).tolist()

    def take(self, text):
        """Remove the cards of a text and return their faces."""
        found = []
        for word in text.split():
            exact = [face for face in self.left if FACE_LABELS[face] == word]
            fits = exact or [face for face in self.left if FACE_LABELS[face][0] == word and len(word) == 1]
            assert fits, f"no {word} is left"
            found.append(fits[0])
            self.left.remove(fits[0])
        return found


def position(
    hand, *, melds=(), other_melds=(), pile="Th Td", stock=20, phase="meld", player=0, others=(), known="", **fields
):
    """A state in which `player` is to act.

    Args:
        hand: the hand of the player; `others` are those of the next players, by default eight cards each.
        melds: of the player's side, texts: "K K K 2"; black threes are "3s 3s 3c", wild cards alone "JK 2 2".
        other_melds: of the next side.
        pile: bottom first.
        stock: number of cards, or the cards from the top.
        known: the part of the hand that all have seen.
        fields: fields of the record (scores, has_laid, needed, ...), or options.
    """
    options = {name: fields.pop(name) for name in list(fields) if name in GAME.make_options().as_dict()}
    begun = GAME.new_state(seed=1, **options)
    n = begun.num_players
    record = np.frombuffer(begun.record_bytes(), GAME.state_dtype).copy()
    for name in ("hands", "known", "kinds", "red_threes", "melded", "naturals", "jokers", "twos", "hand_sizes",
                 "pile_frozen", "pile_reds", "has_opened", "has_melded", "num_pile"):  # fmt: skip
        record[name] = 0
    record["pile"] = record["deck"] = -1
    cards = Cards()
    give_hand(record, player, cards.take(hand))
    for face in (FACE_LABELS.index(word) for word in known.split()):
        record["known"][0, player, face] += 1
    sides = 3 if n == 3 else 2
    for k, texts in enumerate((melds, other_melds)):
        for text in texts:
            lay(record, (player + k) % sides, cards.take(text))
    pile_cards = cards.take(pile)
    record["num_pile"] = len(pile_cards)
    record["pile"][0, : len(pile_cards)] = pile_cards
    kinds = [int(KIND_OF[face]) for face in pile_cards]
    record["pile_reds"] = kinds.count(state.RED_THREE)
    record["pile_frozen"] = any(kind in (state.RED_THREE, state.TWO, state.JOKER) for kind in kinds)
    if isinstance(stock, str):
        stock_cards = cards.take(stock)
    else:
        stock_cards = [cards.left.pop(7 % len(cards.left)) for _ in range(stock)]
    record["num_stock"] = len(stock_cards)
    record["deck"][0, 108 - len(stock_cards) :] = stock_cards
    for k in range(1, n):
        other = (player + k) % n
        text = others[k - 1] if k <= len(others) else ""
        faces = cards.take(text) or [
            cards.left.pop(next(i for i, f in enumerate(cards.left) if KIND_OF[f] != state.RED_THREE)) for _ in range(8)
        ]
        give_hand(record, other, faces)
    record["current_player"] = player
    begin_turn(record, player, n)
    record["phase"] = state.PHASES.index(phase)
    for name, value in fields.items():
        record[name] = value
    if "scores" in fields and "needed" not in fields:
        begin_turn(record, player, n)
    return State._from_record(GAME, begun.options, record)


def begin_turn(record, player, n):
    """Fill in what a turn begins with."""
    side = player if n == 3 else player % 2
    old = [m for m in range(state.NUM_MELDS) if sum(record[k][0, side, m] for k in ("naturals", "jokers", "twos"))]
    record["old_melds"] = sum(1 << m for m in old)
    score = int(record["scores"][0, side])
    least = 15 if score < 0 else 50 if score < 1500 else 90 if score < 3000 else 120
    record["needed"] = 0 if record["has_opened"][0, side] else least
    record["first_meld"] = record["has_laid"] = record["has_taken"] = record["no_discard"] = record["answer"] = 0
    record["is_concealed"] = 1 - record["has_melded"][0, player]


def give_hand(record, player, faces):
    for face in faces:
        record["hands"][0, player, face] += 1
        record["kinds"][0, player, KIND_OF[face]] += 1
    record["hand_sizes"][0, player] = len(faces)


def lay(record, side, faces):
    """Put a meld of a side on the table."""
    kinds = [int(KIND_OF[face]) for face in faces]
    natural = [kind for kind in kinds if kind not in (state.TWO, state.JOKER)]
    m = state.WILD_MELD if not natural else state.BLACK_MELD if natural[0] == state.BLACK_THREE else natural[0]
    record["naturals"][0, side, m] += len(natural)
    record["jokers"][0, side, m] += kinds.count(state.JOKER)
    record["twos"][0, side, m] += kinds.count(state.TWO)
    record["has_opened"][0, side] = 1
    for face in faces:
        record["melded"][0, side, face] += 1


def labels(one):
    """The labels of the legal actions."""
    return {one.action_label(action) for action in one.legal_actions()}


def play(one, *texts):
    """Apply actions by label, and return the state."""
    for text in texts:
        one.apply(one.action_from_label(text))
    return one


# ---------------------------------------------------------------------------------------------------------------
# The same position for the oracle


def oracle_rules(one):
    """The options of a state for the oracle."""
    o, n = one.options, one.num_players
    return Rules(
        n,
        o.hand_size or {2: 15, 3: 13, 4: 11}[n],
        o.draw_count or (2 if n == 2 else 1),
        o.canastas_to_go_out or (2 if n == 2 else 1),
        o.max_wilds_per_meld,
        o.wilds_fewer_than_naturals,
        o.wild_only_melds,
        o.concealed_exempt_from_minimum,
        o.ask_partner,
        o.forced_take_on_empty_stock,
    )


def oracle_turn(one):
    """The position of a state for the oracle."""
    s = one.record
    p = int(s.current_player)
    side = p if one.num_players == 3 else p % 2
    hand = tuple(sorted(KINDS[k] for k in range(14) for _ in range(int(s.kinds[p, k]))))
    melds = tuple(
        sorted(
            (name, int(s.naturals[side, m]), int(s.jokers[side, m]), int(s.twos[side, m]))
            for m, name in enumerate(MELDS)
            if s.naturals[side, m] + s.jokers[side, m] + s.twos[side, m]
        )
    )
    opened = bool(s.old_melds)
    score = int(s.scores[side])
    minimum = 15 if score < 0 else 50 if score < 1500 else 90 if score < 3000 else 120
    return Turn(
        oracle_rules(one), state.PHASES[int(s.phase)], hand, melds,
        tuple(KINDS[int(KIND_OF[f])] for f in s.pile[: int(s.num_pile)]), int(s.num_stock), opened, minimum,
        0 if opened else minimum - int(s.needed), int(s.first_meld), bool(s.has_laid), False, bool(s.has_taken),
        bool(s.no_discard), ("", "yes", "no")[int(s.answer)], bool(s.pile_frozen),
    )  # fmt: skip


def step_of(one, action):
    """The oracle's name of an action."""
    s = one.record
    if action >= actions.LAY_0:
        m, n, j, t = (int(number) for number in actions.cards_laid(action))
        return ("lay", MELDS[m], n, j, t)
    if action >= actions.DISCARD_0:
        assert s.hands[int(s.current_player), action - actions.DISCARD_0] > 0
        return ("discard", KINDS[int(KIND_OF[action - actions.DISCARD_0])])
    for how, take in _TAKES.items():
        if action == take:
            return ("take", how)
    return ({actions.DRAW: "draw", actions.END_DEAL: "end", actions.DONE: "done", actions.ASK: "ask"}[action],)
