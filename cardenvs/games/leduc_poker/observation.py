"""What a player of Leduc poker observes."""

from cardenvs.core.kernel import kernel
from cardenvs.games.leduc_poker.rules import NUM_ACTIONS, STATE
from cardenvs.kits.sections import Observation, number, one_hot, own_seat, per_seat, written
from cardenvs.kits.small_cards import SMALL_RANKS

_CHIPS_HIGH = 127  # chips are clipped here
_WORDS = ("fold", "call", "raise")


def _num_ranks(options):
    return options.num_players + 1


def _ranks(size):
    return SMALL_RANKS[:size]


@kernel(inline=True)
def _public_card(s, p):
    return s.deck[s.rules.num_players] if s.stage == 1 else -1


def _history_size(options):
    """Two rounds in which all act once, and all others once more after each raise."""
    return 2 * NUM_ACTIONS * (options.num_players + (options.num_players - 1) * options.max_raises)


_size_of_history = kernel(_history_size, inline=True)


def _decisions(size):
    numbers = range(size // 2 // NUM_ACTIONS)
    return [f"{r + 1}.{k}:{word}" for r in range(2) for k in numbers for word in _WORDS]


@kernel(inline=True)
def _write_history(s, p, out, at):
    for r in range(2):
        for k in range(s.num_decisions[r]):
            out[at + NUM_ACTIONS * k + s.history[r, k]] = 1
        at += _size_of_history(s.rules) // 2


OBSERVATION = Observation(
    STATE,
    one_hot("own_card", _ranks, "one-hot rank of the card in hand", "deck", size=_num_ranks),
    one_hot("public_card", _ranks, "one-hot rank of the public card, zeros before it lies", _public_card,
            size=_num_ranks),
    one_hot("position", None, "one-hot number of the observer; player 0 acts first", own_seat, size="num_players"),
    per_seat(number("chips_in", f"chips in the pot, clipped at {_CHIPS_HIGH}", "chips_in", clip=_CHIPS_HIGH)),
    per_seat(number("folded", "1 for each player who has folded", "folded")),
    written("history", _decisions, "one-hot action of each decision", _write_history, size=_history_size),
)  # fmt: skip
