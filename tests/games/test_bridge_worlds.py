"""Worlds of Contract Bridge: every deal that fits what a player knows is equally likely."""

import os
import random
from collections import Counter

import numpy as np
import pytest
from ascii_cards import in_ascii
from scipy.special import chdtrc

from cardenvs.core.kernel import COMPILED, kernel
from cardenvs.core.record import takes_records
from cardenvs.core.registry import get_game
from cardenvs.core.rng import start_stream
from cardenvs.games.bridge.agreement import missed_calls
from cardenvs.games.bridge.bidding import choose_call, makes_call
from cardenvs.games.bridge.reading import READING, begin_reading, read_call
from cardenvs.games.bridge.worlds import redeal, walk
from cardenvs.kits.cards import CARD_LABELS, cards_of

GAME = get_game("bridge_v0")


def seed_of_today():
    seed = int(os.environ.get("CARDENVS_TEST_SEED", random.randrange(2**32)))
    print(f"CARDENVS_TEST_SEED={seed}")
    return seed


def random_play(state, chooser, cards_left):
    """Play random cards until the player to act holds so many; return the suits that each player has not followed."""
    missing, led = {p: set() for p in range(4)}, None
    while not state.is_terminal:
        turn = int(state.record.turn)
        if state.phase == "play" and int(state.record.hands[turn]).bit_count() <= cards_left:
            break
        action = chooser.choice(state.legal_actions())
        if state.phase == "auction":
            action = state.policy_action("heuristic", chooser.randrange(2**30))
        else:
            suit = in_ascii(state.action_label(action))[-1]
            if turn == state.record.leader:
                led = suit
            elif suit != led:
                missing[turn].add(led)
        state.apply(action)
    return missing


def hidden_players(state, viewer):
    return [p for p in range(4) if p not in (viewer, (int(state.record.declarer) + 2) % 4)]


def all_worlds(state, viewer, missing):
    """Return all ways to deal the hidden cards, card by card, with regard to suits that were not followed."""
    players = hidden_players(state, viewer)
    sizes = {p: int(state.record.hands[p]).bit_count() for p in players}
    found = [(0,) * len(players)]
    for card in cards_of(sum(int(state.record.hands[p]) for p in players)):
        found = [
            (*deal[:k], deal[k] | 1 << card, *deal[k + 1 :])
            for deal in found
            for k, p in enumerate(players)
            if deal[k].bit_count() < sizes[p] and CARD_LABELS[card][1] not in missing[p]
        ]
    return found


def p_value(state, viewer, worlds, seed, each):
    players = hidden_players(state, viewer)
    draws = each * len(worlds)
    twins = (state.determinize(viewer, seed + k).records["hands"][0] for k in range(draws))
    counts = Counter(tuple(int(hands[p]) for p in players) for hands in twins)
    assert set(counts) <= set(worlds)
    return float(chdtrc(len(worlds) - 1, sum((counts[world] - each) ** 2 / each for world in worlds)))


def several_voids(seed, number, each):
    """Yield p-values of positions of random play in which several hidden hands have shown to lack suits."""
    chooser = random.Random(seed)
    while number:
        state = GAME.new_state(seed=chooser.randrange(2**32))
        missing = random_play(state, chooser, chooser.choice((2, 3, 4)))
        if state.is_terminal:
            continue
        dummy = (int(state.record.declarer) + 2) % 4
        viewer = dummy if number % 2 else chooser.choice([p for p in range(4) if p != dummy])
        if sum(bool(missing[p]) for p in hidden_players(state, viewer)) < 2:
            continue
        worlds = all_worlds(state, viewer, missing)
        if 2 <= len(worlds) <= 100:
            number -= 1
            yield p_value(state, viewer, worlds, chooser.randrange(2**40), each)


def test_worlds_are_equally_likely_if_several_hands_lack_suits():
    values = list(several_voids(3, *((28, 120) if COMPILED else (3, 2))))
    print(f"{len(values)} positions, least p {min(values):.2g}")
    assert min(values) > 1e-4


@pytest.mark.slow
def test_worlds_are_equally_likely_in_many_positions():
    values = list(several_voids(seed_of_today(), 300, 150))
    print(f"{len(values)} positions, least p {min(values):.2g}")
    assert min(values) > 1e-7


# ---------------------------------------------------------------------------------------------------------------
# phase="play" without an auction: the natural bidder made the calls with the hands that were dealt


def calls_of(state):
    return state.record.calls[: state.record.num_calls].tolist()


def redealt(state, hands):
    """A new deal of the same board, with these cards left in the hands and the same cards played."""
    deck = []
    for p in range(4):
        played = [int(card) for card in state.record.played[p] if card >= 0]
        deck += [*cards_of(int(hands[p])), *played]
    return GAME.new_state(seed=1, phase="play", board=int(state.record.board), deck=deck)


def natural_positions(seed, number):
    """Positions of random play after auctions of natural bidders, and a viewer for each."""
    chooser = random.Random(seed)
    for k in range(number):
        state = GAME.new_state(seed=chooser.randrange(2**32), phase="play")
        random_play(state, chooser, 13 - k % 13)
        yield state, chooser.randrange(4)


def replayed(seed, number, twins):
    """Return for how many twins the natural bidder makes the same calls, and how many there are."""
    same = 0
    for state, viewer in natural_positions(seed, number):
        for k in range(twins):
            twin = state.determinize(viewer, seed + k)
            same += calls_of(redealt(state, twin.record.hands)) == calls_of(state)
    print(f"{same} of {number * twins} twins repeat the auction")
    return same, number * twins


@pytest.mark.skipif(not COMPILED, reason="takes minutes")
def test_the_natural_bidder_makes_the_same_calls_in_twins():
    same, number = replayed(5, 78, 3)
    assert same >= 0.99 * number


@pytest.mark.slow
def test_the_natural_bidder_makes_the_same_calls_in_many_twins():
    same, number = replayed(seed_of_today(), 1040, 5)
    assert same >= 0.99 * number


@pytest.mark.slow
def test_worlds_at_the_opening_lead_repeat_the_auction():
    chooser, same, number = random.Random(seed_of_today()), 0, 120
    for _ in range(number):
        state = GAME.new_state(seed=chooser.randrange(2**32), phase="play")
        for k in range(3):
            twin = state.determinize(state.current_player, k)
            same += calls_of(redealt(state, twin.record.hands)) == calls_of(state)
    print(f"{same} of {3 * number} worlds at opening leads repeat the auction")
    assert same >= 0.96 * 3 * number


@kernel(entry=True)
def worlds_by_drawing(states, begun, players, tries, found):
    """Fill `found` with deals that agree, and return how many there are."""
    done = 0
    states[0] = begun[0]
    start_stream(states[0], 77, 1)
    for _ in range(tries):
        redeal(states[0], players)
        if done < len(found) and missed_calls(states[0], 0) == 0:
            for p in range(4):
                found[done, p] = states[0].hands[p]
            done += 1
    return done


@kernel(entry=True)
def worlds_by_walks(states, begun, players, tries, found):
    """Fill `found` with deals that agree at the end of a walk each, and return how many there are."""
    done = 0
    for k in range(tries):
        states[0] = begun[0]
        start_stream(states[0], 78, k)
        redeal(states[0], players)
        walk(states[0], players)
        if missed_calls(states[0], 0) == 0:
            for p in range(4):
                found[done, p] = states[0].hands[p]
            done += 1
    return done


@pytest.mark.slow
def test_walks_spread_as_evenly_as_drawing():
    chooser, differences, expected = random.Random(seed_of_today()), [], []
    while len(differences) < 6:
        state = GAME.new_state(seed=chooser.randrange(2**32), phase="play")
        players = 15 & ~(1 << state.current_player)
        drawn, walked = np.zeros((2, 400, 4), np.int64)
        begun = state.records.copy()
        if worlds_by_drawing(begun.copy(), begun, players, 600_000, drawn) < len(drawn):
            continue
        number = worlds_by_walks(begun.copy(), begun, players, len(walked), walked)
        one, two = ((hands[:, :, None] >> np.arange(52) & 1).mean(axis=0) for hands in (drawn, walked[:number]))
        variance = one * (1 - one) / len(drawn) + two * (1 - two) / number
        differences.append(((one - two) ** 2)[variance > 0].mean())
        expected.append(variance[variance > 0].mean())
    rms, by_chance = np.sqrt(np.mean(differences)), np.sqrt(np.mean(expected))
    print(f"chances of a card in a hand differ by {rms:.3f}; by chance alone by {by_chance:.3f}")
    assert rms < 1.3 * by_chance


@pytest.mark.skipif(not COMPILED, reason="takes minutes")
def test_worlds_after_a_natural_auction_are_equally_likely():
    """All deals of the last cards are listed, and each is dealt as a game to see which calls the bidder makes."""
    chooser, values = random.Random(6), []
    while len(values) < 12:
        state = GAME.new_state(seed=chooser.randrange(2**32), phase="play")
        missing = random_play(state, chooser, 4)
        viewer = int(state.record.current_player)
        worlds = all_worlds(state, viewer, missing)
        fitting = []
        for world in worlds if len(worlds) <= 80 else []:
            hands = state.record.hands.tolist()
            for p, hand in zip(hidden_players(state, viewer), world, strict=True):
                hands[p] = hand
            if calls_of(redealt(state, hands)) == calls_of(state):
                fitting.append(world)
        if 2 <= len(fitting) < len(worlds):
            values.append(p_value(state, viewer, fitting, chooser.randrange(2**40), 20))
    print(f"{len(values)} positions, least p {min(values):.2g}")
    assert min(values) > 1e-4


def test_a_given_auction_says_nothing_about_the_hands():
    """With the option `auction` the calls are not those of the hands; North may have opened 1NT without a point."""
    calls = (7, 0, 0, 0)
    state = GAME.new_state(seed=2, phase="play", auction=calls, dealer="N")
    points = [hand_points(state.determinize(1, seed).record.hands[0]) for seed in range(60 if COMPILED else 5)]
    assert min(points) < 12


def hand_points(hand):
    return sum({"A": 4, "K": 3, "Q": 2, "J": 1}.get(CARD_LABELS[card][0], 0) for card in cards_of(int(hand)))


def test_makes_call_says_what_choose_call_chooses():
    choose, makes = takes_records(choose_call), takes_records(makes_call)
    begin, read = takes_records(begin_reading), takes_records(read_call)
    chooser, reading = random.Random(8), np.zeros(1, READING)[0]
    compared = 0
    for seed in range(150 if COMPILED else 3):
        calls = calls_of(GAME.new_state(seed=seed, phase="play", dealer="N"))
        begin(reading)
        for k, call in enumerate(calls):
            for _ in range(4):
                cards = sum(1 << card for card in chooser.sample(range(52), 13))
                copy = reading.copy()
                chosen = choose(copy, k % 4, cards)
                for other in {call, int(chosen), 0}:
                    assert makes(copy, k % 4, cards, other) == (other == chosen)
                compared += chosen != 0
            read(reading, k, k % 4, call)
    assert compared > (1000 if COMPILED else 10)
