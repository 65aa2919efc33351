"""What a player of Leduc poker observes."""

import numpy as np

from cardenvs.core.cards import SMALL_RANKS
from cardenvs.core.kernel import kernel
from cardenvs.core.observation import Layout, Section
from cardenvs.core.seats import wrap
from cardenvs.games.leduc_poker.rules import FIRST_RANK_TOKEN, NUM_ACTIONS, rank_of

_CHIPS_HIGH = 127  # chips are clipped here


def round_decisions(options):
    """The most decisions in one round."""
    return options.num_players + (options.num_players - 1) * options.max_raises


def layout(options):
    """The observation sections, int8."""
    n, decisions = options.num_players, round_decisions(options)
    cards = tuple(
        SMALL_RANKS[k // 2] + "ab"[k % 2] if not options.suit_isomorphism else SMALL_RANKS[k]
        for k in range(n + 1 if options.suit_isomorphism else 2 * (n + 1))
    )
    words = ("fold", "call", "raise")
    history = tuple(f"{r + 1}.{k}:{word}" for r in range(2) for k in range(decisions) for word in words)
    return Layout(
        (
            Section("own_card", len(cards), "one-hot card in hand", labels=cards),
            Section("public_card", len(cards), "one-hot public card, zeros before it lies", labels=cards),
            Section("position", n, "one-hot number of the observer, counted from the starting player"),
            Section("chips_in", n, "chips in the pot, observer first, clipped at 127", high=_CHIPS_HIGH),
            Section("folded", n, "1 for each player who has folded, observer first"),
            Section("history", 2 * decisions * NUM_ACTIONS, "one-hot action of each decision", labels=history),
        )
    )


@kernel(inline=True)
def observe(s, player, out):
    """Write what `player` sees of `s` into `out`, int8 (layout.size,): own card and what is public."""
    n = s.rules.num_players
    num_cards = n + 1 if s.rules.suit_isomorphism else 2 * (n + 1)
    out[:] = 0
    out[_card_index(np.int64(s.deck[player]))] = 1
    if s.stage == 1:
        out[num_cards + _card_index(np.int64(s.deck[n]))] = 1
    position = 2 * num_cards
    out[position + wrap(player - s.rules.starting_player + n, n)] = 1
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


@kernel(inline=True)
def _card_index(token):
    return rank_of(token) if token >= FIRST_RANK_TOKEN else token
