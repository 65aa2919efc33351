"""Rules of Briscola. Paragraph numbers are those of rules.md."""

from dataclasses import dataclass

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.codes import NO_DECK
from cardenvs.core.events import Op, Part, Table
from cardenvs.core.kernel import kernel
from cardenvs.core.options import Options, option, rules_dtype
from cardenvs.core.record import record
from cardenvs.core.returns import Returns, win_or_loss
from cardenvs.core.seats import wrap
from cardenvs.kits.cards import ITALIAN
from cardenvs.kits.deck import NO_CARD, begin_world, deck_fields, draw_card, next_card, shuffle_deck, stock_of
from cardenvs.kits.listing import list_bits
from cardenvs.kits.matches import declare_forfeit, leave, pay_sides
from cardenvs.kits.redeal import redeal_hands
from cardenvs.kits.tricks import Ranking, Tricks

MAX_PLAYERS = 4
HAND_SIZE = 3
NUM_SIDES = 2
NUM_CARDS = ITALIAN.size
SUIT_SIZE = 10
MOST_POINTS = 120
MOST_MARGIN = MOST_POINTS // 2  # half the difference of points in a deal
MAX_TARGET = 5
MAX_DEALS = 2 * MAX_TARGET + 1
POINTS_REWARD = 1  # value of the option `reward` in a record

POINTS = np.array([11, 0, 10, 0, 0, 0, 0, 2, 3, 4], np.int8)  # by rank, A 2 3 4 5 6 7 J Q K (1.3)
HEIGHTS = "24567JQK3A"  # ranks from low to high (1.2)
_ALL_CARDS = ITALIAN.all_cards


@dataclass(frozen=True)
class BriscolaOptions(Options):
    """Options of Briscola."""

    num_players: int = option(2, values=(2, MAX_PLAYERS), doc="players; 4 form two partnerships")
    target: int = option(1, low=1, high=MAX_TARGET, doc="deals that win the match (4.2)")
    reward: str = option("win", choices=("win", "points"), doc="what returns depend on (4.3)")


STATE = record(
    rules_dtype(BriscolaOptions),
    MAX_PLAYERS,
    [
        *deck_fields(NUM_CARDS),  # the turned-up card is the last
        ("trump", "i1"),  # the card that was turned up                                     seen by: all
        ("trump_holder", "i1"),  # who has drawn and not played it, or NO_PLAYER            seen by: all
        ("hands", "i8", (MAX_PLAYERS,)),  # bit sets of cards                               seen by: owner
        ("trick", "i1", (MAX_PLAYERS,)),  # card of each player, or NO_CARD                 seen by: all
        ("won", "i8", (MAX_PLAYERS,)),  # cards in tricks that p has won                    seen by: all
        ("played", "i8", (MAX_PLAYERS,)),  # cards that p has played                        seen by: all
        ("points", "u1", (NUM_SIDES,)),  # won in this deal                                 seen by: all
        ("leader", "i1"),  #                                                                seen by: all
        ("num_deals", "i1"),  # begun                                                       seen by: all
        ("deals_won", "i1", (NUM_SIDES,)),  #                                               seen by: all
        ("deal_points", "u1", (MAX_DEALS, NUM_SIDES)),  # of the deals that are over        seen by: all
        ("last_won", "i8", (MAX_PLAYERS,)),  # as `won`, at the end of the deal before      seen by: all
    ],
)


def known_cards(s, player):
    """The turned-up card if `player` has drawn it, which all have seen."""
    return 1 << s.trump if player == s.trump_holder else 0


TABLE = Table(MAX_PLAYERS)
STOCK = TABLE.pile("stock", layout="stack", tokens=lambda s: stock_of(s)[:-1], seen="nobody", on="turned_up")
TURNED_UP = TABLE.pile("turned_up", tokens=lambda s: s.trump if s.num_dealt < NUM_CARDS else NO_CARD)
HAND = TABLE.pile("hand", per_player=True, layout="hand", cards="hands", seen="owner", known=known_cards)
TRICK = TABLE.pile("trick", per_player=True, layout="trick", tokens="trick")
WON = TABLE.pile("tricks", per_player=True, layout="won", cards="won")
DEAL_NUMBER = TABLE.counter("deal_number", value="num_deals")
DEALS_WON = TABLE.counter("deals_won", per_player=True, value="deals_won")  # by side; 0 for players 2 and 3
CLEAR_TABLE = TABLE.event("clear_table", Op.CLEAR, "The cards are gathered.", is_detail=True)
NEW_DEAL = TABLE.event("new_deal", Op.SET, "Deal {value}.", is_detail=True, opens=Part.HAND)
SHUFFLE = TABLE.event("shuffle", Op.CREATE, "The deck of {value} cards is shuffled.", is_detail=True)
DEALT = TABLE.event("deal", Op.MOVE, "{player} is dealt {token}.")
TURN_UP = TABLE.event("turn_up", Op.MOVE, "{token} is turned up: its suit is trump.")
PLAYS = TABLE.event("play", Op.MOVE, "{player} plays {token}.")
TAKES = TABLE.event("take", Op.MOVE_ALL, "{player}'s card goes to {target}.", is_detail=True)
WINS_TRICK = TABLE.event("win_trick", Op.NOTE, "{player} wins {value:point}.", closes=Part.TRICK)
DRAWS = TABLE.event("draw", Op.MOVE, "{player} draws {token}.")
SIDE_HAS = TABLE.event("side_has", Op.NOTE, "{player}'s side has {value:point}.")
WINS_DEAL = TABLE.event("win_deal", Op.SET, "{player}'s side has won {value:deal}.", closes=Part.HAND)
FORFEITS = declare_forfeit(TABLE)


# ---------------------------------------------------------------------------------------------------------------
# Cards


@kernel(inline=True)
def trump_suit(s):
    """The suit of the card that was turned up."""
    return np.int64(s.trump) // SUIT_SIZE


@kernel(inline=True)
def _card_of(s, player):
    return s.trick[player]


@kernel(inline=True)
def points_of(card):
    """The points of a card (1.3)."""
    return np.int64(POINTS[card % SUIT_SIZE])


TRICKS = Tricks(TABLE, Ranking.plain(ITALIAN, HEIGHTS, trump_suit), card_of=_card_of)  # (3.2)
led_suit, trick_winner, _gather = TRICKS.led_suit, TRICKS.winner, TRICKS.gather
suit_of, height, strength = TRICKS.ranking.suit_of, TRICKS.ranking.height, TRICKS.ranking.strength


# ---------------------------------------------------------------------------------------------------------------
# The deal


@kernel
def deal(s, given, log):
    """Shuffle, deal three cards to each player, and turn up the trump (2.1); player 0 leads the first deal (2.2)."""
    n = s.rules.num_players
    shuffle_deck(s, NUM_CARDS, s.num_deals, given)
    s.num_deals += 1
    ev.log_set(log, NEW_DEAL, ev.NO_PLAYER, DEAL_NUMBER, s.num_deals)
    ev.log_create(log, SHUFFLE, STOCK, NUM_CARDS)
    s.points[0] = s.points[1] = 0
    for p in range(n):
        s.last_won[p] = s.won[p]
        s.hands[p] = s.won[p] = s.played[p] = 0
        s.trick[p] = NO_CARD
        for _ in range(HAND_SIZE):
            draw_card(s, p, DEALT, STOCK, HAND, log)
    s.trump = next_card(s)
    s.trump_holder = ev.NO_PLAYER
    ev.log_move(log, TURN_UP, ev.NO_PLAYER, s.trump, STOCK, TURNED_UP, ev.EVERYBODY)
    # It lies under the stock: all other cards move up.
    s.num_dealt -= 1
    for k in range(s.num_dealt, NUM_CARDS - 1):
        s.deck[k] = s.deck[k + 1]
    s.deck[NUM_CARDS - 1] = s.trump
    s.leader = (s.num_deals - 1) % n
    s.current_player = s.leader


# ---------------------------------------------------------------------------------------------------------------
# The play


@kernel(inline=True)
def legal_actions(s, out):
    """Any card in hand (3.1)."""
    return list_bits(s.hands[s.current_player], 0, out, 0)


@kernel(inline=True)
def apply_action(s, action, log):
    """Play a card; the last one of the trick ends it."""
    player = np.int64(s.current_player)
    s.hands[player] ^= 1 << action
    s.played[player] |= 1 << action
    s.trick[player] = action
    if action == s.trump:
        s.trump_holder = ev.NO_PLAYER
    ev.log_move(log, PLAYS, player, action, HAND + player, TRICK + player, ev.EVERYBODY)
    s.current_player = wrap(player + 1, s.rules.num_players)
    if s.current_player == s.leader:
        _end_trick(s, log)


@kernel(inline=True)
def _end_trick(s, log):
    """The winner takes the trick; all draw, or the deal is over (3.3)."""
    n, winner, points = s.rules.num_players, trick_winner(s), 0
    for p in range(n):
        points += points_of(np.int64(s.trick[p]))
        s.won[winner] |= np.int64(1) << s.trick[p]
        s.trick[p] = NO_CARD
    _gather(s, winner, log)
    s.points[winner % NUM_SIDES] += points
    ev.log_note(log, WINS_TRICK, winner, points)
    s.leader = s.current_player = winner
    if s.num_dealt < NUM_CARDS:
        for k in range(n):
            _draw(s, wrap(winner + k, n), log)
    elif s.hands[winner] == 0:
        _end_deal(s, log)


@kernel(inline=True)
def _draw(s, player, log):
    """Draw a card; everybody sees the last one, which was turned up (3.4)."""
    if s.num_dealt < NUM_CARDS - 1:
        draw_card(s, player, DRAWS, STOCK, HAND, log)
        return
    card = next_card(s)
    s.hands[player] |= 1 << card
    s.trump_holder = player
    ev.log_move(log, DRAWS, player, card, TURNED_UP, HAND + player, ev.EVERYBODY)


# ---------------------------------------------------------------------------------------------------------------
# Score


@kernel
def _end_deal(s, log):
    """Score the deal; then deal again or end the match (4.1 to 4.3)."""
    half_margin = np.int64(s.points[0]) - MOST_MARGIN
    for side in range(NUM_SIDES):
        s.deal_points[s.num_deals - 1, side] = s.points[side]
        ev.log_note(log, SIDE_HAS, side, s.points[side])
    if half_margin != 0:
        winner = 0 if half_margin > 0 else 1
        s.deals_won[winner] += 1
        ev.log_set(log, WINS_DEAL, winner, DEALS_WON + winner, s.deals_won[winner])
    if s.rules.reward == POINTS_REWARD:
        pay_sides(s, half_margin)
    target = s.rules.target
    if target > 1 and max(s.deals_won[0], s.deals_won[1]) < target and s.num_deals < 2 * target + 1:
        ev.log_clear(log, CLEAR_TABLE)
        deal(s, NO_DECK, log)
        return
    s.terminal = 1
    if s.rules.reward != POINTS_REWARD:  # the side with more deals won has won (4.3)
        pay_sides(s, min(max(s.deals_won[0] - s.deals_won[1], -1), 1))


@kernel
def forfeit(s, player, log):
    """The side of `player` loses the match, and all deals that the others need to win it 0 to 120 (5.1)."""
    leave(s, player, FORFEITS, log)
    winner = 1 - player % 2
    missing = s.rules.target - s.deals_won[winner]
    s.deals_won[winner] = s.rules.target
    ev.log_set(log, WINS_DEAL, winner, DEALS_WON + winner, s.deals_won[winner])
    sign = 1 if winner == 0 else -1
    pay_sides(s, sign * (missing * MOST_MARGIN if s.rules.reward == POINTS_REWARD else 1))
    s.terminal = 1


# ---------------------------------------------------------------------------------------------------------------
# What a player cannot know


@kernel
def hidden_cards(s, player):
    """The cards that `player` does not see: in the stock, and in the others' hands except for a drawn trump card."""
    seen = s.hands[player] | np.int64(1) << s.trump
    for p in range(s.rules.num_players):
        seen |= s.played[p]
    return _ALL_CARDS & ~seen


@kernel
def determinize(s, player, seed):
    """Re-deal what `player` does not see. The trump card stays where it is known to be (3.4)."""
    begin_world(s, seed)
    holder = np.int64(s.trump_holder)
    is_held = holder != ev.NO_PLAYER and holder != player
    if is_held:  # it is set aside while the other cards are dealt
        s.hands[holder] ^= np.int64(1) << s.trump
    end = NUM_CARDS if s.num_dealt == NUM_CARDS else NUM_CARDS - 1  # the turned-up card is the last
    redeal_hands(s, player, hidden_cards(s, player), end)
    if is_held:
        s.hands[holder] |= np.int64(1) << s.trump


# ---------------------------------------------------------------------------------------------------------------
# Spaces


num_actions = NUM_CARDS
max_legal = HAND_SIZE


def max_length(options):
    """All cards in the most deals of a match (4.2)."""
    return NUM_CARDS * (1 if options.target == 1 else 2 * options.target + 1)


def returns(options):
    """A match won or lost, or half the margins of its deals, of which a side wins at most `target` (4.2, 4.3)."""
    if options.reward != "points":
        return win_or_loss(NUM_SIDES)
    most = options.target * MOST_MARGIN
    return Returns(-most, most, 0, "points")
