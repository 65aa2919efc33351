"""What a game says about its actions, for networks, beside their labels."""

import re
from collections import Counter

import numpy as np
import pytest

from cardenvs.core.registry import get_game, list_games
from cardenvs.games.canasta import actions as canasta
from cardenvs.games.casino import state as casino
from cardenvs.games.dou_dizhu import actions
from cardenvs.games.dou_dizhu import plays as dou_dizhu
from cardenvs.games.rummikub.actions import LAY_0
from cardenvs.games.rummikub.tiles import JOKER
from cardenvs.games.wingspan import actions as wingspan
from cardenvs.games.wingspan import cards
from cardenvs.kits.cards import parse_card


def features_of(name, **options):
    game = get_game(name)
    return game.action_features(game.make_options(**options))


@pytest.mark.parametrize("name", list_games())
def test_there_is_a_row_for_each_action(name):
    game = get_game(name)
    options = game.options()
    features = game.action_features(options)
    assert features.dtype == np.int8
    assert features.shape[0] == game.num_actions(options)
    assert features.any(axis=0).all()  # no column says nothing


def labels(name, games=2, **options):
    """Labels of the legal actions at the beginning of random games, by id."""
    game, found, rng = get_game(name), {}, np.random.default_rng(0)
    for seed in range(games):
        state = game.new_state(seed=seed, **options)
        while not state.is_terminal and len(state.actions) < 200:
            legal = state.legal_actions()
            found |= {action: state.action_label(action) for action in legal}
            state.apply(int(rng.choice(legal)))
    return found


def test_rummikub_counts_the_tiles_of_a_meld():
    features, colours = features_of("rummikub_v0"), "RBKO"
    laid = {action: label for action, label in labels("rummikub_v0").items() if action >= LAY_0}
    assert len(laid) > 20
    for action, label in laid.items():
        tiles = label.removeprefix("lay ").split()
        meant = [re.sub(r"J\((.*)\)", r"\1", tile) for tile in tiles]
        numbers = [colours.index(tile[0]) * 13 + int(tile[1:]) - 1 for tile in meant]
        used = Counter(JOKER if tile[0] == "J" else number for tile, number in zip(tiles, numbers, strict=True))
        row = features[action]
        assert {t: int(row[t]) for t in np.flatnonzero(row[: JOKER + 1])} == used
        assert np.flatnonzero(row[JOKER + 1 : -3]).tolist() == sorted(numbers)
        assert row[-3:].tolist() == [len(tiles), sum(n % 13 + 1 for n in numbers), len({n % 13 for n in numbers}) == 1]


def test_canasta_says_what_is_laid_and_discarded():
    features = features_of("canasta_v0", wild_only_melds=True)
    for action in range(canasta.LAY_0, len(features)):
        meld, *laid = canasta.cards_laid(action)
        assert np.flatnonzero(features[action, :-3]).tolist() == [canasta.NUM_FACES + meld]
        assert features[action, -3:].tolist() == laid
    for face in range(canasta.NUM_FACES):
        assert np.flatnonzero(features[canasta.DISCARD_0 + face]).tolist() == [face]


def test_casino_says_which_card_does_what():
    features = features_of("casino_v0")
    kinds = {"lay": 0, "takes": 1, "builds": 2}
    played = {action: label.split() for action, label in labels("casino_v0").items() if action < casino.TAKE_0}
    assert {kind for words in played.values() for kind in words[:2] if kind in kinds} == set(kinds)
    for action, words in played.items():
        kind, name = ("lay", words[1]) if words[0] == "lay" else (words[1], words[0])
        card = parse_card(name)
        number = card % 13 + 1
        assert np.flatnonzero(features[action]).tolist() == [card, 52, 53 + kinds[kind]]
        assert features[action, 52] == number


def test_dou_dizhu_says_which_cards_are_played():
    features, ranks = features_of("dou_dizhu_v0"), "3456789TJQKA2BR"
    found = {action: label for action, label in labels("dou_dizhu_v0", games=6).items() if action < dou_dizhu.PASS}
    assert len(found) > 100
    for action, label in found.items():
        cards_played = [ranks.index(card.replace("10", "T")) for card in label.replace("+", "").split()]
        count, row = Counter(cards_played), features[action]
        assert {rank: int(row[4 * rank : 4 * rank + 4].sum()) for rank in count if rank < 13} == {
            rank: number for rank, number in count.items() if rank < 13
        }
        assert row[52:54].tolist() == [count[13], count[14]]
        assert row[actions.SIZE] == len(cards_played)
        assert np.flatnonzero(row[actions.START : actions.SIZE]).tolist() == [cards_played[0]] or label == "B R"
        assert row[actions.KIND : actions.START].sum() == 1
    assert np.flatnonzero(features[dou_dizhu.PASS]).tolist() == [actions.IS_PASS]


def test_wingspan_says_what_is_on_the_card():
    features = features_of("wingspan_v0")
    bird, habitat = cards.BIRD_NAMES.index("Bald Eagle"), 2
    row = features[wingspan.PLAY_0 + 3 * bird + habitat]
    assert row[:6].tolist() == [0, 0, 1, 0, 0, 1]  # played, in the wetland
    assert row[6:8].tolist() == [cards.BIRD_POINTS[bird], cards.BIRD_EGG_LIMIT[bird]] == [9, 1]
    tucked = features[wingspan.TUCK_0 + bird]
    assert tucked[:6].tolist() == [0, 1, 0, 0, 0, 0]
    assert tucked[6:].tolist() == row[6:].tolist()
    eggs = features[wingspan.LAY_EGG_0 : wingspan.LAY_EGG_0 + wingspan.MAT_SLOTS, 3:6]
    assert eggs.sum(0).tolist() == [5, 5, 5]
    label = get_game("wingspan_v0").new_state(seed=0).action_label(wingspan.PLAY_0 + 3 * bird + habitat)
    assert label == "play Bald Eagle in the wetland"
