"""What a player of Kuhn poker observes."""

from cardenvs.core.kernel import kernel
from cardenvs.games.kuhn_poker.rules import STATE
from cardenvs.kits.sections import Observation, number, one_hot, own_seat, per_seat, written
from cardenvs.kits.small_cards import SMALL_RANKS


def _decisions(size):
    return [f"{k}:{word}" for k in range(size // 2) for word in ("pass", "bet")]


@kernel(inline=True)
def _write_history(s, p, out, at):
    for k in range(s.num_decisions):
        out[at + 2 * k + (s.bet_bits >> k & 1)] = 1


OBSERVATION = Observation(
    STATE,
    one_hot("own_card", lambda size: SMALL_RANKS[:size], "one-hot rank of the card in hand", "deck",
            size=lambda options: options.num_players + 1),
    one_hot("position", None, "one-hot number of the observer; player 0 acts first", own_seat, size="num_players"),
    per_seat(number("chips_in", "chips each player has in the pot", "chips_in", low=1, high=2)),
    written("history", _decisions, "for each decision so far, one-hot: pass, bet", _write_history,
            size=lambda options: 2 * (2 * options.num_players - 1)),
)  # fmt: skip
