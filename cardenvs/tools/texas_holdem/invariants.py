"""What holds in every state of a match of Texas hold'em, whoever plays."""

import numpy as np

from cardenvs.core.errors import ImpossibleStateError
from cardenvs.core.events import SPECTATOR
from cardenvs.games.texas_holdem.play import TexasHoldemState
from cardenvs.kits.cards import NUM_CARDS


def check_possible(state: TexasHoldemState, chips: int) -> None:
    """Check the invariants of a state of a match with this number of chips.

    Raises:
        ImpossibleStateError: names the broken invariant, with the numbers.
    """
    s, n = state.record, state.num_players
    stacks, put_in, bets = s.stacks[:n], s.chips_in[:n], s.bets[:, :n]
    _must(stacks.sum() + s.pot == chips, f"stacks {stacks.tolist()} and pot {s.pot} should add up to {chips}")
    _must((stacks >= 0).all() and s.pot >= 0, f"no stack may be negative: {stacks.tolist()}, pot {s.pot}")
    _must(
        (bets >= 0).all() and (bets.sum(axis=0) <= put_in).all(),
        f"bets {bets.tolist()} go beyond what was put in: {put_in.tolist()}",
    )
    _must(sorted(s.deck.tolist()) == list(range(NUM_CARDS)), f"the deck is not the 52 cards: {s.deck.tolist()}")
    _must(s.in_hand & ~s.dealt == 0, "a player is in the hand who was not dealt in")
    _must(s.can_act & ~s.in_hand == 0, "a player can act who is not in the hand")
    _must(s.pending & ~s.can_act == 0, "a player is to act who cannot")
    if state.is_terminal:
        _must(s.pot == 0, f"the match is over and {s.pot} chips are in the pot")
        return
    _must(put_in.sum() == s.pot, f"the pot is {s.pot}, and {put_in.tolist()} was put in")
    broke = [p for p in range(n) if s.can_act >> p & 1 and stacks[p] == 0]
    _must(not broke, f"players {broke} can act without chips")
    _must(bool(s.pending >> state.current_player & 1), f"player_{state.current_player} is to act out of turn")
    _must(bool(state.legal_actions()), f"player_{state.current_player} has no legal action")


def _must(holds: bool | np.bool_, broken: str) -> None:
    if not holds:
        raise ImpossibleStateError(broken)


def check_events(state: TexasHoldemState) -> None:
    """Check for every viewer that the events lead to the final table.

    Raises:
        ImpossibleStateError: names the differences.
    """
    for viewer in (SPECTATOR, *range(state.num_players)):
        wrong = state.folded_table(viewer).differences(state.table(viewer))
        _must(not wrong, f"the events of viewer {viewer} lead to another table than the final one: {wrong}")
