"""Oh Hell: options, state, table and rules. Paragraph numbers are those of rules.md."""

from dataclasses import dataclass

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.codes import NO_DECK
from cardenvs.core.errors import OptionError
from cardenvs.core.events import Op, Part, Table
from cardenvs.core.kernel import kernel
from cardenvs.core.options import NONE, Options, option, rules_dtype
from cardenvs.core.record import record
from cardenvs.core.returns import Returns, by_place, win_or_loss
from cardenvs.core.rng import random_below, start_stream
from cardenvs.kits.bids import Bids, bid_fields, redraw_bids
from cardenvs.kits.cards import Pack
from cardenvs.kits.listing import list_bits
from cardenvs.kits.matches import declare_forfeit, leave, pay_best, pay_places
from cardenvs.kits.trick_deals import Deals, deal_fields, redeal_with_stock, take_trick
from cardenvs.kits.tricks import ACE_HIGH, MUST_BEAT, Ranking, Tricks, trump_of_record
from cardenvs.kits.trumps import NO_TRUMP, Trumps, trump_fields

PACK = Pack(ACE_HIGH, "cdsh", by="rank")
SUIT_SETS = PACK.suit_sets
MAX_PLAYERS = 7
MAX_HAND = 17  # of three players
MAX_DEALS = 2 * MAX_HAND - 1
USUAL_HANDS = np.array([0, 0, 0, 10, 10, 10, 8, 7])  # by number of players
BONUS = 10  # points for as many tricks as were bid
BID_0 = PACK.size
BIDDING, PLAY = 0, 1  # phases
TRUMP_ORDER = np.array([0, 1, 3, 2, NO_TRUMP])  # c d h s
BIDS_COME_FIRST, BIDS_ARE_OVER, TOO_MANY, HOOKED = range(MUST_BEAT + 1, MUST_BEAT + 5)
_DEALER, _SIZE = 1, 2  # chance sources

# Choices of options, and their numbers in a record
SCHEDULES = ("down_up", "up_down", "down", "up", "fixed", "random")
UP_DOWN, UP, RANDOM = 1, 3, 5
SCORINGS = ("exact_plus", "exact_only", "penalty", "squares")
EXACT_PLUS, PENALTY, SQUARES = 0, 2, 3
TURN_UP, ROTATE = 0, 2
SIMULTANEOUS = RANDOM_DEALER = 1
POINTS, RANK = 0, 1


@dataclass(frozen=True)
class OhHellOptions(Options):
    """Options of Oh Hell."""

    num_players: int = option(4, low=3, high=MAX_PLAYERS, doc="players at the table")
    schedule: str = option("down_up", choices=SCHEDULES, doc="how many cards are dealt to each player (2.2)")
    max_cards: int | None = option(None, low=1, high=MAX_HAND, optional=True, doc="most cards each; none: usual (2.2)")
    hook: bool = option(True, doc="whether the last bid may not make the bids add up to the number of tricks (3.2)")
    trump: str = option("turn_up", choices=("turn_up", "none", "rotate"), doc="how trumps are chosen (2.3)")
    scoring: str = option("exact_plus", choices=SCORINGS, doc="points of a deal (5.1)")
    points_per_trick: int = option(1, low=1, high=100, doc="points of a trick, or of a miss (5.1)")
    order_of_bids: str = option("in_turn", choices=("in_turn", "simultaneous"), doc="when bids are shown (3.3)")
    first_dealer: str = option("player_0", choices=("player_0", "random"), doc="who deals first (2.1)")
    returns: str = option("points", choices=("points", "rank", "winner"), doc="what returns depend on (6.2)")
    outcomes: bool = option(False, doc="whether observations say what each bid and card promises")

    def check(self):
        """Raise OptionError if there are too few cards."""
        if self.num_players * most_cards(self) > PACK.size:
            raise OptionError(f"{self.num_players} players with {self.max_cards} cards need more than 52 cards")


def most_cards(rules):
    """Return the most cards of a player in a deal, from options or from a record's rules."""
    return rules.max_cards if (rules.max_cards or NONE) != NONE else USUAL_HANDS[rules.num_players]


def count_deals(schedule, most):
    """Return the number of deals in a game (2.2)."""
    if schedule <= UP_DOWN:
        return 2 * most - 1
    return most if schedule <= UP else 1


def cards_in_deal(schedule, most, k):
    """Return the number of cards of each player in deal k = 0, 1, ..., if it is not random (2.2)."""
    from_turn = abs(most - 1 - k)
    return most - from_turn if schedule in (UP_DOWN, UP) else from_turn + 1


def points_of(scoring, per_trick, bid, won):
    """Return the points of a deal (5.1)."""
    missed = abs(won - bid)
    if scoring == SQUARES:
        return -missed * missed if missed else BONUS + bid * bid
    if missed and scoring != EXACT_PLUS:
        return -per_trick * missed if scoring == PENALTY else 0
    return per_trick * won + (0 if missed else BONUS)


_most_cards = kernel(most_cards, inline=True)
_count_deals = kernel(count_deals, inline=True)
_cards_in_deal = kernel(cards_in_deal, inline=True)
_points_of = kernel(points_of, inline=True)

STATE = record(
    rules_dtype(OhHellOptions),
    MAX_PLAYERS,
    [
        *deal_fields(PACK, MAX_PLAYERS, MAX_HAND),
        *bid_fields(MAX_PLAYERS, MAX_DEALS),
        *trump_fields(),
        ("phase", "i1"),
        ("scores", "i4", (MAX_PLAYERS,)),  # seen by: all
    ],
)

TABLE = Table(MAX_PLAYERS)
DEALS = Deals(TABLE, PACK)
TRUMPS = Trumps(TABLE, PACK)
SCORE = TABLE.counter("score", per_player=True, value="scores")
SCORES = TABLE.event("score", Op.SET, "{player} has {value:point}.", closes=Part.HAND)
FORFEITS = declare_forfeit(TABLE)


@kernel(inline=True)
def bids_are_hidden(s):
    """Whether players see no bid but their own (3.3)."""
    return s.rules.order_of_bids == SIMULTANEOUS and s.phase == BIDDING


BIDS = Bids(TABLE, BID_0, bids_are_hidden)
TRICKS = Tricks(TABLE, Ranking.plain(PACK, trump=trump_of_record))  # (4.1, 4.2)
_begin_deal, _end_of_deal = DEALS.begin, DEALS.end
_turn_up, _name_trump = TRUMPS.turn_up, TRUMPS.name
_clear_bids, _bid, _count_trick = BIDS.clear, BIDS.take_turn, BIDS.win_trick
_playable, _explain_card, _play, _gather = TRICKS.playable, TRICKS.explain, TRICKS.take_turn, TRICKS.gather


# ---------------------------------------------------------------------------------------------------------------
# Deals, play and score


@kernel
def deal(s, given, log):
    """Choose the first dealer, and deal (2.1)."""
    if s.rules.first_dealer == RANDOM_DEALER:
        start_stream(s, _DEALER, 0)
        s.dealer = random_below(s.rng, s.rules.num_players)
    _deal_hands(s, given, log)


@kernel
def _deal_hands(s, given, log):
    """Deal, turn up the trump, and let the player after the dealer bid (2.1 to 2.3, 3.1)."""
    most = _most_cards(s.rules)
    size = _cards_in_deal(s.rules.schedule, most, s.num_deals)
    if s.rules.schedule == RANDOM:
        start_stream(s, _SIZE, 0)
        size = 1 + random_below(s.rng, most)
    _begin_deal(s, size, given, log)
    if s.rules.trump == TURN_UP:
        _turn_up(s, log)
    else:
        _name_trump(s, TRUMP_ORDER[(s.num_deals - 1) % 5] if s.rules.trump == ROTATE else NO_TRUMP, log)
    _clear_bids(s, log)
    s.phase = BIDDING


@kernel(inline=True)
def barred_bid(s):
    """Return the bid that the hook forbids to the player to act; it may be no bid at all (3.2)."""
    if not s.rules.hook or s.rules.order_of_bids == SIMULTANEOUS or s.current_player != s.dealer:
        return np.int64(-1)
    left = np.int64(s.hand_size)
    for p in range(s.rules.num_players):
        left -= max(s.bids[p], 0)  # not the dealer's NO_BID
    return left


@kernel(inline=True)
def legal_actions(s, out):
    """List cards (4.1) or bids (3.1, 3.2)."""
    if s.phase == PLAY:
        return list_bits(_playable(s, s.current_player), 0, out, 0)
    bids, barred = (np.int64(1) << s.hand_size + 1) - 1, barred_bid(s)
    return list_bits(bids & ~(np.int64(1) << barred) if barred >= 0 else bids, BID_0, out, 0)


@kernel(inline=True)
def explain_illegal(s, action):
    """Return 0 if `action` is legal, else a number for the reason."""
    if s.phase == PLAY:
        return _explain_card(s, s.current_player, action) if action < BID_0 else BIDS_ARE_OVER
    if action < BID_0:
        return BIDS_COME_FIRST
    if action - BID_0 > s.hand_size:
        return TOO_MANY
    return HOOKED if action - BID_0 == barred_bid(s) else 0


@kernel
def apply_action(s, action, log):
    """Bid, or play a card; the last card of a trick goes to its winner, with the others (4.2)."""
    if s.phase == BIDDING:
        s.phase = PLAY if _bid(s, action - BID_0, log) else BIDDING
        return
    winner = _play(s, action, log)
    if winner != ev.NO_PLAYER:
        take_trick(s, winner)
        _gather(s, winner, log)
        _count_trick(s, winner, log)
        if s.trick == s.hand_size:
            _end_deal(s, log)


@kernel
def determinize(s, player, seed):
    """Re-deal what `player` does not see, respecting voids; draw hidden bids again (8.1, 8.2)."""
    redeal_with_stock(s, player, SUIT_SETS, seed)
    if bids_are_hidden(s):
        redraw_bids(s, player, s.hand_size)


@kernel
def _end_deal(s, log):
    """Score the deal; then deal again, or end the game (5.1, 6.1)."""
    for p in range(s.rules.num_players):
        _add_points(s, p, _points_of(s.rules.scoring, s.rules.points_per_trick, s.bids[p], s.tricks_won[p]), log)
    if s.num_deals < _count_deals(s.rules.schedule, _most_cards(s.rules)):
        _end_of_deal(s, log)
        _deal_hands(s, NO_DECK, log)
    else:
        _end_game(s)


@kernel(inline=True)
def _add_points(s, player, points, log):
    s.scores[player] += points
    s.rewards[player] += points if s.rules.returns == POINTS else 0
    ev.log_set(log, SCORES, player, SCORE + player, s.scores[player])


@kernel(inline=True)
def _end_game(s):
    """Pay places or the winner, unless each deal has paid its points (6.2)."""
    s.terminal = 1
    if s.rules.returns == RANK:
        pay_places(s)
    elif s.rules.returns != POINTS:
        pay_best(s)


@kernel
def forfeit(s, player, log):
    """End the game: of each deal that is not over, `player` gets the least there is, and the others the bonus (7.1)."""
    leave(s, player, FORFEITS, log)
    rules, most = s.rules, _most_cards(s.rules)
    for k in range(s.num_deals - 1, _count_deals(rules.schedule, most)):
        size = s.hand_size if rules.schedule == RANDOM else _cards_in_deal(rules.schedule, most, k)
        for p in range(rules.num_players):
            _add_points(s, p, _points_of(rules.scoring, rules.points_per_trick, size, 0) if p == player else BONUS, log)
    _end_game(s)


max_legal = MAX_HAND + 1  # bids


def num_actions(options):
    """Return the number of ids: 52 cards, and bids from 0 to the most cards of a player."""
    return BID_0 + most_cards(options) + 1


def max_length(options):
    """Return the number of decisions: each player bids and plays each card, in all deals."""
    return sum(options.num_players * (size + 1) for size in _sizes(options))


def returns(options):
    """Return the bounds: all deals as bad, or as good, as can be; or places, or a win."""
    if options.returns != "points":
        return by_place(options.num_players) if options.returns == "rank" else win_or_loss(options.num_players)
    scoring, per_trick = SCORINGS.index(options.scoring), options.points_per_trick
    low, high = (sum(points_of(scoring, per_trick, k, won * k) for k in _sizes(options)) for won in (0, 1))
    return Returns(low, high, None, "points")


def _sizes(options):
    """Return the number of cards of each player in each deal, the most there can be."""
    schedule, most = SCHEDULES.index(options.schedule), int(most_cards(options))
    return [cards_in_deal(schedule, most, k) for k in range(count_deals(schedule, most))]
