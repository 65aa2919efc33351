"""What a player of Leduc poker observes."""

from cardenvs.core.cards import SMALL_RANKS
from cardenvs.core.kernel import kernel
from cardenvs.core.observation import Layout, Section
from cardenvs.core.seats import wrap
from cardenvs.games.leduc_poker.rules import NUM_ACTIONS, round_decisions

_CHIPS_HIGH = 127  # chips are clipped here


def layout(options):
    """The observation sections, int8."""
    n, decisions = options.num_players, round_decisions(options)
    ranks = SMALL_RANKS[: n + 1]
    words = ("fold", "call", "raise")
    history = tuple(f"{r + 1}.{k}:{word}" for r in range(2) for k in range(decisions) for word in words)
    return Layout(
        (
            Section("own_card", n + 1, "one-hot rank of the card in hand", labels=ranks),
            Section("public_card", n + 1, "one-hot rank of the public card, zeros before it lies", labels=ranks),
            Section("position", n, "one-hot number of the observer; player 0 acts first"),
            Section("chips_in", n, "chips in the pot, observer first, clipped at 127", high=_CHIPS_HIGH),
            Section("folded", n, "1 for each player who has folded, observer first"),
            Section("history", 2 * decisions * NUM_ACTIONS, "one-hot action of each decision", labels=history),
        )
    )


@kernel(inline=True)
def observe(s, player, out):
    """Write what `player` sees of `s` into `out`, int8 (layout.size,): own card and what is public."""
    n = s.rules.num_players
    out[:] = 0
    out[s.deck[player]] = 1
    if s.stage == 1:
        out[n + 1 + s.deck[n]] = 1
    position = 2 * (n + 1)
    out[position + player] = 1
    chips = position + n
    folded = chips + n
    for seat in range(n):
        other = wrap(player + seat, n)
        out[chips + seat] = min(s.chips_in[other], _CHIPS_HIGH)
        out[folded + seat] = s.folded[other]
    history = folded + n
    decisions = n + (n - 1) * s.rules.max_raises
    for r in range(2):
        for k in range(s.num_decisions[r]):
            out[history + (r * decisions + k) * NUM_ACTIONS + s.history[r, k]] = 1
