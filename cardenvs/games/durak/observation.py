"""The observation of Durak."""

import numpy as np

from cardenvs.core.cards import CARD_LABELS, NUM_CARDS, RANKS, SUITS, count_bits
from cardenvs.core.kernel import kernel
from cardenvs.core.observation import Layout, Section
from cardenvs.games.durak import state

# Thermometers: entry k is 1 if the quantity is at least the k-th step.
_HAND_STEPS = np.array((*range(1, 13), 14, 16, 18, 20, 24, 28, 32, 40))
_TALON_STEPS = np.array((*range(1, 13), 14, 16, 18, 20, 22, 24, 28, 32, 36, 40))
_ATTACK_STEPS = np.arange(1, state.MAX_TABLE + 1)
_TENTHS = np.arange(1, 10)
_SEATS = tuple(f"seat {k}" for k in range(state.MAX_PLAYERS))


def _cards(name, doc, high=1):
    return Section(name, NUM_CARDS, doc, high=high, labels=CARD_LABELS)


def _thermometer(name, steps, doc):
    return Section(name, len(steps), f"{doc}: 1 for each step reached", labels=tuple(f">={step}" for step in steps))


_COMMON = Layout(
    (
        _cards("own_hand", "the cards in hand"),
        _cards("own_known", "of these, the ones that everybody has seen"),
        _cards("attack", "attack cards on the table, 1: beaten, 2: not beaten", high=2),
        _cards("to_beat", "one-hot attack card that the defender must beat next"),
        _cards("defence", "cards on the table that beat others"),
        _cards("discards", "cards of repelled bouts, out of play"),
        _cards("turn_up", "one-hot card under the talon, zeros once it is drawn"),
        Section("trump", len(SUITS), "one-hot trump suit", labels=tuple(SUITS)),
        Section("own_trumps", len(RANKS), "the ranks of the trumps in hand", labels=tuple(RANKS)),
        Section(
            "opening_trump", len(RANKS), "one-hot rank of the trump shown for the first attack", labels=tuple(RANKS)
        ),
        Section("shown", len(RANKS), "ranks of the trumps that have been shown to transfer", labels=tuple(RANKS)),
        Section("phase", len(state.PHASES), "one-hot phase, zeros when the game is over", labels=state.PHASES),
        _thermometer("talon", _TALON_STEPS, "cards that can still be drawn"),
        _thermometer("attack_left", _ATTACK_STEPS, "attack cards that may still be played in this bout"),
        _thermometer("bouts", _TENTHS, "tenths of max_bouts that are over"),
    )
)
(
    _OWN_HAND,
    _OWN_KNOWN,
    _ATTACK,
    _TO_BEAT,
    _DEFENCE,
    _DISCARDS,
    _TURN_UP,
    _TRUMP,
    _OWN_TRUMPS,
    _OPENING_TRUMP,
    _SHOWN,
    _PHASE,
    _TALON,
    _ATTACK_LEFT,
    _BOUTS,
) = _COMMON.starts
_PLAYERS = _COMMON.size  # where the sections begin whose size depends on the number of players


def layout(options):
    """Return the observation sections, int8; those with an entry per player put the observer first."""
    n = options.num_players
    others = [_cards(f"known_{k}", f"cards known to be in the hand of seat {k}") for k in range(1, n)]
    sizes = [_thermometer(f"hand_size_{k}", _HAND_STEPS, f"cards in the hand of seat {k}") for k in range(n)]
    roles = [
        Section("in_game", n, "1 for each player who was in the game when the bout began", labels=_SEATS[:n]),
        Section("primary", n, "one-hot primary attacker", labels=_SEATS[:n]),
        Section("defender", n, "one-hot defender", labels=_SEATS[:n]),
        Section("to_act", n, "one-hot player to act, zeros when the game is over", labels=_SEATS[:n]),
    ]
    return Layout((*_COMMON.sections, *others, *sizes, *roles))


@kernel
def observe(s, player, out):
    """Write the observation of `player` into `out`, int8 (layout.size,): own cards, cards seen, public figures."""
    out[:] = 0
    hand = s.hands[player]
    _mark_bits(hand, NUM_CARDS, _OWN_HAND, out)
    _mark_bits(s.known[player], NUM_CARDS, _OWN_KNOWN, out)
    _mark_bits(s.discards, NUM_CARDS, _DISCARDS, out)
    _mark_bits(hand >> s.trump * state.NUM_RANKS, state.NUM_RANKS, _OWN_TRUMPS, out)
    _mark_bits(s.shown >> s.trump * state.NUM_RANKS, state.NUM_RANKS, _SHOWN, out)
    if s.attack:
        _observe_table(s, out)
    if s.turn_up != state.NO_CARD:
        out[_TURN_UP + s.turn_up] = 1
    out[_TRUMP + s.trump] = 1
    if s.opening_trump != state.NO_CARD:
        out[_OPENING_TRUMP + s.opening_trump % state.NUM_RANKS] = 1
    if not s.terminal:
        out[_PHASE + s.phase] = 1
    _mark_steps(state.num_talon(s), _TALON_STEPS, _TALON, out)
    _mark_steps(s.most_attack - s.num_attack, _ATTACK_STEPS, _ATTACK_LEFT, out)
    _mark_steps(10 * s.num_bouts // s.rules.max_bouts, _TENTHS, _BOUTS, out)
    _observe_players(s, player, out)


@kernel
def _observe_table(s, out):
    for k in range(s.num_attack):
        out[_ATTACK + s.attack_cards[k]] = 1 if k < s.num_beaten else 2
    for k in range(s.num_beaten):
        out[_DEFENCE + s.defence_cards[k]] = 1
    if s.num_beaten < s.num_attack:
        out[_TO_BEAT + s.attack_cards[s.num_beaten]] = 1


@kernel
def _observe_players(s, player, out):
    """Write the sections that have parts for each player, the observer first."""
    n = s.rules.num_players
    start = _PLAYERS
    for seat in range(1, n):
        _mark_bits(s.known[(player + seat) % n], NUM_CARDS, start, out)
        start += NUM_CARDS
    for seat in range(n):
        _mark_steps(count_bits(s.hands[(player + seat) % n]), _HAND_STEPS, start, out)
        start += len(_HAND_STEPS)
    for seat in range(n):
        out[start + seat] = s.in_game >> (player + seat) % n & 1
    out[start + n + (s.primary - player) % n] = 1
    out[start + 2 * n + (s.defender - player) % n] = 1
    if not s.terminal:
        out[start + 3 * n + (s.current_player - player) % n] = 1


@kernel(inline=True)
def _mark_bits(bits, number, start, out):
    """Write the lowest `number` bits of a set."""
    for k in range(number):
        out[start + k] = bits >> k & 1


@kernel
def _mark_steps(quantity, steps, start, out):
    for k in range(steps.shape[0]):
        out[start + k] = quantity >= steps[k]
