"""What a player of Kuhn poker observes."""

from cardenvs.core.cards import SMALL_RANKS
from cardenvs.core.kernel import kernel
from cardenvs.core.observation import Layout, Section
from cardenvs.core.seats import wrap


def layout(options):
    """The observation sections, int8."""
    n = options.num_players
    decisions = 2 * n - 1
    history = tuple(f"{k}:{word}" for k in range(decisions) for word in ("pass", "bet"))
    return Layout(
        (
            Section("own_card", n + 1, "one-hot rank of the card in hand", labels=SMALL_RANKS[: n + 1]),
            Section("position", n, "one-hot number of the observer; player 0 acts first"),
            Section("chips_in", n, "chips each player has in the pot, observer first", low=1, high=2),
            Section("history", 2 * decisions, "for each decision so far, one-hot: pass, bet", labels=history),
        )
    )


@kernel(inline=True)
def observe(s, player, out):
    """Write what `player` sees of `s` into `out`, int8 (layout.size,): own card and what is public."""
    n = s.rules.num_players
    out[:] = 0
    out[s.deck[player]] = 1
    out[n + 1 + player] = 1
    chips = 2 * n + 1
    for seat in range(n):
        out[chips + seat] = s.chips_in[wrap(player + seat, n)]
    history = chips + n
    for k in range(s.num_decisions):
        out[history + 2 * k + ((s.bet_bits >> k) & 1)] = 1
