"""The auction, and the game that the soloist names. Paragraph numbers are those of rules.md."""

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.events import NO_PLAYER
from cardenvs.core.kernel import kernel
from cardenvs.core.seats import wrap
from cardenvs.games.skat import state
from cardenvs.games.skat.cards import null_value
from cardenvs.games.skat.state import (
    ANNOUNCE,
    ANNOUNCE_0,
    GRAND,
    LAY_AWAY,
    NAME_0,
    NAME_GAME,
    NOTHING,
    NULL,
    NUM_PLAYERS,
    NUM_VALUES,
    OPENSPIEL,
    OUVERT,
    PASS,
    PLAY,
    SKAT,
    SKAT_SIZE,
    TAKE,
    VALUE_0,
    VALUES,
    YES,
)
from cardenvs.kits.cards import count_bits, lowest_card
from cardenvs.kits.listing import list_bits


@kernel(inline=True)
def forehand(s):
    """Return the player left of the dealer (2.1)."""
    return wrap(s.dealer + 1, NUM_PLAYERS)


@kernel(inline=True)
def rearhand(s):
    """Return the dealer, who speaks last (2.1)."""
    return np.int64(s.dealer)


@kernel(inline=True)
def highest_bid(s):
    """Return the number of the highest value named so far, 0 if there is none."""
    return np.int64(max(s.bids[0], s.bids[1], s.bids[2]))


@kernel(inline=True)
def bid_of_soloist(s):
    """Return the value at which the soloist plays (3.4)."""
    return np.int64(VALUES[s.bids[s.soloist]])


# ---------------------------------------------------------------------------------------------------------------
# The auction


@kernel
def begin_auction(s):
    """Middlehand speaks to forehand, or with bidding=openspiel everybody once, forehand first (3.1, 10.1)."""
    first = forehand(s)
    if s.rules.bidding == OPENSPIEL:
        s.speaker, s.listener = first, NO_PLAYER
    else:
        s.speaker, s.listener = wrap(first + 1, NUM_PLAYERS), first
    s.current_player = s.speaker


@kernel
def may_name(s):
    """Return the lowest and the highest value that the speaker may name, by number (3.2, 3.4)."""
    first = highest_bid(s) + 1
    if s.listener == NO_PLAYER or not s.rules.jump_bids:
        return first, min(first, NUM_VALUES)
    return first, NUM_VALUES


@kernel
def list_words(s, out):
    """List what the player to act may say in the auction."""
    out[0] = PASS
    n = 1
    if s.current_player == s.listener:
        out[n] = YES
        n += 1
    elif s.rules.bidding == OPENSPIEL:
        n = list_bits(np.int64((2 << NULL) - 1), NAME_0, out, n)
    else:
        first, last = may_name(s)
        for bid in range(first, last + 1):
            out[n] = VALUE_0 + bid - 1
            n += 1
    return n


@kernel
def explain_word(s, action):
    """Return 0 if an action is legal in the auction, else one of the codes of state.py."""
    if action == PASS:
        return 0
    if s.rules.bidding == OPENSPIEL:
        return 0 if NAME_0 <= action < ANNOUNCE_0 else state.MUST_NAME_OR_PASS
    if s.current_player == s.listener:
        return 0 if action == YES else state.MUST_ANSWER
    if not VALUE_0 <= action < TAKE:
        return state.MUST_SPEAK
    bid, (first, last) = action - VALUE_0 + 1, may_name(s)
    if bid < first:
        return state.TOO_LOW
    if bid <= last:
        return 0
    return state.FIRST_ONLY if s.listener == NO_PLAYER else state.NEXT_ONLY


@kernel
def speak(s, action, log):
    """Say a word of the auction. Return the soloist if that ends it, NO_PLAYER if it goes on or all have passed."""
    player = np.int64(s.current_player)
    if action == PASS:
        s.passed[player] = 1
        ev.log_note(log, state.PASSES, player, 0)
        return _after_pass(s, player)
    if action == YES:
        _commit(s, player, highest_bid(s), state.HOLDS, log)
        s.current_player = s.speaker
        return np.int64(NO_PLAYER)
    if s.rules.bidding == OPENSPIEL:
        return player
    _commit(s, player, action - VALUE_0 + 1, state.BIDS, log)
    if s.listener == NO_PLAYER:
        return player
    s.current_player = s.listener
    return np.int64(NO_PLAYER)


@kernel(inline=True)
def _commit(s, player, bid, kind, log):
    s.bids[player] = bid
    ev.log_set(log, kind, player, state.BID + player, VALUES[bid])


@kernel
def _after_pass(s, player):
    """Let the next one speak; return the soloist if there is one now (3.3, 3.4)."""
    if s.rules.bidding == OPENSPIEL:
        s.speaker = s.current_player = wrap(player + 1, NUM_PLAYERS)
        return np.int64(NO_PLAYER)
    if s.listener == NO_PLAYER:
        return np.int64(NO_PLAYER)
    survivor = np.int64(s.speaker if player == s.listener else s.listener)
    if count_passed(s) == 1:
        s.speaker, s.listener = rearhand(s), survivor
    elif s.bids[survivor]:
        return survivor
    else:
        s.speaker, s.listener = survivor, NO_PLAYER
    s.current_player = s.speaker
    return np.int64(NO_PLAYER)


@kernel(inline=True)
def count_passed(s):
    """Return how many players have passed."""
    return np.int64(s.passed[0]) + s.passed[1] + s.passed[2]


# ---------------------------------------------------------------------------------------------------------------
# Before the first trick


@kernel(inline=True)
def best_null_value(s):
    """Return the highest value of a null game that the soloist can name now (4.5)."""
    return null_value(not s.took_skat, True)


@kernel(inline=True)
def may_name_null(s):
    """Return whether null is worth the bid, if need be as ouvert (4.5)."""
    return best_null_value(s) >= bid_of_soloist(s)


@kernel(inline=True)
def may_announce_nothing(s):
    """Return whether the game may be played without an announcement (4.5)."""
    return s.game != NULL or null_value(not s.took_skat, False) >= bid_of_soloist(s)


@kernel
def list_games(s, out):
    """List the games that the soloist may name (4.3, 4.5)."""
    return list_bits(np.int64((2 << (NULL if may_name_null(s) else GRAND)) - 1), NAME_0, out, 0)


@kernel
def list_announcements(s, out):
    """List what the soloist may announce (4.4, 4.5)."""
    levels = np.int64(1 << NOTHING | 1 << OUVERT) if s.game == NULL else np.int64((2 << OUVERT) - 1)
    return list_bits(levels if may_announce_nothing(s) else levels & ~np.int64(1 << NOTHING), ANNOUNCE_0, out, 0)


@kernel
def explain_game(s, action):
    """Return 0 if the soloist may name a game, else one of the codes of state.py."""
    if not NAME_0 <= action < ANNOUNCE_0:
        return state.MUST_NAME
    return 0 if action - NAME_0 != NULL or may_name_null(s) else state.NULL_TOO_LOW


@kernel
def explain_announcement(s, action):
    """Return 0 if the soloist may announce this, else one of the codes of state.py."""
    if action < ANNOUNCE_0:
        return state.MUST_ANNOUNCE
    level = action - ANNOUNCE_0
    if s.game == NULL and NOTHING < level < OUVERT:
        return state.NULL_LEVELS
    return 0 if level != NOTHING or may_announce_nothing(s) else state.NULL_NEEDS_OUVERT


@kernel(inline=True)
def set_soloist(s, player, log):
    """Let a player choose whether to take the skat (4.1)."""
    s.soloist = s.current_player = player
    s.phase = SKAT
    ev.log_set(log, state.IS_SOLOIST, player, state.SOLOIST, player)


@kernel
def take_skat(s, log):
    """The soloist takes the skat, and lays two cards away next (4.2)."""
    player = np.int64(s.soloist)
    s.took_skat = 1
    s.hands[player] |= s.skat
    while s.skat:
        card = lowest_card(s.skat)
        s.skat &= s.skat - 1
        ev.log_move(log, state.TAKES, player, card, state.SKAT_PILE, state.HAND_PILE + player, 1 << player)
    s.phase = LAY_AWAY


@kernel(inline=True)
def play_hand(s, log):
    """The soloist leaves the skat (4.2)."""
    ev.log_note(log, state.PLAYS_HAND, s.soloist, 0)
    s.phase = NAME_GAME


@kernel(inline=True)
def lay_away(s, card, log):
    """The soloist lays a card away; with bidding=openspiel the game has been named before (4.2, 10.1)."""
    player = np.int64(s.soloist)
    s.hands[player] ^= np.int64(1) << card
    s.skat |= np.int64(1) << card
    ev.log_move(log, state.LAYS_AWAY, player, card, state.HAND_PILE + player, state.SKAT_PILE, 1 << player)
    if count_bits(s.skat) == SKAT_SIZE:
        if s.rules.bidding == OPENSPIEL:
            _begin_play(s)
        else:
            s.phase = NAME_GAME


@kernel
def name_game(s, game, log):
    """The soloist names a game; what is announced follows, if anything may be (4.3, 4.4)."""
    player = np.int64(s.soloist)
    s.game = game
    ev.log_set(log, state.NAMES, player, state.GAME, game + 1)
    if s.took_skat and game != NULL:
        _begin_play(s)
    else:
        s.phase = ANNOUNCE


@kernel
def announce(s, level, log):
    """The soloist announces a level, and shows the hand if it is ouvert (4.4)."""
    player = np.int64(s.soloist)
    s.announced = level
    ev.log_set(log, state.ANNOUNCES, player, state.ANNOUNCED, level)
    if level == OUVERT:
        cards = s.hands[player]
        while cards:
            ev.log_reveal(log, state.SHOWS, player, lowest_card(cards), state.HAND_PILE + player, 1, ev.EVERYBODY)
            cards &= cards - 1
    _begin_play(s)


@kernel(inline=True)
def _begin_play(s):
    """Forehand leads to the first trick (5.1)."""
    s.phase = PLAY
    s.current_player = s.leader
