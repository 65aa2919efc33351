"""The observation of Durak."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.durak import state
from cardenvs.kits.cards import CARD_LABELS, RANKS, SUITS, count_bits
from cardenvs.kits.sections import Observation, cards, number, one_hot, one_seat, per_seat, steps, written

_HAND_STEPS = np.array((*range(1, 13), 14, 16, 18, 20, 24, 28, 32, 40))
_TALON_STEPS = np.array((*range(1, 13), 14, 16, 18, 20, 22, 24, 28, 32, 36, 40))
_ATTACK_STEPS = np.arange(1, state.MAX_TABLE + 1)
_TENTHS = np.arange(1, 10)
_ALL_RANKS = (1 << state.NUM_RANKS) - 1


@kernel(inline=True)
def _write_attack(s, p, out, at):
    for k in range(s.num_attack if s.attack else 0):
        out[at + s.attack_cards[k]] = 1 if k < s.num_beaten else 2


@kernel(inline=True)
def _to_beat(s, p):
    return s.attack_cards[s.num_beaten] if s.attack and s.num_beaten < s.num_attack else -1


@kernel(inline=True)
def _own_trumps(s, p):
    return s.hands[p] >> s.trump * state.NUM_RANKS & _ALL_RANKS


@kernel(inline=True)
def _opening_trump(s, p):
    return s.opening_trump % state.NUM_RANKS if s.opening_trump != state.NO_CARD else -1


@kernel(inline=True)
def _shown(s, p):
    return s.shown >> s.trump * state.NUM_RANKS & _ALL_RANKS


@kernel(inline=True)
def _phase(s, p):
    return -1 if s.terminal else s.phase


@kernel(inline=True)
def _talon(s, p):
    return state.num_talon(s)


@kernel(inline=True)
def _attack_left(s, p):
    return s.most_attack - s.num_attack


@kernel(inline=True)
def _bouts(s, p):
    return 10 * s.num_bouts // s.rules.max_bouts


@kernel(inline=True)
def _hand_size(s, p):
    return count_bits(s.hands[p])


@kernel(inline=True)
def _in_game(s, p):
    return s.in_game >> p & 1


OBSERVATION = Observation(
    state.STATE,
    cards("own_hand", CARD_LABELS, "the cards in hand", "hands"),
    cards("own_known", CARD_LABELS, "of these, the ones that everybody has seen", "known"),
    written("attack", CARD_LABELS, "attack cards on the table, 1: beaten, 2: not beaten", _write_attack, high=2),
    one_hot("to_beat", CARD_LABELS, "one-hot attack card that the defender must beat next", _to_beat),
    cards("defence", CARD_LABELS, "cards on the table that beat others", "defence"),
    cards("discards", CARD_LABELS, "cards of repelled bouts, out of play", "discards"),
    one_hot("turn_up", CARD_LABELS, "one-hot card under the talon, zeros once it is drawn", "turn_up"),
    one_hot("trump", SUITS, "one-hot trump suit", "trump"),
    cards("own_trumps", RANKS, "the ranks of the trumps in hand", _own_trumps),
    one_hot("opening_trump", RANKS, "one-hot rank of the trump shown for the first attack", _opening_trump),
    cards("shown", RANKS, "ranks of the trumps that have been shown to transfer", _shown),
    one_hot("phase", state.PHASES, "one-hot phase, zeros when the game is over", _phase),
    steps("talon", "cards that can still be drawn", _TALON_STEPS, _talon),
    steps("attack_left", "attack cards that may still be played in this bout", _ATTACK_STEPS, _attack_left),
    steps("bouts", "tenths of max_bouts that are over", _TENTHS, _bouts),
    per_seat(cards("known", CARD_LABELS, "cards known to be in the hand of seat {}", "known"), first=1, apart=True),
    per_seat(steps("hand_size", "cards in the hand of seat {}", _HAND_STEPS, _hand_size), apart=True),
    per_seat(number("in_game", "1 for each player who was in the game when the bout began", _in_game)),
    one_seat("primary", "the primary attacker", "primary"),
    one_seat("defender", "the defender", "defender"),
    one_seat("to_act", "the player to act", "current_player"),
)
