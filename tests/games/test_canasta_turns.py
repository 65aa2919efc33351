"""The mask of Canasta against whole turns tried one by one: an action is legal if some legal turn begins with it."""

import random
from collections import Counter

import numpy as np
import pytest
from canasta import GAME, begin_turn, give_hand, lay, oracle_turn, step_of
from canasta_oracle import legal_steps

from cardenvs.core.state import State
from cardenvs.games.canasta import state
from cardenvs.games.canasta.state import KIND_OF

OPTIONS = (
    {"num_players": 2},
    {"num_players": 3},
    {"num_players": 4},
    {"num_players": 4, "ask_partner": True},
    {"num_players": 2, "canastas_to_go_out": 1, "wilds_fewer_than_naturals": True},
    {"num_players": 4, "wild_only_melds": True},
    {"num_players": 3, "max_wilds_per_meld": 2, "concealed_exempt_from_minimum": False},
    {"num_players": 2, "canastas_to_go_out": 1, "wild_only_melds": True, "forced_take_on_empty_stock": False},
    {"num_players": 4, "max_wilds_per_meld": 0},
)


def random_position(chooser, options):
    """A random position: a small hand full of pairs and wild cards, large melds, a short pile."""
    begun = GAME.new_state(seed=1, **options)
    n = begun.num_players
    record = np.zeros(1, GAME.state_dtype)
    record["rules"] = np.frombuffer(begun.record_bytes(), GAME.state_dtype)["rules"]
    record["active"][0, :n] = 1
    record["pile"] = record["deck"] = state.NO_CARD
    record["asker"] = state.NO_PLAYER
    record["dealer"], record["num_deals"] = n - 1, 1
    ranks = chooser.sample(range(11), chooser.choice((2, 3, 4, 6, 11)))
    deck = [face for face in np.repeat(np.arange(53), [2] * 52 + [4]).tolist() if KIND_OF[face] != state.RED_THREE]
    chooser.shuffle(deck)
    near = [face for face in deck if KIND_OF[face] in ranks or KIND_OF[face] >= 11]
    player = chooser.randrange(n)
    side = player if n == 3 else player % 2
    record["current_player"] = player
    record["scores"][0, side] = chooser.choice((-5, 0, 0, 1500, 3000))

    def take(number, cards):
        found = [cards.pop() for _ in range(min(number, len(cards)))]
        for face in found:
            for pool in (deck, near):
                if face in pool and pool is not cards:
                    pool.remove(face)
        return found

    if chooser.random() < 0.6:
        melds = chooser.sample(range(11), chooser.choice((1, 1, 2, 3)))
        for rank in melds:
            naturals = [face for face in deck if KIND_OF[face] == rank][: chooser.choice((2, 3, 4, 5, 6, 7))]
            wilds = [face for face in deck if KIND_OF[face] in (state.TWO, state.JOKER)]
            room = int(record["rules"]["max_wilds_per_meld"][0])
            if record["rules"]["wilds_fewer_than_naturals"][0]:
                room = min(room, len(naturals) - 1)
            wilds = wilds[: chooser.randint(0, room)] if room else []
            if len(naturals) + len(wilds) >= 3:
                for face in naturals + wilds:
                    deck.remove(face)
                    if face in near:
                        near.remove(face)
                lay(record, side, naturals + wilds)
        if record["has_opened"][0, side]:
            record["has_melded"][0, player] = chooser.random() < 0.7
    give_hand(record, player, take(chooser.choice((1, 2, 3, 4, 5, 6, 7, 8, 9, 11)), near if near else deck))
    record["num_stock"] = chooser.choice((0, 1, 5, 20))
    stock = take(int(record["num_stock"][0]), deck)
    record["num_stock"] = len(stock)
    record["deck"][0, 108 - len(stock) :] = stock
    pile = take(chooser.choice((1, 1, 2, 2, 3, 6)), near if chooser.random() < 0.7 and len(near) > 6 else deck)
    record["pile"][0, : len(pile)] = pile
    record["num_pile"] = len(pile)
    if chooser.random() < 0.15:
        record["pile"][0, 0] = 3 * 13 + 2  # a red three at the bottom
        record["pile_reds"] = len(pile) > 0
    kinds = [int(KIND_OF[face]) for face in record["pile"][0, : len(pile)]]
    record["pile_frozen"] = any(kind in (state.RED_THREE, state.TWO, state.JOKER) for kind in kinds)
    for other in range(n):
        if other != player:
            give_hand(record, other, take(4, deck))
    begin_turn(record, player, n)
    record["phase"] = chooser.choice((state.DRAW, state.MELD))
    if record["phase"] == state.MELD:
        record["no_discard"] = chooser.random() < 0.15
        if record["rules"]["ask_partner"][0]:
            record["answer"] = chooser.choice((state.FREE, state.FREE, state.MAY_NOT_GO_OUT))
    return State._from_record(GAME, begun.options, record)


def compare(one):
    """Compare the legal actions with the oracle's steps, and return their kinds."""
    turn = oracle_turn(one)
    wanted = legal_steps(turn)
    found = {step_of(one, action) for action in one.legal_actions()}
    assert found == wanted, f"{turn}\ntoo many: {found - wanted}\nmissing: {wanted - found}"
    return {step[0] for step in found}


def play_and_compare(chooser, options, seen):
    """Play a turn at random from a random position, and compare at every step."""
    one = random_position(chooser, options)
    player = one.current_player
    for _ in range(12):
        if one.is_terminal or one.current_player != player or one.phase == "answer":
            return
        turn = oracle_turn(one)
        if turn.phase == "meld" and not turn.laid and not legal_steps(turn):
            return  # a position that play does not reach: the hand is too small to begin a turn with
        seen.update((turn.phase, kind) for kind in compare(one))
        action = chooser.choice([a for a in one.legal_actions() if a >= 63] or one.legal_actions())
        if action == 0:
            return  # what is drawn is the same for both
        one.apply_unchecked(action)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_mask_offers_what_begins_a_legal_turn(options):
    chooser, seen = random.Random(3), Counter()
    for _ in range(60):
        play_and_compare(chooser, options, seen)
    assert seen["meld", "lay"]
    assert seen["meld", "discard"]


@pytest.mark.slow
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_mask_offers_what_begins_a_legal_turn_in_thousands_of_positions(options):
    chooser, seen = random.Random(4), Counter()
    for _ in range(2000):
        play_and_compare(chooser, options, seen)
    assert seen["draw", "take"]
    assert seen["take", "lay"]
