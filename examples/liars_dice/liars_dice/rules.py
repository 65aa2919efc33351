"""Liar's dice: options, state, table and rules. Paragraph numbers are those of rules.md."""

from dataclasses import dataclass

import numpy as np
from cardenvs.core import events as ev
from cardenvs.core.codes import NO_DECK
from cardenvs.core.errors import OptionError
from cardenvs.core.events import Op, Table
from cardenvs.core.kernel import kernel
from cardenvs.core.options import Options, option, rules_dtype
from cardenvs.core.record import record
from cardenvs.core.returns import Returns
from cardenvs.core.rng import DETERMINIZE, random_below, start_stream
from cardenvs.core.seats import wrap

MAX_PLAYERS, MAX_DICE, MAX_SIDES = 5, 5, 8
MAX_BIDS = MAX_PLAYERS * MAX_DICE * MAX_SIDES
MAX_BIDDINGS = 200  # with exact calls (4.7)
ROLLS = 1  # chance source

# Values of options in a record.
NONE_WILD, ONES_WILD, HIGHEST_WILD = range(3)
QUANTITY_FIRST, FACE_FIRST = range(2)
HALVED = 1
ELIMINATION = 1
DIFFERENCE = 1

# What explain_illegal returns.
NO_BID, TOO_MANY, NOT_HIGHER, NOT_THE_FACE, OPENS_ON_ONES = range(1, 6)


@dataclass(frozen=True)
class LiarsDiceOptions(Options):
    """Options of liar's dice."""

    num_players: int = option(2, low=2, high=MAX_PLAYERS, doc="players at the table")
    dice: int = option(5, low=1, high=MAX_DICE, doc="dice of each player at the start")
    sides: int = option(6, low=4, high=MAX_SIDES, doc="faces of a die")
    wild: str = option("highest", choices=("none", "ones", "highest"), doc="face that counts for every face (1.3)")
    bidding: str = option(
        "quantity_first", choices=("quantity_first", "face_first"), doc="which bids are higher (2.2, 2.3)"
    )
    ones_bids: str = option("plain", choices=("plain", "halved"), doc="bids on wild ones (2.5)")
    open_on_ones: bool = option(True, doc="whether a bidding may start with ones, with halved ones (2.5)")
    format: str = option("single", choices=("single", "elimination"), doc="one bidding, or until one has dice left (4)")
    loss: str = option("one", choices=("one", "difference"), doc="dice that a lost call costs (4.3)")
    exact_call: bool = option(False, doc="whether a bid may be called exact (3.2)")
    palifico: bool = option(False, doc="special bidding of a player with one die left (4.6)")

    def check(self):
        """Raise OptionError if ones are halved in a game where that has no meaning."""
        if self.ones_bids == "halved" and (self.wild != "ones" or self.bidding != "quantity_first"):
            raise OptionError("ones_bids=halved needs wild=ones and bidding=quantity_first")


STATE = record(
    rules_dtype(LiarsDiceOptions),
    MAX_PLAYERS,
    [
        ("dice", "i1", (MAX_PLAYERS, MAX_SIDES)),  # how many dice show each face           seen by: owner
        ("num_dice", "i1", (MAX_PLAYERS,)),  #                                              seen by: all
        ("shown", "i1", (MAX_PLAYERS, MAX_SIDES)),  # dice of the bidding before            seen by: all
        ("is_shown", "u1"),  # 1: the dice were shown, and the game is over                 seen by: all
        ("bids", "i1", (MAX_BIDS,)),  # by id: 1 + who bid that, or 0                       seen by: all
        ("quantity", "i1"),  # of the last bid; 0 before the first                          seen by: all
        ("face", "i1"),  # of the last bid, from 1                                          seen by: all
        ("bidder", "i1"),  # of the last bid                                                seen by: all
        ("num_biddings", "i2"),  # begun                                                    seen by: all
        ("is_palifico", "u1"),  # whether this bidding is one (4.6)                         seen by: all
        ("had_palifico", "u1", (MAX_PLAYERS,)),  #                                          seen by: all
    ],
)

TABLE = Table(MAX_PLAYERS)
DICE = TABLE.counter("dice", per_player=True)  # sorted, as one number: 255 is a two and two fives
NUM_DICE = TABLE.counter("num_dice", per_player=True)
BID = TABLE.counter("bid")  # 35 is 3-5; 0 before the first
BEGINS = TABLE.event("begin", Op.SET, "{player} has {value} dice.")
ROLLED = TABLE.event("roll", Op.SET, "{player} rolls {value}.")
STARTS = TABLE.event("start", Op.NOTE, "{player} starts bidding {value}.")
PALIFICO = TABLE.event("palifico", Op.NOTE, "No dice are wild, and the first bid fixes the face.")
NO_BIDS = TABLE.event("no_bid", Op.SET, "There is no bid.", is_detail=True)
BIDS = TABLE.event("bid", Op.SET, "{player} bids {value}.")
CALLS_LIAR = TABLE.event("liar", Op.NOTE, "{player} calls liar.")
CALLS_EXACT = TABLE.event("exact", Op.NOTE, "{player} calls the bid exact.")
SHOWS = TABLE.event("show", Op.SET, "{player} shows {value}.", reveals_hidden_value=True)
MATCH = TABLE.event("match", Op.NOTE, "{value} dice match.", reveals_hidden_value=True)
LEFT_WITH = TABLE.event("left_with", Op.SET, "{player} is left with {value} dice.", reveals_hidden_value=True)
GETS_BACK = TABLE.event("get_back", Op.SET, "{player} gets a die back and has {value}.", reveals_hidden_value=True)
WINS = TABLE.event("win", Op.NOTE, "{player} wins.", reveals_hidden_value=True)
ENDS = TABLE.event("end", Op.NOTE, "Nobody wins after {value} biddings.")
FORFEITS = TABLE.event("forfeit", Op.NOTE, "{player} forfeits.")


# ---------------------------------------------------------------------------------------------------------------
# Bids and their ids


@kernel(inline=True)
def num_bids(s):
    """The number of bids of the game; the next ids are *liar* and *exact*."""
    return s.rules.num_players * s.rules.dice * s.rules.sides


@kernel(inline=True)
def bid_id(s, quantity, face):
    """The id of a bid: bids in the order of 2.2 or 2.3."""
    if s.rules.bidding == FACE_FIRST:
        return (face - 1) * s.rules.num_players * s.rules.dice + quantity - 1
    return (quantity - 1) * s.rules.sides + face - 1


@kernel(inline=True)
def quantity_of(s, bid):
    """The number of dice that a bid names."""
    if s.rules.bidding == FACE_FIRST:
        return bid % (s.rules.num_players * s.rules.dice) + 1
    return bid // s.rules.sides + 1


@kernel(inline=True)
def face_of(s, bid):
    """The face that a bid names, from 1."""
    if s.rules.bidding == FACE_FIRST:
        return bid // (s.rules.num_players * s.rules.dice) + 1
    return bid % s.rules.sides + 1


@kernel(inline=True)
def wild_face(s):
    """The face that counts for all (1.3), or 0 if there is none."""
    if s.is_palifico or s.rules.wild == NONE_WILD:
        return 0
    return 1 if s.rules.wild == ONES_WILD else s.rules.sides


@kernel(inline=True)
def dice_in_play(s):
    """The number of all dice."""
    total = 0
    for p in range(s.rules.num_players):
        total += s.num_dice[p]
    return total


@kernel(inline=True)
def _is_higher(s, quantity, face):
    """Whether a bid is higher than the last one (2.2, 2.3, 2.5)."""
    if s.rules.ones_bids == HALVED and (face == 1) != (s.face == 1):
        return 2 * quantity >= s.quantity if face == 1 else quantity > 2 * s.quantity
    if s.rules.bidding == FACE_FIRST:
        return face > s.face or (face == s.face and quantity > s.quantity)
    if s.rules.ones_bids == HALVED and face == 1:
        return quantity > s.quantity
    return quantity > s.quantity or (quantity == s.quantity and face > s.face)


# ---------------------------------------------------------------------------------------------------------------
# Rolls


@kernel(inline=True)
def deal(s, given, log):
    """Hand out the dice and begin the first bidding (1.1, 2.1). `given` are faces for the first roll."""
    for p in range(s.rules.num_players):
        s.num_dice[p] = s.rules.dice
        ev.log_set(log, BEGINS, p, NUM_DICE + p, s.num_dice[p])
    _begin_bidding(s, 0, given, log)


@kernel
def _begin_bidding(s, starter, given, log):
    """Everybody rolls, and `starter` is to bid (1.2)."""
    start_stream(s, ROLLS, s.num_biddings)
    s.num_biddings += 1
    s.is_shown = 0
    next_given = 0
    for p in range(s.rules.num_players):
        next_given = _roll(s, p, given, next_given)
        rolled = as_number(s, p)
        ev.log_event(log, ROLLED, p, ev.UNKNOWN, DICE + p, ev.NO_PLACE, rolled, 1 << p, ev.EVERYBODY)
    s.bids[:] = 0
    s.quantity = s.face = 0
    ev.log_set(log, NO_BIDS, ev.NO_PLAYER, BID, 0)
    s.current_player = starter
    ev.log_note(log, STARTS, starter, s.num_biddings)
    if s.is_palifico:
        ev.log_note(log, PALIFICO, ev.NO_PLAYER, 0)


@kernel(inline=True)
def _roll(s, player, given, k):
    """Replace the dice of `player` by faces given[k:], then by chance; return the next k."""
    for face in range(MAX_SIDES):
        s.dice[player, face] = 0
    for _ in range(s.num_dice[player]):
        face = given[k] if k < given.shape[0] else random_below(s.rng, s.rules.sides)
        s.dice[player, face] += 1
        k += 1
    return k


@kernel
def as_number(s, player):
    """A player's sorted dice as one number, as in 255 for a two and two fives; 0 without dice."""
    number = 0
    for face in range(MAX_SIDES):
        for _ in range(s.dice[player, face]):
            number = 10 * number + face + 1
    return number


# ---------------------------------------------------------------------------------------------------------------
# Actions


@kernel(inline=True)
def legal_actions(s, out):
    """Higher bids on dice in play, and calls of the last bid (2.1, 2.4, 3.2)."""
    n = 0
    for action in range(num_bids(s) + 1 + s.rules.exact_call):
        if explain_illegal(s, action) == 0:
            out[n] = action
            n += 1
    return n


@kernel(inline=True)
def explain_illegal(s, action):
    """0 if `action` is legal, else one of the codes above."""
    if action >= num_bids(s):
        return 0 if s.quantity else NO_BID
    quantity, face = quantity_of(s, action), face_of(s, action)
    if quantity > dice_in_play(s):
        return TOO_MANY
    if s.quantity == 0:
        opens_on_ones = s.rules.ones_bids == HALVED and face == 1 and not s.is_palifico
        return OPENS_ON_ONES if opens_on_ones and not s.rules.open_on_ones else 0
    if s.is_palifico:
        if face != s.face:
            return NOT_THE_FACE
        return 0 if quantity > s.quantity else NOT_HIGHER
    return 0 if _is_higher(s, quantity, face) else NOT_HIGHER


@kernel(inline=True)
def apply_action(s, action, log):
    """Bid or call for the player to act."""
    player = np.int64(s.current_player)
    liar = num_bids(s)
    if action < liar:
        s.bids[action] = 1 + player
        s.bidder = player
        s.quantity, s.face = quantity_of(s, action), face_of(s, action)
        ev.log_set(log, BIDS, player, BID, 10 * s.quantity + s.face)
        s.current_player = _next_with_dice(s, player)
        return
    ev.log_note(log, CALLS_LIAR if action == liar else CALLS_EXACT, player, 0)
    _show_dice(s, log)
    matches = num_matches(s)
    ev.log_note(log, MATCH, ev.NO_PLAYER, matches)
    off = abs(matches - s.quantity)
    if action > liar:
        caller_wins, dice = off == 0, 1
    else:
        caller_wins, dice = matches < s.quantity, max(off, 1) if s.rules.loss == DIFFERENCE else 1
    if s.rules.format != ELIMINATION:
        _settle_single(s, player if caller_wins else s.bidder, s.bidder if caller_wins else player, log)
    elif action > liar and caller_wins:
        _give_back(s, player, log)
    else:
        _take_dice(s, s.bidder if caller_wins else player, dice, log)


@kernel(inline=True)
def _next_with_dice(s, player):
    """The next player after `player` who has dice."""
    seat = wrap(player + 1, s.rules.num_players)
    while s.num_dice[seat] == 0:
        seat = wrap(seat + 1, s.rules.num_players)
    return seat


@kernel(inline=True)
def _show_dice(s, log):
    """All dice are shown (3.1)."""
    s.is_shown = 1
    for p in range(s.rules.num_players):
        for face in range(MAX_SIDES):
            s.shown[p, face] = s.dice[p, face]
        ev.log_set(log, SHOWS, p, DICE + p, as_number(s, p))


@kernel
def num_matches(s):
    """The dice that count for the last bid (1.3)."""
    wild, matches = wild_face(s), 0
    for p in range(s.rules.num_players):
        matches += s.dice[p, s.face - 1]
        if wild and wild != s.face:
            matches += s.dice[p, wild - 1]
    return matches


# ---------------------------------------------------------------------------------------------------------------
# Results


@kernel(inline=True)
def _settle_single(s, winner, loser, log):
    """One point between two players (4.1)."""
    s.rewards[winner], s.rewards[loser] = 1, -1
    s.terminal = 1
    ev.log_note(log, WINS, winner, 0)


@kernel(inline=True)
def _give_back(s, player, log):
    """`player` has called *exact* rightly: one die more, and the start (4.4, 4.5)."""
    if s.num_dice[player] < s.rules.dice:
        s.num_dice[player] += 1
        ev.log_set(log, GETS_BACK, player, NUM_DICE + player, s.num_dice[player])
    s.is_palifico = 0
    _go_on(s, player, log)


@kernel(inline=True)
def _take_dice(s, loser, dice, log):
    """`loser` gives up dice; the last one with dice wins, else a new bidding begins (4.2, 4.3, 4.5)."""
    s.num_dice[loser] = max(s.num_dice[loser] - dice, 0)
    ev.log_set(log, LEFT_WITH, loser, NUM_DICE + loser, s.num_dice[loser])
    s.is_palifico = s.rules.palifico and s.num_dice[loser] == 1 and not s.had_palifico[loser]
    if s.is_palifico:
        s.had_palifico[loser] = 1
    _go_on(s, loser, log)


@kernel(inline=True)
def _go_on(s, starter, log):
    """Begin the next bidding with `starter` or who comes next, or end the game (4.2, 4.5, 4.7)."""
    if s.num_dice[starter] == 0:
        starter = _next_with_dice(s, starter)
    if s.num_dice[starter] == dice_in_play(s):
        _win(s, starter, log)
    elif s.rules.exact_call and s.num_biddings == MAX_BIDDINGS:
        s.terminal = 1
        ev.log_note(log, ENDS, ev.NO_PLAYER, MAX_BIDDINGS)
    else:
        _begin_bidding(s, starter, NO_DECK, log)


@kernel(inline=True)
def _win(s, winner, log):
    """`winner` gets a point, in equal parts from those who have not yet paid by forfeiting (4.2, 5.1)."""
    for p in range(s.rules.num_players):
        if p != winner and s.active[p]:
            s.rewards[p] = -1 / (s.rules.num_players - 1)
    s.rewards[winner] = 1
    s.terminal = 1
    ev.log_note(log, WINS, winner, 0)


@kernel(inline=True)
def forfeit(s, player, log):
    """`player` gives up all dice (5.1)."""
    s.active[player] = 0
    ev.log_note(log, FORFEITS, player, 0)
    share = 1 / (s.rules.num_players - 1)
    if s.rules.format == ELIMINATION:
        s.rewards[player] = -share
        s.is_palifico = 0
        s.num_dice[player] = 0
        ev.log_set(log, LEFT_WITH, player, NUM_DICE + player, 0)
        _go_on(s, player, log)
        return
    for p in range(s.rules.num_players):
        s.rewards[p] = -1 if p == player else share
    s.terminal = 1


@kernel(inline=True)
def determinize(s, player, seed):
    """Roll the dice of everybody else again, unless they have been shown."""
    s.seed = seed
    if s.is_shown:
        return
    start_stream(s, DETERMINIZE, 0)
    for p in range(s.rules.num_players):
        if p != player:
            _roll(s, p, NO_DECK, 0)


# ---------------------------------------------------------------------------------------------------------------
# Spaces


def deck(options):
    """No tokens: dice are counters."""
    return np.zeros(0, np.int16)


def first_roll(options):
    """Faces (token k is face k + 1) and dice of an explicit roll: player 0's dice, then player 1's, ..."""
    return options.sides, options.num_players * options.dice


def dealt_tokens(options):
    """All dice, if they are rolled once."""
    return options.num_players * options.dice if options.format == "single" else None


def num_actions(options):
    """All bids, *liar*, and *exact* if it is allowed."""
    return options.num_players * options.dice * options.sides + 1 + options.exact_call


def max_length(options):
    """Each bid once and a call, in each bidding. Without exact calls each bidding costs a die, and one die is left."""
    if options.format == "single":
        biddings = 1
    else:
        biddings = MAX_BIDDINGS if options.exact_call else options.num_players * options.dice - 1
    return biddings * (options.num_players * options.dice * options.sides + 1)


def returns(options):
    """A point won or lost."""
    return Returns(-1, 1, None if options.exact_call else 0, "points")
