"""What a player of Dou Dizhu observes."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.dou_dizhu import state
from cardenvs.games.dou_dizhu.cards import ALL_CARDS, BIT_LABELS, MOST_HELD, RANKS, as_bits
from cardenvs.games.dou_dizhu.plays import KINDS, cards_of_play, kind_of
from cardenvs.kits.sections import Observation, cards, number, one_hot, one_seat, per_seat, steps

_SIZE_STEPS = np.arange(1, MOST_HELD + 1)
_DOUBLING_STEPS = np.arange(1, 6)
_PLAY_STEPS = np.arange(1, 3)
_WORDS = ("pass", "bid 1", "bid 2", "bid 3")


def _sets(name, doc, source):
    """Return a section of a set of cards: for each rank but the jokers four entries, of which as many are 1 as there
    are cards; then the jokers.
    """
    return cards(name, BIT_LABELS, f"{doc}: ones for as many cards of each rank", source)


@kernel(inline=True)
def _own_hand(s, p):
    return as_bits(s.hands[p])


@kernel(inline=True)
def _unseen(s, p):
    return as_bits(ALL_CARDS - s.hands[p] - s.played[0] - s.played[1] - s.played[2])


@kernel(inline=True)
def _extra(s, p):
    return as_bits(s.extra) if s.phase == state.PLAY else np.int64(0)


@kernel(inline=True)
def _known(s, p):
    return as_bits(s.known[p])


@kernel(inline=True)
def _played(s, p):
    return as_bits(s.played[p])


@kernel(inline=True)
def _on_table(s, p):
    return as_bits(cards_of_play(s.on_table[p])) if s.on_table[p] != state.NO_PLAY else np.int64(0)


@kernel(inline=True)
def _kind_to_beat(s, p):
    return kind_of(s.to_beat) if s.to_beat != state.NO_PLAY else np.int64(-1)


@kernel(inline=True)
def _phase(s, p):
    return -1 if s.terminal else s.phase


OBSERVATION = Observation(
    state.STATE,
    _sets("own_hand", "cards in the own hand", _own_hand),
    _sets("unseen", "cards that are neither in the own hand nor played", _unseen),
    _sets("extra", "the cards left over, once they are shown", _extra),
    per_seat(_sets("known", "cards that all know in a hand", _known)),
    per_seat(_sets("played", "cards that a player has played", _played)),
    per_seat(_sets("on_table", "the last play of a player in this trick", _on_table)),
    per_seat(steps("hand_size", "cards in a hand", _SIZE_STEPS, "hand_sizes")),
    per_seat(number("passed", "1 for each player who has passed since then", "passed")),
    one_hot("kind", KINDS, "one-hot kind of the play to beat, zeros when leading", _kind_to_beat),
    one_seat("author", "who made the play to beat", "author"),
    one_hot("phase", state.PHASES, "one-hot phase, zeros when the game is over", _phase),
    one_seat("landlord", "the landlord", "landlord"),
    per_seat(one_hot("word", _WORDS, "one-hot last word in the auction", "bids")),
    one_hot("bid", ("0", "1", "2", "3"), "one-hot highest bid", "bid"),
    one_hot("face_up", tuple(RANKS), "one-hot rank of the card that was turned up", "face_up"),
    one_seat("face_holder", "who was dealt the card that was turned up", "face_holder"),
    steps("doublings", "bombs and rockets played", _DOUBLING_STEPS, "doublings"),
    per_seat(steps("plays", "plays of a player in this game", _PLAY_STEPS, "num_plays")),
    number("deals", "deals begun: all have passed in each but the last", "num_deals", high=state.MAX_DEALS),
    one_seat("to_act", "the player to act", "current_player"),
    players=state.NUM_PLAYERS,
)  # fmt: skip
