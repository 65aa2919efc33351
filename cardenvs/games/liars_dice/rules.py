"""Liar's dice: options, state, table and rules. Paragraph numbers are those of rules.md."""

from dataclasses import dataclass

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.codes import NO_DECK
from cardenvs.core.errors import OptionError
from cardenvs.core.events import Op, Part, Table
from cardenvs.core.kernel import kernel
from cardenvs.core.options import Options, option, rules_dtype
from cardenvs.core.record import record
from cardenvs.core.returns import Returns
from cardenvs.core.rng import random_below, start_stream
from cardenvs.core.seats import wrap
from cardenvs.kits.deck import begin_world

MAX_PLAYERS, MAX_DICE, MAX_SIDES = 5, 5, 8
MAX_BIDS = MAX_PLAYERS * MAX_DICE * MAX_SIDES
EXACT_BIDDINGS = 100  # in which *exact* may be called (4.7)
ROLLS = 1  # chance source

# Values of options in a record.
NONE_WILD, ONES_WILD, HIGHEST_WILD = range(3)
QUANTITY_FIRST, FACE_FIRST = range(2)
HALVED = 1
ELIMINATION = 1
DIFFERENCE = 1

# What explain_illegal returns.
NO_BID, TOO_MANY, NOT_HIGHER, NOT_THE_FACE, OPENS_ON_ONES, NO_EXACT = range(1, 7)


@dataclass(frozen=True)
class LiarsDiceOptions(Options):
    """Options of liar's dice."""

    num_players: int = option(2, low=2, high=MAX_PLAYERS, doc="players at the table")
    dice: int = option(5, low=1, high=MAX_DICE, doc="dice of each player at the start")
    sides: int = option(6, low=4, high=MAX_SIDES, doc="faces of a die")
    wild: str = option(
        "sixes",
        choices=("none", "ones", "sixes"),
        doc="face that counts for every face; sixes: the highest, whatever the number of sides (1.3)",
    )
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
        """Raise OptionError for options that have no meaning with the others."""
        if self.ones_bids == "halved" and (self.wild != "ones" or self.bidding != "quantity_first"):
            raise OptionError("ones_bids=halved needs wild=ones and bidding=quantity_first")
        if not self.open_on_ones and self.ones_bids != "halved":
            raise OptionError("open_on_ones=false needs ones_bids=halved")
        for name, has_effect in (("loss=difference", self.loss == "difference"), ("palifico=true", self.palifico)):
            if has_effect and self.format != "elimination":
                raise OptionError(f"{name} needs format=elimination")


STATE = record(
    rules_dtype(LiarsDiceOptions),
    MAX_PLAYERS,
    [
        ("num_dice", "i1", (MAX_PLAYERS,)),  #                                              seen by: all
        ("all_dice", "i1"),  # their sum                                                    seen by: all
        ("is_shown", "u1"),  # 1: the dice were shown, and no others rolled                 seen by: all
        ("num_bids", "u1"),  # made in this bidding                                         seen by: all
        ("quantity", "i1"),  # of the last bid; 0 before the first                          seen by: all
        ("face", "i1"),  # of the last bid, from 1; 0 before the first                      seen by: all
        ("bidder", "i1"),  # of the last bid                                                seen by: all
        ("is_palifico", "u1"),  # whether this bidding is one (4.6)                         seen by: all
        ("had_palifico", "u1", (MAX_PLAYERS,)),  #                                          seen by: all
        ("num_biddings", "i2"),  # begun                                                    seen by: all
        ("dice", "i1", (MAX_PLAYERS, MAX_SIDES)),  # how many dice show each face           seen by: owner; all if shown
        ("shown", "i1", (MAX_PLAYERS, MAX_SIDES)),  # dice shown last; 0 in the first bidding   seen by: all
        ("bids", "u1", (MAX_BIDS, 2)),  # id and bidder of each, in order; last, as few are made    seen by: all
    ],
)

TABLE = Table(MAX_PLAYERS)
DICE = TABLE.counter("dice", per_player=True)  # sorted, as one number: 255 is a two and two fives
NUM_DICE = TABLE.counter("num_dice", per_player=True, use="none", value="num_dice")
BID = TABLE.counter("bid", value=lambda s: 10 * s.quantity + s.face)  # 35 is 3-5; 0 before the first
BEGINS = TABLE.event("begin", Op.SET, "{player} has {value:die}.", is_detail=True)
STARTS = TABLE.event("start", Op.NOTE, "{player} starts bidding {value}.", opens=Part.HAND)
ROLLED = TABLE.event("roll", Op.SET, "{player} rolls {value}.")
PALIFICO = TABLE.event("palifico", Op.NOTE, "No dice are wild, and the first bid fixes the face.")
NO_BIDS = TABLE.event("no_bid", Op.SET, "There is no bid.", is_detail=True)
BIDS = TABLE.event("bid", Op.SET, "{player} bids {value}.")
CALLS_LIAR = TABLE.event("liar", Op.NOTE, "{player} calls liar.")
CALLS_EXACT = TABLE.event("exact", Op.NOTE, "{player} calls the bid exact.")
SHOWS = TABLE.event("show", Op.SET, "{player} shows {value}.", reveals_hidden_value=True)
MATCH = TABLE.event("match", Op.NOTE, "{value:die} match the bid.", reveals_hidden_value=True)
LEFT_WITH = TABLE.event(
    "left_with", Op.SET, "{player} is left with {value:die}.", reveals_hidden_value=True, closes=Part.HAND
)
GETS_BACK = TABLE.event(
    "get_back", Op.SET, "{player} gets a die back and has {value}.", reveals_hidden_value=True, closes=Part.HAND
)
GETS_NONE = TABLE.event(
    "get_none", Op.NOTE, "{player} is right and has all dice.", reveals_hidden_value=True, closes=Part.HAND
)
WINS = TABLE.event("win", Op.NOTE, "{player} wins.", reveals_hidden_value=True, closes=Part.HAND)
FORFEITS = TABLE.event("forfeit", Op.NOTE, "{player} forfeits.")


# ---------------------------------------------------------------------------------------------------------------
# Bids and their ids


def most_bids(options):
    """Return the number of bids of the game; the next ids are *liar* and *exact*."""
    return options.num_players * options.dice * options.sides


liar_of = kernel(most_bids, inline=True)  # the same for the options in a record


@kernel(inline=True)
def bid_id(s, quantity, face):
    """Return the id of a bid: bids in the order of 2.2 or 2.3."""
    if s.rules.bidding == FACE_FIRST:
        return (face - 1) * s.rules.num_players * s.rules.dice + quantity - 1
    return (quantity - 1) * s.rules.sides + face - 1


@kernel(inline=True)
def quantity_of(s, bid):
    """Return the number of dice that a bid names."""
    if s.rules.bidding == FACE_FIRST:
        return bid % (s.rules.num_players * s.rules.dice) + 1
    return bid // s.rules.sides + 1


@kernel(inline=True)
def face_of(s, bid):
    """Return the face that a bid names, from 1."""
    if s.rules.bidding == FACE_FIRST:
        return bid // (s.rules.num_players * s.rules.dice) + 1
    return bid % s.rules.sides + 1


@kernel(inline=True)
def wild_face(s):
    """Return the face that counts for all (1.3), or 0 if there is none."""
    if s.is_palifico or s.rules.wild == NONE_WILD:
        return np.int64(0)
    return np.int64(1 if s.rules.wild == ONES_WILD else s.rules.sides)


@kernel(inline=True)
def lowest_quantity(s, face):
    """Return the least number of dice that a bid on `face` may name now; more than are in play if it may not be bid."""
    never = s.all_dice + 1
    if s.quantity == 0:
        return never if face == 1 and not _may_open_on_ones(s) else 1
    if face == s.face:
        return s.quantity + 1
    if s.is_palifico:
        return never
    if s.rules.bidding == FACE_FIRST:
        return 1 if face > s.face else never
    if s.rules.ones_bids == HALVED and face == 1:
        return (s.quantity + 1) // 2
    if s.rules.ones_bids == HALVED and s.face == 1:
        return 2 * s.quantity + 1
    return s.quantity if face > s.face else s.quantity + 1


@kernel(inline=True)
def _may_open_on_ones(s):
    return s.rules.open_on_ones or s.is_palifico


# ---------------------------------------------------------------------------------------------------------------
# Rolls


@kernel(inline=True)
def deal(s, given, log):
    """Hand out the dice and begin the first bidding (1.1, 2.1). `given` are faces for the first roll."""
    for p in range(s.rules.num_players):
        s.num_dice[p] = s.rules.dice
        ev.log_set(log, BEGINS, p, NUM_DICE + p, s.num_dice[p])
    s.all_dice = s.rules.num_players * s.rules.dice
    _begin_bidding(s, 0, given, log)


@kernel
def _begin_bidding(s, starter, given, log):
    """Everybody rolls, and `starter` is to bid (1.2)."""
    start_stream(s, ROLLS, s.num_biddings)
    s.num_biddings += 1
    s.is_shown = 0
    ev.log_note(log, STARTS, starter, s.num_biddings)
    next_given = 0
    for p in range(s.rules.num_players):
        next_given = _roll(s, p, given, next_given)
        if log.shape[0]:  # the number takes longer than the roll
            ev.log_event(log, ROLLED, p, ev.UNKNOWN, DICE + p, ev.NO_PLACE, as_number(s, p), 1 << p, ev.EVERYBODY)
    s.num_bids = s.quantity = s.face = 0
    ev.log_set(log, NO_BIDS, ev.NO_PLAYER, BID, 0)
    s.current_player = starter
    if s.is_palifico:
        ev.log_note(log, PALIFICO, ev.NO_PLAYER, 0)


@kernel(inline=True)
def _roll(s, player, given, k):
    """Replace the dice of `player` by faces given[k:], then by chance; return the next k."""
    for face in range(s.rules.sides):
        s.dice[player, face] = 0
    for _ in range(s.num_dice[player]):
        face = given[k] if k < given.shape[0] else random_below(s.rng, s.rules.sides)
        s.dice[player, face] += 1
        k += 1
    return k


@kernel
def as_number(s, player):
    """Return a player's sorted dice as one number, as in 255 for a two and two fives; 0 without dice."""
    number = 0
    for face in range(s.rules.sides):
        for _ in range(s.dice[player, face]):
            number = 10 * number + face + 1
    return number


# ---------------------------------------------------------------------------------------------------------------
# Actions


@kernel(inline=True)
def legal_actions(s, out):
    """List higher bids on dice in play, and calls of the last bid (2.1, 2.4, 3.2)."""
    n = 0
    if s.rules.bidding == FACE_FIRST:
        n = _list_by_face(s, out)
    elif s.is_palifico or s.rules.ones_bids == HALVED:
        n = _list_by_quantity(s, out)
    else:  # all ids above the last bid's
        first = bid_id(s, s.quantity, s.face) + 1 if s.quantity else 0
        n = np.int64(s.all_dice) * s.rules.sides - first
        for k in range(n):
            out[np.uint64(k)] = first + k
    if s.quantity:
        out[n] = liar_of(s.rules)
        n += 1
        if may_call_exact(s):
            out[n] = liar_of(s.rules) + 1
            n += 1
    return n


@kernel(inline=True)
def _list_by_face(s, out):
    n = 0
    for face in range(max(s.face, 1), s.rules.sides + 1):
        for quantity in range(lowest_quantity(s, face), s.all_dice + 1):
            out[n] = bid_id(s, quantity, face)
            n += 1
    return n


@kernel(inline=True)
def _list_by_quantity(s, out):
    n = 0
    for quantity in range(1, s.all_dice + 1):
        for face in range(1, s.rules.sides + 1):
            if quantity >= lowest_quantity(s, face):
                out[n] = bid_id(s, quantity, face)
                n += 1
    return n


@kernel(inline=True)
def may_call_exact(s):
    """Return whether *exact* is still allowed, once there is a bid (3.2, 4.7)."""
    return s.rules.exact_call and s.num_biddings <= EXACT_BIDDINGS


@kernel(inline=True)
def explain_illegal(s, action):
    """Return 0 if `action` is legal, else one of the codes above."""
    liar = liar_of(s.rules)
    if action >= liar:
        if s.quantity == 0:
            return NO_BID
        return NO_EXACT if action > liar and not may_call_exact(s) else 0
    quantity, face = quantity_of(s, action), face_of(s, action)
    if quantity > s.all_dice:
        return TOO_MANY
    if quantity >= lowest_quantity(s, face):
        return 0
    if s.quantity == 0:
        return OPENS_ON_ONES
    return NOT_THE_FACE if s.is_palifico and face != s.face else NOT_HIGHER


@kernel(inline=True)
def apply_action(s, action, log):
    """Bid or call for the player to act."""
    player = np.int64(s.current_player)
    liar = liar_of(s.rules)
    if action < liar:
        _bid(s, player, action, log)
        return
    ev.log_note(log, CALLS_LIAR if action == liar else CALLS_EXACT, player, 0)
    _show_dice(s, log)
    matches = num_matches(s)
    ev.log_note(log, MATCH, ev.NO_PLAYER, matches)
    if action == liar:
        _settle_liar(s, player, matches, log)
    else:
        _settle_exact(s, player, matches == s.quantity, log)


@kernel(inline=True)
def _bid(s, player, bid, log):
    """The player makes a bid, and the next one is to act (2.1)."""
    s.bids[s.num_bids, 0], s.bids[s.num_bids, 1] = bid, player
    s.num_bids += 1
    s.quantity, s.face, s.bidder = quantity_of(s, bid), face_of(s, bid), player
    ev.log_set(log, BIDS, player, BID, 10 * s.quantity + s.face)
    s.current_player = _next_with_dice(s, player)


@kernel(inline=True)
def _next_with_dice(s, player):
    """Return the next player after `player` who has dice."""
    seat = wrap(player + 1, s.rules.num_players)
    while s.num_dice[seat] == 0:
        seat = wrap(seat + 1, s.rules.num_players)
    return seat


@kernel(inline=True)
def _show_dice(s, log):
    """All dice are shown (3.1)."""
    s.is_shown = 1
    for p in range(s.rules.num_players):
        for face in range(s.rules.sides):
            s.shown[p, face] = s.dice[p, face]
        if log.shape[0]:
            ev.log_set(log, SHOWS, p, DICE + p, as_number(s, p))


@kernel(inline=True)
def num_matches(s):
    """Return the number of dice that count for the last bid (1.3)."""
    wild, matches = wild_face(s), 0
    for p in range(s.rules.num_players):
        matches += s.dice[p, s.face - 1]
        if wild and wild != s.face:
            matches += s.dice[p, wild - 1]
    return matches


# ---------------------------------------------------------------------------------------------------------------
# Results


@kernel(inline=True)
def _settle_liar(s, caller, matches, log):
    """The bidder or the caller loses (3.1, 4.1 to 4.3)."""
    bidder = np.int64(s.bidder)
    winner, loser = (caller, bidder) if matches < s.quantity else (bidder, caller)
    if s.rules.format != ELIMINATION:
        _settle_single(s, winner, loser, log)
    else:
        off = abs(matches - s.quantity)
        _take_dice(s, loser, max(off, 1) if s.rules.loss == DIFFERENCE else 1, log)


@kernel(inline=True)
def _settle_exact(s, caller, is_right, log):
    """The caller wins or loses (3.2, 4.4)."""
    bidder = np.int64(s.bidder)
    if s.rules.format != ELIMINATION:
        _settle_single(s, caller if is_right else bidder, bidder if is_right else caller, log)
    elif is_right:
        _give_back(s, caller, log)
    else:
        _take_dice(s, caller, 1, log)


@kernel(inline=True)
def _settle_single(s, winner, loser, log):
    """One point between two players (4.1)."""
    s.rewards[winner], s.rewards[loser] = 1, -1
    s.terminal = 1
    ev.log_note(log, WINS, winner, 0)


@kernel(inline=True)
def _give_back(s, player, log):
    """`player` gets a die, if one has been lost, and starts (4.4, 4.5)."""
    if s.num_dice[player] < s.rules.dice:
        s.num_dice[player] += 1
        s.all_dice += 1
        ev.log_set(log, GETS_BACK, player, NUM_DICE + player, s.num_dice[player])
    else:
        ev.log_note(log, GETS_NONE, player, 0)
    s.is_palifico = 0
    _begin_bidding(s, player, NO_DECK, log)


@kernel
def _take_dice(s, loser, dice, log):
    """`loser` gives up dice, or leaves; the last one with dice wins, else a new bidding begins (4.2, 4.3, 4.5, 5.2)."""
    dice = min(dice, np.int64(s.num_dice[loser]))
    s.num_dice[loser] -= dice
    s.all_dice -= dice
    ev.log_set(log, LEFT_WITH, loser, NUM_DICE + loser, s.num_dice[loser])
    starter = loser if s.num_dice[loser] else _next_with_dice(s, loser)
    if s.num_dice[starter] == s.all_dice:
        _win(s, starter, log)
        return
    s.is_palifico = s.rules.palifico and s.num_dice[loser] == 1 and not s.had_palifico[loser]
    if s.is_palifico:
        s.had_palifico[loser] = 1
    _begin_bidding(s, starter, NO_DECK, log)


@kernel(inline=True)
def _win(s, winner, log):
    """`winner` gets a point, in equal parts from those who have not yet paid by leaving (4.2, 5.2)."""
    for p in range(s.rules.num_players):
        if p != winner and s.active[p]:
            s.rewards[p] = -1 / (s.rules.num_players - 1)
    s.rewards[winner] = 1
    s.terminal = 1
    ev.log_note(log, WINS, winner, 0)


@kernel(inline=True)
def forfeit(s, player, log):
    """`player` gives up the point of a single bidding, or all dice (5.1, 5.2)."""
    s.active[player] = 0
    ev.log_note(log, FORFEITS, player, 0)
    share = 1 / (s.rules.num_players - 1)
    if s.rules.format == ELIMINATION:
        s.rewards[player] = -share
        _take_dice(s, player, MAX_DICE, log)
        return
    for p in range(s.rules.num_players):
        s.rewards[p] = -1 if p == player else share
    s.terminal = 1


@kernel(inline=True)
def determinize(s, player, seed):
    """Roll the dice of everybody else again, unless they have been shown (6.2)."""
    begin_world(s, seed)
    if s.is_shown:
        return
    for p in range(s.rules.num_players):
        if p != player:
            _roll(s, p, NO_DECK, 0)


# ---------------------------------------------------------------------------------------------------------------
# Spaces


def deck(options):
    """Return no tokens: dice are counters."""
    return np.zeros(0, np.int16)


def first_roll(options):
    """Return faces (token k is face k + 1) and dice of an explicit roll: player 0's dice, then player 1's, ..."""
    return options.sides, options.num_players * options.dice


def dealt_tokens(options):
    """Return the number of all dice, if they are rolled once; else None."""
    return options.num_players * options.dice if options.format == "single" else None


def num_actions(options):
    """Count all bids, *liar*, and *exact* if it is allowed."""
    return most_bids(options) + 1 + options.exact_call


def max_length(options):
    """Count each bid once and a call, in each bidding; those that cost no die end with the exact calls (4.7)."""
    if options.format == "single":
        biddings = 1
    else:
        biddings = options.num_players * options.dice - 1 + EXACT_BIDDINGS * options.exact_call
    return biddings * (most_bids(options) + 1)


returns = Returns(-1, 1, 0, "points")
