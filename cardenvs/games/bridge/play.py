"""The play of the cards. Paragraph numbers are those of rules.md."""

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.kernel import kernel
from cardenvs.games.bridge import table
from cardenvs.games.bridge.cards import TRICKS, dummy_of, trick_winner
from cardenvs.games.bridge.settling import end_deal
from cardenvs.games.bridge.state import NUM_TRICKS
from cardenvs.kits.cards import lowest_card

_play, _gather = TRICKS.play, TRICKS.gather


@kernel(inline=True)
def play_card(s, card, log):
    """Play a card from the hand whose turn it is; the fourth ends the trick (4)."""
    player = np.int64(s.turn)
    _play(s, player, card, log)
    if not s.is_faced:
        _face_dummy(s, log)
    if (player + 1) & 3 == s.leader:
        _end_trick(s, log)
    else:
        _give_turn(s, (player + 1) & 3)


@kernel(inline=True)
def _give_turn(s, player):
    """It is the turn of `player`, for whom declarer decides if it is dummy (4.4)."""
    s.turn = player
    s.current_player = s.declarer if player == dummy_of(s) else player


@kernel(inline=True)
def _face_dummy(s, log):
    """Show all cards of dummy (4.1)."""
    s.is_faced = 1
    dummy = dummy_of(s)
    cards = s.hands[dummy]
    while cards:
        ev.log_event(
            log, table.FACES, dummy, lowest_card(cards), table.HAND + dummy, ev.NO_PLACE, 1, ev.EVERYBODY, ev.EVERYBODY
        )
        cards &= cards - 1


@kernel(inline=True)
def _end_trick(s, log):
    """The winner takes the trick and leads to the next, unless it was the last (4.3)."""
    winner = trick_winner(s)
    s.winners[s.trick] = winner
    s.tricks_won[winner & 1] += 1
    s.trick += 1
    _gather(s, winner, log)
    ev.log_note(log, table.WINS_TRICK, winner, s.trick)
    ev.log_set(log, table.HAS_TRICKS, winner & 1, table.SIDE_TRICKS + (winner & 1), s.tricks_won[winner & 1])
    s.leader = winner
    _give_turn(s, winner)
    if s.trick == NUM_TRICKS:
        end_deal(s, np.int64(s.tricks_won[s.declarer & 1]), log)
