"""Rules of Hearts. Paragraph numbers are those of rules.md."""

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.codes import NO_DECK
from cardenvs.core.kernel import kernel
from cardenvs.core.options import NONE
from cardenvs.core.returns import Returns, win_or_loss
from cardenvs.core.rng import DEAL, shuffle_rest, start_stream
from cardenvs.core.seats import wrap
from cardenvs.games.hearts import state
from cardenvs.games.hearts.state import (
    ADD,
    CARDS,
    CLUBS,
    HEART,
    HEARTS,
    JACK,
    JACK_BONUS,
    LOWEST_CLUB,
    MOON,
    NO_TRICK_BONUS,
    NUM_HEARTS,
    PACK,
    PASS,
    PLAY,
    POINT_CARDS,
    QUEEN,
    SUBTRACT,
)
from cardenvs.kits.cards import NUM_CARDS, cards_of, count_bits, lowest_card
from cardenvs.kits.deck import NO_CARD, deal_hands
from cardenvs.kits.listing import list_bits
from cardenvs.kits.matches import leave, pay_stake
from cardenvs.kits.redeal import list_cards
from cardenvs.kits.tricks import Ranking, Tricks, clear_tricks

TRICKS = Tricks(state.TABLE, Ranking.plain(PACK))  # (4.2)
suit_of = PACK.suit_of
led_suit, trick_winner, _take_turn = TRICKS.led_suit, TRICKS.winner, TRICKS.take_turn
_following, _explain_following, _gather = TRICKS.playable, TRICKS.explain, TRICKS.gather


# ---------------------------------------------------------------------------------------------------------------
# Deal and passing


@kernel
def deal(s, given, log):
    """Deal the first hand."""
    _deal_hand(s, given, log)


@kernel
def _deal_hand(s, given, log):
    """Deal all cards (2.1); then cards are passed, or the play begins (3.2)."""
    n = s.rules.num_players
    s.num_hands += 1
    ev.log_set(log, state.NEW_HAND, ev.NO_PLAYER, state.HAND_NUMBER, s.num_hands)
    number = list_cards(CARDS[n], s.deck, 0)
    for k in range(number, NUM_CARDS):
        s.deck[k] = NO_CARD
    start_stream(s, DEAL, s.num_hands - 1)
    shuffle_rest(s, s.deck, number, given)
    s.num_dealt = 0
    ev.log_create(log, state.SHUFFLE, state.DECK, number)
    deal_hands(s, number // n, state.DEALT, state.DECK, state.HAND, log)
    clear_tricks(s)
    s.opener = s.only_points = ev.NO_PLAYER
    s.is_broken = 0
    for p in range(n):
        s.last_won[p] = s.won[p]
        s.passed[p] = s.won[p] = s.points[p] = 0
        ev.log_set(log, state.NO_POINTS, p, state.POINTS + p, 0)
    s.distance = _distance(s)
    if s.distance:
        s.phase, s.current_player = PASS, 0
    else:
        _begin_play(s, log)


@kernel(inline=True)
def _distance(s):
    """Return how many seats to the left cards are passed in this hand (3.2)."""
    n, way = s.rules.num_players, s.rules.passing
    if way >= state.CYCLE:
        length = (4 if way == state.CYCLE else 3) - (0 if n == 4 else 1)
        turn = (s.num_hands - 1) % length
        way = state.HOLD if way == state.CYCLE and turn == length - 1 else state.LEFT + turn
    if way == state.RIGHT:
        return n - 1
    return 2 if way == state.ACROSS else way


@kernel(inline=True)
def _pass(s, player, card, log):
    """Choose a card to pass; when all have chosen, the cards change hands (3.1)."""
    s.hands[player] ^= np.int64(1) << card
    s.passed[player] |= np.int64(1) << card
    ev.log_move(log, state.CHOOSES, player, card, state.HAND + player, state.PASSED + player, 1 << player)
    if count_bits(s.passed[player]) == s.rules.pass_count:
        s.current_player += 1
        if s.current_player == s.rules.num_players:
            _exchange(s, log)


@kernel
def _exchange(s, log):
    """Hand on the cards chosen, in ascending order: the order in which they were chosen stays a secret (8.1)."""
    for p in range(s.rules.num_players):
        receiver, cards = receiver_of(s, p), s.passed[p]
        s.hands[receiver] |= cards
        while cards:
            card = lowest_card(cards)
            cards &= cards - 1
            seen = 1 << p | 1 << receiver
            ev.log_move(log, state.PASSES, p, card, state.PASSED + p, state.HAND + receiver, seen)
    _begin_play(s, log)


@kernel(inline=True)
def receiver_of(s, player):
    """Return to whom a player passes cards; the player itself if none are passed."""
    return wrap(player + s.distance, s.rules.num_players)


@kernel(inline=True)
def received_by(s, player):
    """Return the cards that a player has received, as a bit set; none before all have chosen (3.1)."""
    n = s.rules.num_players
    return s.passed[wrap(player + n - s.distance, n)] if s.phase != PASS else np.int64(0)


@kernel(inline=True)
def _begin_play(s, log):
    """The holder of the lowest club leads (4.1)."""
    s.phase = PLAY
    club = LOWEST_CLUB[s.rules.num_players]
    for p in range(s.rules.num_players):
        if s.hands[p] >> club & 1:
            s.opener = s.leader = s.current_player = p
    ev.log_reveal(log, state.OPENS, s.opener, club, state.HAND + s.opener, 1, ev.EVERYBODY)


# ---------------------------------------------------------------------------------------------------------------
# Actions


@kernel(inline=True)
def legal_actions(s, out):
    """List the cards that may be passed or played, or the two ways of scoring a moon."""
    if s.phase == MOON:
        out[0], out[1] = SUBTRACT, ADD
        return 2
    player = np.int64(s.current_player)
    return list_bits(s.hands[player] if s.phase == PASS else _playable(s, player), 0, out, 0)


@kernel(inline=True)
def _playable(s, player):
    """Return the cards that `player` may play, as a bit set (4.1 to 4.5)."""
    cards = _following(s, player)
    if led_suit(s) < 0:
        return _leads(s, cards)
    harmless = cards & ~POINT_CARDS
    return harmless if s.trick == 0 and not s.rules.first_trick_points and harmless else cards


@kernel(inline=True)
def _leads(s, hand):
    """Return the cards of the leader's hand that may be led (4.1, 4.4, 4.5)."""
    if s.trick == 0:
        return hand & (CLUBS if s.rules.lead_any_club else np.int64(1) << LOWEST_CLUB[s.rules.num_players])
    others = hand & ~HEARTS
    if not s.rules.must_break_hearts or s.is_broken or not others:
        return hand
    return hand if s.rules.lead_hearts_instead_of_qs and others == 1 << QUEEN else others


@kernel(inline=True)
def explain_illegal(s, action):
    """Return 0 if `action` is legal, else one of the codes of state.py."""
    player = np.int64(s.current_player)
    if action >= SUBTRACT:
        return 0 if s.phase == MOON else state.NO_MOON
    if s.phase == MOON:
        return state.IS_MOON
    code = _explain_following(s, player, action)
    if s.phase == PASS:
        return 0 if s.hands[player] >> action & 1 else code
    if code or _playable(s, player) >> action & 1:
        return code
    if s.trick:
        return state.NOT_BROKEN
    return state.MUST_OPEN if led_suit(s) < 0 else state.NO_POINTS_YET


@kernel(inline=True)
def apply_action(s, action, log):
    """Pass or play a card, or score a moon."""
    player = np.int64(s.current_player)
    if s.phase == PASS:
        _pass(s, player, action, log)
    elif s.phase == PLAY:
        _play(s, player, action, log)
    else:
        _score_moon(s, player, action == ADD)
        _end_hand(s, log)


@kernel(inline=True)
def _play(s, player, card, log):
    """Play a card; the last one of a trick ends it (4.2)."""
    _note_what_it_proves(s, player, card)
    breaks = suit_of(card) == HEART or (card == QUEEN and s.rules.qs_breaks_hearts)
    winner = _take_turn(s, card, log)
    if breaks and not s.is_broken:
        s.is_broken = 1
        ev.log_note(log, state.BROKEN, player, 0)
    if winner != ev.NO_PLAYER:
        _end_trick(s, winner, log)


@kernel(inline=True)
def _note_what_it_proves(s, player, card):
    """Note what a card proves beyond the suit that was led: nothing but hearts, and perhaps Q♠, is left (8.3)."""
    if not POINT_CARDS >> card & 1:
        return
    is_lead = led_suit(s) < 0
    opens_hearts = is_lead and suit_of(card) == HEART and s.rules.must_break_hearts and not s.is_broken
    is_early = s.trick == 0 and not s.rules.first_trick_points
    if opens_hearts or is_early:
        s.voids[player] |= 1 << state.CLUB | 1 << state.DIAMOND
        if is_early or s.rules.lead_hearts_instead_of_qs:
            s.only_points = player
        else:
            s.voids[player] |= 1 << state.SPADE


# ---------------------------------------------------------------------------------------------------------------
# Score


@kernel(inline=True)
def _end_trick(s, winner, log):
    """The winner takes the trick; after the last one the hand is scored (4.2, 5)."""
    for p in range(s.rules.num_players):
        card = np.int64(s.played[p, s.trick - 1])
        s.won[winner] |= np.int64(1) << card
        s.points[winner] += points_of(s, card)
    _gather(s, winner, log)
    ev.log_set(log, state.WINS_TRICK, winner, state.POINTS + winner, s.points[winner])
    if s.hands[winner] == 0:
        end_play(s, log)


@kernel(inline=True)
def points_of(s, card):
    """Return the points of a card (5.1, 5.2)."""
    if suit_of(card) == HEART:
        return 1
    if card == QUEEN:
        return s.rules.queen_points
    return -JACK_BONUS if card == JACK and s.rules.jd_bonus else 0


@kernel
def end_play(s, log):
    """Score a moon, or let its shooter choose how; otherwise reward those without a trick (5.3, 5.4)."""
    shooter = _shooter(s)
    if shooter == ev.NO_PLAYER:
        for p in range(s.rules.num_players):
            if s.rules.no_trick_bonus and s.won[p] == 0:
                s.points[p] -= NO_TRICK_BONUS
    else:
        ev.log_note(log, state.SHOOTS, shooter, 0)
        if s.rules.moon == state.CHOICE:
            s.phase, s.current_player = MOON, shooter
            return
        _score_moon(s, shooter, s.rules.moon == state.OTHERS_PLUS)
    _end_hand(s, log)


@kernel
def _shooter(s):
    """Return who has shot the moon, or NO_PLAYER (5.4)."""
    needed = POINT_CARDS | np.int64(s.rules.moon_needs_jd) << JACK
    for p in range(s.rules.num_players):
        if s.rules.moon != state.OFF and s.won[p] & needed == needed:
            return p
    return ev.NO_PLAYER


@kernel(inline=True)
def _score_moon(s, shooter, adds):
    """Give the points of hearts and Q♠ to all others, or take them off the shooter's score (5.4)."""
    total = _all_points(s.rules)
    s.points[shooter] -= total if adds else 2 * total
    for p in range(s.rules.num_players):
        if adds and p != shooter:
            s.points[p] += total


@kernel
def _end_hand(s, log):
    """Pay a single hand, or add the points to the scores of the match (6, 7)."""
    for p in range(s.rules.num_players):
        s.hand_points[s.num_hands - 1, p] = s.points[p]
        ev.log_set(log, state.HAND_POINTS, p, state.POINTS + p, s.points[p])
    if s.rules.target == NONE:
        _pay_hand(s)
        return
    for p in range(s.rules.num_players):
        s.scores[p] += s.points[p]
        ev.log_set(log, state.SCORES, p, state.SCORE + p, s.scores[p])
    _end_or_deal(s, log)


@kernel(inline=True)
def _pay_hand(s):
    """Pay a single hand (7.1)."""
    n, total = s.rules.num_players, np.int64(0)
    for p in range(n):
        total += s.points[p]
    for p in range(n):
        s.rewards[p] = (total / n if s.rules.reward == state.RELATIVE else _all_points(s.rules)) - s.points[p]
    s.terminal = 1


@kernel(inline=True)
def _end_or_deal(s, log):
    """End the match if it is over, or deal the next hand (6.1 to 6.3)."""
    n, highest, lowest, winners = s.rules.num_players, np.int64(s.scores[0]), np.int64(s.scores[0]), 0
    for p in range(n):
        highest, lowest = max(highest, np.int64(s.scores[p])), min(lowest, np.int64(s.scores[p]))
    for p in range(n):
        winners += 1 if s.scores[p] == lowest else 0
    is_over = highest >= s.rules.target and (winners == 1 or s.rules.tie != state.PLAY_ON)
    if not is_over and s.num_hands < state.MAX_HANDS:
        ev.log_clear(log, state.CLEAR_TABLE)
        _deal_hand(s, NO_DECK, log)
        return
    for p in range(n):
        s.rewards[p] = -1 / (n - 1)
        if s.scores[p] == lowest:
            s.rewards[p] = (n - winners) / ((n - 1) * winners)
            ev.log_note(log, state.WINS, p, 0)
    s.terminal = 1


@kernel
def forfeit(s, player, log):
    """`player` pays the most that can be lost, and the game is over (7.3)."""
    leave(s, player, state.FORFEITS, log)
    n = s.rules.num_players
    if s.rules.target != NONE:
        pay_stake(s, player, 1 / (n - 1), n)
    elif s.rules.reward == state.RELATIVE:
        pay_stake(s, player, -_lowest_relative(s.rules, s.rules.moon == state.OFF), n)
    else:
        for p in range(n):
            s.rewards[p] = 0 if p == player else _all_points(s.rules)
        s.terminal = 1


# ---------------------------------------------------------------------------------------------------------------
# Spaces


def deck(options):
    """Return the cards in the game (2.1)."""
    return np.array(cards_of(CARDS[options.num_players]), np.int16)


def num_actions(options):
    """Return the number of ids: cards, and the two ways of scoring a moon if there is a choice."""
    return NUM_CARDS + 2 if options.moon == "choice" else NUM_CARDS


def max_legal(options):
    """Return the length of the longest list: a whole hand."""
    return NUM_CARDS // options.num_players


def max_length(options):
    """Return a bound on the decisions: cards passed and played, and a choice, in the most hands there can be (6.3)."""
    hand = len(deck(options)) + options.num_players * options.pass_count + (options.moon == "choice")
    return hand * (1 if options.target is None else state.MAX_HANDS)


def all_points(rules):
    """Return the points of hearts and Q♠ together; `rules` are options or those of a record (5.1)."""
    return NUM_HEARTS + rules.queen_points


def lowest_relative(rules, no_moon):
    """Return the lowest return of a hand, as the average score less one's own (7.1).

    It falls to a player who takes all points, or all but one heart if all would be a moon, while another takes that
    heart and J♦, and nobody else has a trick. `rules` are options or those of a record.
    """
    n, total = rules.num_players, NUM_HEARTS + rules.queen_points
    without_trick = n - 1 if no_moon and not rules.jd_bonus else n - 2
    bonuses = JACK_BONUS * rules.jd_bonus + NO_TRICK_BONUS * rules.no_trick_bonus * without_trick
    own = total if no_moon or rules.moon_needs_jd else total - 1
    return (total - bonuses) / n - own


_all_points = kernel(inline=True)(all_points)
_lowest_relative = kernel(inline=True)(lowest_relative)


def returns(options):
    """Return the bounds: a match won or lost, or the points of a hand (7.1, 7.2).

    The best hand is a moon, with J♦ if it counts; without moons, the larger bonus.
    """
    n, total = options.num_players, all_points(options)
    jack, no_trick = JACK_BONUS * options.jd_bonus, NO_TRICK_BONUS * options.no_trick_bonus
    if options.target is not None:
        return win_or_loss(n)
    if options.reward == "points_saved":
        least = total + jack if options.moon in ("shooter_minus", "choice") else max(jack, no_trick)
        return Returns(0, total + least, None, "points")
    high = (total + max(jack, no_trick) * (n - 1)) / n if options.moon == "off" else (total + jack) * (n - 1) / n
    return Returns(lowest_relative(options, options.moon == "off"), high, 0, "points")
