"""The order in which the cards of a world were dealt, so that it can be played again from the deal."""

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.state import State
from cardenvs.games.hanabi import state as st

_DEALS = (st.DEALT, st.DRAWS)
_LEAVES = (st.PLAYS, st.MISPLAYS, st.DISCARDS_CARD)


def dealing_order(twin: State, records: np.ndarray) -> np.ndarray:
    """Return the explicit decks of worlds of the player to act in `twin`; see `Game.dealing_order`."""
    player = twin.current_player
    dealt: list[int] = []
    hand: list[int] = []  # where the player's cards are in `dealt`, oldest first
    for row in twin.event_rows(player).tolist():
        if row[ev.KIND] in _DEALS:
            if row[ev.PLAYER] == player:
                hand.append(len(dealt))
            dealt.append(row[ev.TOKEN])
        elif row[ev.KIND] in _LEAVES and row[ev.PLAYER] == player:
            dealt[hand.pop(row[ev.VALUE])] = row[ev.TOKEN]
    decks = np.tile(np.array(dealt, np.int16), (len(records), 1))
    decks[:, hand] = records["hands"][:, player, : len(hand)]
    stock = records["deck"][:, len(dealt) : len(twin.game.deck(twin.options))]
    return np.concatenate([decks, stock.astype(np.int16)], 1)
