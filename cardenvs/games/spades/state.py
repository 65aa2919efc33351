"""Options, state record and table of Spades. Paragraph numbers are those of rules.md."""

from dataclasses import dataclass

from cardenvs.core.errors import OptionError
from cardenvs.core.events import Op, Part, Table
from cardenvs.core.kernel import kernel
from cardenvs.core.options import Options, option, rules_dtype
from cardenvs.core.record import record
from cardenvs.kits import matches
from cardenvs.kits.bids import Bids, bid_fields
from cardenvs.kits.cards import Pack
from cardenvs.kits.deck import NO_CARD
from cardenvs.kits.matches import declare_forfeit
from cardenvs.kits.tricks import ACE_HIGH, MUST_BEAT, Ranking, Tricks, card_in_trick, trick_fields

NUM_PLAYERS = 4
HAND_SIZE = 13  # and the number of tricks, and the highest bid
MAX_HANDS = 50  # of a match (6.4)

PACK = Pack(ACE_HIGH, "cdhs")  # id = suit * 13 + rank, with rank 0 for the 2
CLUB, SPADE = PACK.suits.index("c"), PACK.suits.index("s")
CLUBS, SPADES = (int(PACK.suit_sets[suit]) for suit in (CLUB, SPADE))
OTHER_SUITS = (1 << len(PACK.suits)) - 1 ^ 1 << SPADE  # as a bit set of suits

BLIND, BIDDING, EXCHANGE, PLAY = range(4)
PHASES = ("blind", "bidding", "exchange", "play")

# Actions: card c, to give or to play; bids from 0; and the two answers before a player has seen any card.
BID_0 = PACK.size
BLIND_NIL = BID_0 + HAND_SIZE + 1
LOOK = BLIND_NIL + 1

# Values of options in a record
COUNT = 1
STANDARD, OFF, NEVER = range(3)
LOW_CLUB = 1

# What explain_illegal returns: that something else is asked in this phase (ASKED + phase), or why not this.
ASKED = MUST_BEAT + 1
NO_NIL, TOO_LOW, TOO_HIGH, NOT_BROKEN, NEVER_LED, NO_FIRST_SPADE, LOWEST_CLUB = range(ASKED + 4, ASKED + 11)


@dataclass(frozen=True)
class SpadesOptions(Options):
    """Options of Spades."""

    num_players: int = option(NUM_PLAYERS, low=NUM_PLAYERS, high=NUM_PLAYERS, doc="players at the table")
    partners: bool = option(True, doc="whether players who sit opposite each other are partners; else all play alone")
    dealer: int = option(3, low=0, high=NUM_PLAYERS - 1, doc="who deals first (2.1)")
    nil: bool = option(True, doc="whether a bid of 0 is allowed, which is nil (3.2)")
    nil_points: int = option(100, low=0, high=500, doc="points won or lost by nil (5.3)")
    blind_nil: bool = option(False, doc="whether sides that are behind may bid nil before they see their cards (3.4)")
    blind_nil_points: int = option(200, low=0, high=500, doc="points won or lost by blind nil (5.3)")
    blind_deficit: int = option(100, low=0, high=500, doc="points by which a side must be behind for blind nil (3.4)")
    blind_nil_pass: int = option(0, low=0, high=4, doc="cards exchanged with the partner after blind nil (3.5)")
    failed_nil: str = option("bags", choices=("bags", "count"), doc="what the tricks of a failed nil are (5.4)")
    max_team_bid: int | None = option(13, low=1, high=26, optional=True, doc="most that a side may bid (3.3)")
    min_team_bid: int = option(0, low=0, high=HAND_SIZE, doc="least that a side may bid (3.3)")
    break_spades: str = option(
        "standard",
        choices=("standard", "off", "never"),
        doc="when spades may be led: once they are broken, always, or only if nothing else is held (4.3)",
    )
    first_lead: str = option("any", choices=("any", "low_club"), doc="what is played to the first trick (4.4)")
    bag_limit: int = option(10, low=1, high=100, doc="bags that cost a penalty (5.5)")
    bag_penalty: int = option(100, low=0, high=500, doc="points that they cost (5.5)")
    bag_points: int = option(1, low=0, high=10, doc="points of a bag (5.2)")
    target: int | None = option(
        None, low=50, high=1000, optional=True, doc="points that win a match, usually 500; None: one hand (6)"
    )
    lose_at: int | None = option(
        None, low=-1000, high=-50, optional=True, doc="points, below 0, at which a match is lost; None: never (6.2)"
    )
    outcomes: bool = option(False, doc="whether observations say what each bid and card promises")

    def check(self):
        """Raise OptionError if options do not fit together."""
        lowest = 0 if self.nil else 1
        if self.max_team_bid is not None and self.max_team_bid < max(self.min_team_bid, 2 * lowest):
            raise OptionError(
                f"max_team_bid={self.max_team_bid} leaves no bid: it must be at least min_team_bid, and 2 without nil"
            )
        if self.blind_nil and not self.nil:
            raise OptionError("blind_nil needs nil=True")
        if self.blind_nil and self.target is None and self.blind_deficit:
            raise OptionError("in a single hand nobody is behind: blind_nil needs a match (target) or blind_deficit=0")
        if self.blind_nil_pass and not (self.blind_nil and self.partners):
            raise OptionError("blind_nil_pass needs blind_nil=True and partners=True")
        if self.lose_at is not None and self.target is None:
            raise OptionError("lose_at is for matches; it needs a target")


STATE = record(
    rules_dtype(SpadesOptions),
    NUM_PLAYERS,
    [
        # deck[13 * p:][:13] are the cards of player p until p is dealt them, then NO_CARD   seen by: nobody
        ("deck", "i1", (PACK.size,)),
        *trick_fields(NUM_PLAYERS, HAND_SIZE),
        *bid_fields(NUM_PLAYERS, MAX_HANDS),
        ("phase", "i1"),  #                                                       seen by: all
        ("dealer", "i1"),  #                                                      seen by: all
        ("num_deals", "i1"),  # hands begun                                       seen by: all
        ("blind", "u1", (NUM_PLAYERS,)),  # whether p has bid blind nil           seen by: all
        ("given", "i8", (NUM_PLAYERS,)),  # cards that p has given to the partner   seen by: the two
        ("is_broken", "u1"),  # whether spades are broken                         seen by: all
        ("won", "i8", (NUM_PLAYERS,)),  # cards in tricks that p has won          seen by: all
        ("last_won", "i8", (NUM_PLAYERS,)),  # the same in the hand before        seen by: all
        ("scores", "i4", (NUM_PLAYERS,)),  # by side                              seen by: all
        ("bags", "i1", (NUM_PLAYERS,)),  # by side, since the last penalty        seen by: all
    ],
)


# ---------------------------------------------------------------------------------------------------------------
# Sides, and cards that have not been looked at


def count_sides(rules):
    """Return the number of sides, from options or from a record's rules (1.2)."""
    return 2 if rules.partners else NUM_PLAYERS


_count_sides = kernel(count_sides, inline=True)


@kernel(inline=True)
def num_sides(s):
    """Return the number of sides."""
    return _count_sides(s.rules)


@kernel(inline=True)
def side_of(s, player):
    """Return the side of a player."""
    return matches.side_of(player, num_sides(s))


@kernel(inline=True)
def partner_of(player):
    """Return who sits opposite a player."""
    return player ^ 2


@kernel(inline=True)
def waits(s, player):
    """Return whether a player's cards still lie face down before the decision of 3.4."""
    return s.deck[HAND_SIZE * player] != NO_CARD


@kernel(inline=True)
def known_to_partner(s, player):
    """Return the cards that `player` was given by the partner and still holds, as a bit set (7.2)."""
    return s.given[partner_of(player)] & s.hands[player]


@kernel(inline=True)
def called_suit(s):
    """Return the suit that all must follow in this trick, the leader too, or -1 (4.4)."""
    return CLUB if s.rules.first_lead == LOW_CLUB and s.trick == 0 and s.phase == PLAY else -1


@kernel(inline=True)
def _spades(s):
    return SPADE


# ---------------------------------------------------------------------------------------------------------------
# The table

TABLE = Table(NUM_PLAYERS)

DECK = TABLE.pile("deck", layout="stack", tokens="deck", seen="nobody")
HAND = TABLE.pile("hand", per_player=True, layout="hand", cards="hands", seen="owner")
TRICK = TABLE.pile("trick", per_player=True, layout="trick", tokens=card_in_trick)
WON = TABLE.pile("tricks", per_player=True, layout="won", cards="won")

DEALER = TABLE.counter("dealer", use="player", value="dealer")
HAND_NUMBER = TABLE.counter("hand_number", value="num_deals")
IS_BLIND = TABLE.counter("blind", per_player=True, use="none", value="blind")
SCORE = TABLE.counter("score", per_player=True, value="scores")  # by side; with partners, 0 for players 2 and 3
BAGS = TABLE.counter("bags", per_player=True, value="bags")  # likewise

CLEAR_TABLE = TABLE.event("clear_table", Op.CLEAR, "All cards are gathered.", is_detail=True)
NEW_HAND = TABLE.event("new_hand", Op.SET, "Hand {value}.", opens=Part.HAND)
DEALS = TABLE.event("dealer", Op.SET, "{player} deals.")
SHUFFLE = TABLE.event("shuffle", Op.CREATE, "The deck of {value} cards is shuffled.", is_detail=True)
DEALT = TABLE.event("deal", Op.MOVE, "{player} is dealt {token}.")
NOT_BLIND = TABLE.event("not_blind", Op.SET, "{player} has not bid blind.", is_detail=True)
BIDS_BLIND = TABLE.event("bid_blind", Op.SET, "{player} bids without having seen a card.")
LOOKS = TABLE.event("look", Op.NOTE, "{player} looks at the cards.")
GIVES = TABLE.event("give", Op.MOVE, "{player} gives {token} to the partner.")
LEADS = TABLE.event("lead", Op.MOVE, "{player} leads {token}.")
PLAYS = TABLE.event("play", Op.MOVE, "{player} plays {token}.")
BROKEN = TABLE.event("broken", Op.NOTE, "Spades are broken.")
TAKES = TABLE.event("take", Op.MOVE_ALL, "{player}'s card goes to {target}.", is_detail=True)
# Of each pair, the second is for partners.
HAND_POINTS = TABLE.event("hand_points", Op.NOTE, "{player} gets {value:point} for the hand.", closes=Part.HAND)
TABLE.event("side_points", Op.NOTE, "{player}'s side gets {value:point} for the hand.", closes=Part.HAND)
HAS_BAGS = TABLE.event("bags", Op.SET, "{player} has {value:bag}.", closes=Part.HAND)
TABLE.event("side_bags", Op.SET, "{player}'s side has {value:bag}.", closes=Part.HAND)
SCORES = TABLE.event("score", Op.SET, "{player} has {value:point}.", closes=Part.HAND)
TABLE.event("side_score", Op.SET, "{player}'s side has {value:point}.", closes=Part.HAND)
WINS = TABLE.event("win", Op.NOTE, "{player} wins the match.")
TABLE.event("side_win", Op.NOTE, "{player}'s side wins the match.")
DRAWN = TABLE.event("drawn", Op.NOTE, "The match is drawn after {value:hand}.")
FORFEITS = declare_forfeit(TABLE)

BIDS = Bids(TABLE, BID_0)
TRICKS = Tricks(TABLE, Ranking.plain(PACK, trump=_spades), called=called_suit)  # (4.1, 4.2)
