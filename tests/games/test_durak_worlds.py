"""Worlds of Durak: trumps that nobody was dealt (rules.md 9.3) are drawn as often as the deals that fit have them.

Two oracles know nothing of `determinize`. Over many games, real hands have such trumps as often as fair worlds should.
In single positions, full decks are dealt at random to the plain second implementation, and kept if the same moves can
be made and show the same.
"""

import os
import random

import numpy as np
import pytest
from test_durak_oracle import PlainDurak

from cardenvs.core.cards import card_label, cards_of
from cardenvs.games.durak import GAME

SEED = int(os.environ.get("CARDENVS_TEST_SEED", "0"))
FOUND = {2: (0.170, 0.073), 3: (0.326, 0.159), 4: (0.534, 0.296)}  # in worlds once drawn over whole hands, and exactly


def after_the_first_drawing(seed, **options):
    """Let `heuristic` play until cards are drawn; return the position and a player who has not seen all such trumps."""
    chooser = random.Random(seed)
    while True:
        state = GAME.new_state(seed=chooser.getrandbits(40), **options)
        talon = int(state.record.num_face_down)
        while not state.is_terminal and state.record.num_face_down == talon:
            state.apply(state.policy_action("heuristic", chooser.getrandbits(30)))
        player = chooser.randrange(state.num_players)
        if not state.is_terminal and state.record.num_face_down and unplaced(state.record, player):
            return state, player


def unplaced(record, player):
    """Return the trumps that nobody was dealt and `player` has not seen, as a bit set."""
    seen = int(record.hands[player] | record.attack | record.defence | record.discards)
    for known in record.known:
        seen |= int(known)
    if record.turn_up >= 0:
        seen |= 1 << int(record.turn_up)
    return int(record.undealt) & ~seen


def share_held(record, player):
    """Return the share of these trumps that other players hold."""
    trumps = unplaced(record, player)
    held = sum(int(hand & trumps).bit_count() for p, hand in enumerate(record.hands) if p != player)
    return held / trumps.bit_count()


def compare_with_real_hands(num_players, games, seed):
    """Return the mean shares in real hands and in worlds, and the standard error of their difference."""
    shares = np.zeros((games, 2))
    for k in range(games):
        state, player = after_the_first_drawing(seed * games + k, num_players=num_players)
        worlds = [share_held(state.determinize(player, 10 * k + j).record, player) for j in range(10)]
        shares[k] = share_held(state.record, player), np.mean(worlds)
    return *shares.mean(axis=0), np.std(shares[:, 0] - shares[:, 1]) / games**0.5


@pytest.mark.parametrize("num_players", FOUND)
def test_others_hold_trumps_that_nobody_was_dealt_as_often_as_in_real_games(num_players):
    real, worlds, error = compare_with_real_hands(num_players, 400, SEED)
    assert abs(real - worlds) < 5 * error, f"{real:.3f} in real hands, {worlds:.3f} in worlds"
    wrong, exact = FOUND[num_players]
    assert abs(worlds - exact) < abs(worlds - wrong)


@pytest.mark.slow
@pytest.mark.parametrize("num_players", [2, 3, 4, 5])
def test_others_hold_trumps_that_nobody_was_dealt_as_often_as_in_many_real_games(num_players):
    seed = SEED or random.SystemRandom().getrandbits(30)
    real, worlds, error = compare_with_real_hands(num_players, 8000, seed)
    print(f"{num_players} players, seed {seed}: {real:.3f} in real hands, {worlds:.3f} in worlds, error {error:.4f}")
    assert abs(real - worlds) < 5 * error


# ---------------------------------------------------------------------------------------------------------------
# Full decks, dealt to the plain implementation


def opening(plain):
    """Return what the first attack shows: who attacks, and the lowest trump dealt."""
    trumps = [(plain.value(card), card) for hand in plain.hands for card in hand if card[1] == plain.trump]
    return plain.attacker, min(trumps, default=None)


def played(deck, labels, options, player):
    """Play a game; return it and the cards that `player` was dealt or drew, or None if a move cannot be made."""
    plain = PlainDurak(list(deck), **options)
    own = set(plain.hands[player])
    for label in labels:
        if label not in plain.legal():
            return None
        talon = set(plain.talon)
        plain.play(label)
        own |= talon & set(plain.hands[player])
    return plain, own


def short_game(seed, **options):
    """Play a short game from an explicit deck until cards are drawn; return its position and its moves as labels."""
    chooser = random.Random(seed)
    while True:
        deck = GAME.deck(GAME.make_options(**options)).tolist()
        chooser.shuffle(deck)
        state, labels = GAME.new_state(seed=0, deck=deck, **options), []
        talon = int(state.record.num_face_down)
        while not state.is_terminal and state.record.num_face_down == talon:
            action = chooser.choice(state.legal_actions())
            labels.append(state.action_label(action))
            state.apply(action)
        player = chooser.randrange(state.num_players)
        if not state.is_terminal and int(unplaced(state.record, player)).bit_count() > 1:
            return state, labels, player


def fitting_games(state, labels, player, tries, chooser):
    """Deal decks at random, and yield the games in which `player` sees the same."""
    options, deck = state.options.as_dict(), [card_label(card) for card in state.deck]
    _, own = played(deck, labels, options, player)
    turned_up = state.num_players * state.options.hand_size
    free = [place for place, card in enumerate(deck) if card not in own and place != turned_up]
    opened = opening(PlainDurak(list(deck), **options))
    for _ in range(tries):
        for place, card in zip(free, chooser.sample([deck[k] for k in free], len(free)), strict=True):
            deck[place] = card
        if opening(PlainDurak(list(deck), **options)) == opened and (found := played(deck, labels, options, player)):
            yield found[0]


def compare_with_fitting_games(seed, tries, **options):
    """Return for each trump that nobody was dealt how often others hold it: number and size of both samples."""
    state, labels, player = short_game(seed, **options)
    trumps = [card_label(card) for card in cards_of(unplaced(state.record, player))]
    games = list(fitting_games(state, labels, player, tries, random.Random(seed)))
    held = [{card for p, hand in enumerate(game.hands) if p != player for card in hand} for game in games]
    worlds = [state.determinize(player, k).record.hands for k in range(len(games))]
    others = [
        {card_label(c) for p, hand in enumerate(hands) if p != player for c in cards_of(hand)} for hands in worlds
    ]
    return [(sum(t in hand for hand in held), sum(t in hand for hand in others), len(games)) for t in trumps]


SHORT = [
    {"num_players": 2, "deck_size": "24", "hand_size": 3},
    {"num_players": 3, "deck_size": "24", "hand_size": 3},
    {"num_players": 4, "deck_size": "24", "hand_size": 2, "max_attack_cards": 1},
    {"num_players": 3, "deck_size": "24", "hand_size": 4, "variant": "perevodnoy", "show_trump_transfer": True},
]


def check_fitting_games(options, seeds, tries):
    compared = 0
    for seed in seeds:
        for real, worlds, size in compare_with_fitting_games(seed, tries, **options):
            if size < 50:
                continue
            share = (real + worlds) / (2 * size)
            assert abs(real - worlds) <= 5 * (2 * size * share * (1 - share)) ** 0.5 + 3, f"seed {seed}: {options}"
            compared += size
    return compared


@pytest.mark.parametrize("options", SHORT)
def test_worlds_hold_these_trumps_as_often_as_fitting_games_of_the_plain_implementation(options):
    assert check_fitting_games(options, range(5), 2000) > 100


@pytest.mark.slow
@pytest.mark.parametrize("options", SHORT)
def test_worlds_hold_these_trumps_as_often_as_many_fitting_games(options):
    seed = SEED or random.SystemRandom().getrandbits(30)
    print(f"seed {seed}")
    assert check_fitting_games(options, range(seed, seed + 12), 60_000) > 10_000
