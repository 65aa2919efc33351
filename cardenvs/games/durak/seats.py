"""Who follows whom in Durak. Paragraph numbers are those of rules.md."""

from cardenvs.core.events import NO_PLAYER
from cardenvs.core.kernel import kernel
from cardenvs.games.durak import state


@kernel
def next_player(s, player):
    """Return the next player clockwise who is in the game (3.10)."""
    player = (player + 1) % s.rules.num_players
    while not s.in_game >> player & 1:
        player = (player + 1) % s.rules.num_players
    return player


@kernel
def next_opponent(s, player):
    """Return the next player clockwise who is in the game and no partner of `player` (2.5, 6.2)."""
    other = next_player(s, player)
    while state.are_partners(s, player, other):
        other = next_player(s, other)
    return other


@kernel
def next_thrower(s, last):
    """Return who is asked to throw in after `last`, NO_PLAYER for the first; NO_PLAYER if all were asked (3.4)."""
    if last == NO_PLAYER and s.hands[s.primary]:
        return s.primary
    player = s.defender if last == NO_PLAYER or last == s.primary else last
    while True:
        player = (player + 1) % s.rules.num_players
        if player == s.defender:
            return NO_PLAYER
        if player != s.primary and s.hands[player] and _may_throw_in(s, player):
            return player


@kernel
def _may_throw_in(s, player):
    """Return whether a player besides the primary attacker may throw in at all (3.5, 6.2)."""
    if state.are_partners(s, player, s.defender):
        return False
    if s.rules.throw_in_by == state.ALL_ATTACKERS:
        return True
    return player == next_player(s, s.defender) or next_player(s, player) == s.defender
