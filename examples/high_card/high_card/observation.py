"""What a player of High Card observes."""

from cardenvs.core.kernel import kernel
from cardenvs.core.observation import Layout, Section

from high_card.rules import NOT_SWAPPED, NUM_CARDS, NUM_PLAYERS, held

RANKS = tuple("23456789TJQKA")

LAYOUT = Layout(
    (
        Section("own_card", NUM_CARDS, "one-hot rank of the card in hand", labels=RANKS),
        Section("own_aside", NUM_CARDS, "one-hot rank of the card set aside, zeros if none", labels=RANKS),
        Section("swapped", NUM_PLAYERS, "1 for each player who has swapped, observer first"),
        Section("acts_first", 1, "1 if the observer acts before the other"),
    )
)
_OWN_CARD, _OWN_ASIDE, _SWAPPED, _ACTS_FIRST = LAYOUT.starts


def layout(options):
    """The observation sections, int8, the same for all options."""
    return LAYOUT


@kernel(inline=True)
def observe(s, player, out):
    """Write what `player` sees of `s` into `out`, int8 (LAYOUT.size,): own cards and what is public."""
    out[:] = 0
    out[_OWN_CARD + held(s, player)] = 1
    if s.drawn_at[player] != NOT_SWAPPED:
        out[_OWN_ASIDE + s.deck[player]] = 1
    for seat in range(NUM_PLAYERS):
        owner = (player + seat) % NUM_PLAYERS
        if s.drawn_at[owner] != NOT_SWAPPED:
            out[_SWAPPED + seat] = 1
    if player == 0:
        out[_ACTS_FIRST] = 1
