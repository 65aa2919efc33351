"""Options, cards, state record and table of Euchre. Paragraph numbers are those of rules.md."""

from dataclasses import dataclass

import numpy as np

from cardenvs.core.events import Op, Part, Table
from cardenvs.core.kernel import kernel
from cardenvs.core.options import Options, option, rules_dtype
from cardenvs.core.record import record
from cardenvs.core.seats import wrap
from cardenvs.kits.cards import Pack
from cardenvs.kits.deck import NO_CARD, deck_fields, stock_of
from cardenvs.kits.matches import declare_forfeit
from cardenvs.kits.tricks import MUST_BEAT, Ranking, Tricks, card_in_trick, trick_fields

NUM_PLAYERS = 4
NUM_SIDES = 2
HAND_SIZE = NUM_TRICKS = 5
TRICKS_TO_MAKE = 3
MOST_POINTS = 4  # of a hand
MAX_TARGET = 21
MAX_HANDS = 100  # of a match (6.4)
NO_TRUMP = -1

PACK = Pack("9TJQKA", "cdhs", by="rank", joker=True)
JOKER = PACK.size - 1
NUM_SUITS = len(PACK.suits)
UPCARD_AT = NUM_PLAYERS * HAND_SIZE  # its place in the deck
SAME_COLOUR = np.array([PACK.suits.index(suit) for suit in "shdc"], np.int8)  # the other suit of each colour

NAME_JOKER, ORDER, CALL, DISCARD, ALONE, DEFEND, PLAY = range(7)
PHASES = ("name_joker", "order", "call", "discard", "alone", "defend", "play")

# Actions: play or lay away card c, as in OpenSpiel; pass; make a suit trumps; go alone, or with one's partner; the
# joker, whose id is not its number as a card, so that the other ids do not depend on it.
PASS = JOKER
TRUMP_0 = PASS + 1
GO_ALONE, WITH_PARTNER = TRUMP_0 + NUM_SUITS, TRUMP_0 + NUM_SUITS + 1
PLAY_JOKER = WITH_PARTNER + 1

LEFT_OF_MAKER = 1  # value of an option in a record

# What explain_illegal returns: that something else is asked in this phase (ASKED + phase), or why not this.
ASKED = MUST_BEAT + 1
ONLY_UPCARD, NEEDS_SUIT, TURNED_DOWN, STUCK, UPCARD_STAYS = range(ASKED + len(PHASES), ASKED + len(PHASES) + 5)


@dataclass(frozen=True)
class EuchreOptions(Options):
    """Options of Euchre."""

    num_players: int = option(NUM_PLAYERS, low=NUM_PLAYERS, high=NUM_PLAYERS, doc="players, in two partnerships")
    stick_the_dealer: bool = option(True, doc="whether the dealer must name a suit after seven passes (3.3)")
    joker: bool = option(False, doc="whether a joker is the highest trump (1.4)")
    discard_upcard: bool = option(False, doc="whether the dealer may lay away the upcard (3.4)")
    need_suit_to_order: bool = option(False, doc="whether ordering up needs a card of the suit in hand (3.2)")
    partner_assist_alone: bool = option(False, doc="whether the dealer's partner who orders up plays alone (3.5)")
    lone_defender: bool = option(False, doc="whether defenders may play alone (3.6)")
    alone_lead: str = option(
        "left_of_dealer",
        choices=("left_of_dealer", "left_of_maker"),
        doc="who leads if the maker plays alone: the player to the left of the dealer or of the maker (4.1)",
    )
    super_euchre: bool = option(False, doc="whether makers without a trick lose 4 points (5.2)")
    alone_euchre: int = option(2, low=2, high=MOST_POINTS, doc="points lost by a maker who fails alone (5.2)")
    target: int | None = option(
        None, low=1, high=MAX_TARGET, optional=True, doc="points that win a match, usually 10; None: one hand (6)"
    )
    dealer: int | None = option(
        None, low=0, high=NUM_PLAYERS - 1, optional=True, doc="who deals first; None: a random player (2.1)"
    )


STATE = record(
    rules_dtype(EuchreOptions),
    NUM_PLAYERS,
    [
        *deck_fields(PACK.size),
        *trick_fields(NUM_PLAYERS, NUM_TRICKS),
        ("phase", "i1"),  #                                                                    seen by: all
        ("dealer", "i1"),  #                                                                   seen by: all
        ("upcard", "i1"),  #                                                                   seen by: all
        ("suit_up", "i1"),  # of the upcard; that of a joker is -1 until it is named           seen by: all
        ("passes", "i1"),  # in this hand                                                      seen by: all
        ("trump", "i1"),  # suit, or NO_TRUMP before it is made                                seen by: all
        ("maker", "i1"),  # who made it, or NO_PLAYER                                          seen by: all
        ("laid_away", "i1"),  # by the dealer, or NO_CARD                                      seen by: dealer
        ("alone", "u1", (NUM_PLAYERS,)),  # whether p plays alone                              seen by: all
        ("won", "i8", (NUM_PLAYERS,)),  # bit sets of the cards in tricks that p has won       seen by: all
        ("tricks_won", "i1", (NUM_SIDES,)),  # in this hand                                    seen by: all
        ("num_hands", "i1"),  # begun                                                          seen by: all
        ("scores", "i1", (NUM_SIDES,)),  #                                                     seen by: all
        ("hand_points", "i1", (MAX_HANDS, NUM_SIDES)),  # of the hands that are over           seen by: all
        # At the end of the hand before
        ("last_won", "i8", (NUM_PLAYERS,)),  # as `won`                                        seen by: all
        ("last_hands", "i8", (NUM_PLAYERS,)),  # cards left, of those who sat out or passed    seen by: owner
        ("last_laid_away", "i1"),  #                                                           seen by: that dealer
        ("last_upcard", "i1"),  #                                                              seen by: all
        ("last_was_taken", "u1"),  # whether the dealer took it                                seen by: all
    ],
)


# ---------------------------------------------------------------------------------------------------------------
# Cards


@kernel(inline=True)
def pack_size(s):
    """Return the number of cards in the game (1.4)."""
    return JOKER + s.rules.joker


@kernel(inline=True)
def partner_of(player):
    """Return the partner of a player."""
    return player ^ 2


@kernel(inline=True)
def sits_out(s, player):
    """Return whether a player's partner plays alone (3.5)."""
    return s.alone[partner_of(player)]


@kernel(inline=True)
def next_in_hand(s, player):
    """Return the next player who takes part in the hand."""
    seat = wrap(player + 1, NUM_PLAYERS)
    while sits_out(s, seat):
        seat = wrap(seat + 1, NUM_PLAYERS)
    return seat


@kernel(inline=True)
def is_taken(s):
    """Return whether the dealer has taken the upcard (3.4): its suit is trumps."""
    return s.trump != NO_TRUMP and s.trump == s.suit_up


@kernel
def upcard_in_hand(s, player):
    """Return the upcard, as a bit set, if all know that `player` holds it (7.2); else nothing."""
    if player != s.dealer or not is_taken(s) or (s.rules.discard_upcard and s.phase != DISCARD):
        return np.int64(0)
    return s.hands[player] & np.int64(1) << s.upcard


@kernel(inline=True)
def _trumps(s):
    """Return the row of the tables for the suit of trumps; before it is made any row, since nothing is played."""
    return max(np.int64(s.trump), 0)


def _ranking_tables() -> tuple[np.ndarray, np.ndarray]:
    """Return the suit of each card and its height, by the suit of trumps (1.2 to 1.4)."""
    suits = np.tile(PACK.suit_index, (NUM_SUITS, 1))
    heights = np.tile(PACK.rank_index, (NUM_SUITS, 1))
    ace = PACK.ranks.index("A")
    for trump, suit in enumerate(PACK.suits):
        left, right = PACK.parse("J" + PACK.suits[SAME_COLOUR[trump]]), PACK.parse("J" + suit)
        for above, card in enumerate((left, right, JOKER), 1):
            suits[trump, card], heights[trump, card] = trump, ace + above
    return suits, heights


SUIT_TABLE, HEIGHT_TABLE = _ranking_tables()  # int8 (trump, card)
# The cards that count as each suit, as bit sets (trump, suit)
SUIT_SETS = np.array(
    [[sum(1 << card for card in np.flatnonzero(of == suit).tolist()) for suit in range(NUM_SUITS)] for of in SUIT_TABLE]
)


# ---------------------------------------------------------------------------------------------------------------
# The table


TABLE = Table(NUM_PLAYERS)

STOCK = TABLE.pile("stock", layout="stack", tokens=stock_of, seen="nobody")
TURNED_UP = TABLE.pile("turned_up", tokens=lambda s: NO_CARD if is_taken(s) else s.upcard)
HAND = TABLE.pile("hand", per_player=True, layout="hand", cards="hands", seen="owner", known=upcard_in_hand)
LAID_AWAY = TABLE.pile(
    "laid_away", per_player=True, layout="stack", tokens=lambda s, p: s.laid_away if p == s.dealer else NO_CARD,
    seen="owner",
)  # fmt: skip
TRICK = TABLE.pile("trick", per_player=True, layout="trick", tokens=card_in_trick)
WON = TABLE.pile("tricks", per_player=True, layout="won", cards="won")

DEALER = TABLE.counter("dealer", use="player", value="dealer")
TRUMP = TABLE.counter("trump", value=lambda s: s.trump + 1)  # 0 before it is made
TRICKS_WON = TABLE.counter("tricks_won", per_player=True, value="tricks_won")  # by side; 0 for players 2 and 3
SCORE = TABLE.counter("score", per_player=True, value="scores")  # likewise
HAND_NUMBER = TABLE.counter("hand_number", value="num_hands")

CLEAR_TABLE = TABLE.event("clear_table", Op.CLEAR, "All cards are gathered.", is_detail=True)
NEW_HAND = TABLE.event("new_hand", Op.SET, "Hand {value}.", opens=Part.HAND)
DEALS = TABLE.event("dealer", Op.SET, "{player} deals.")
NO_TRUMPS_YET = TABLE.event("no_trumps_yet", Op.SET, "There are no trumps yet.", is_detail=True)
NO_TRICKS_YET = TABLE.event("no_tricks_yet", Op.SET, "{player}'s side has no tricks yet.", is_detail=True)
SHUFFLE = TABLE.event("shuffle", Op.CREATE, "The deck of {value} cards is shuffled.", is_detail=True)
DEALT = TABLE.event("deal", Op.MOVE, "{player} is dealt {token}.")
TURNS_UP = TABLE.event("turn_up", Op.MOVE, "{token} is turned up.")
NAMES_JOKER = TABLE.event("name_joker", Op.NOTE, "The joker counts as {value}.")
PASSES = TABLE.event("pass", Op.NOTE, "{player} passes.")
TURNS_DOWN = TABLE.event("turn_down", Op.NOTE, "The upcard is turned down.")
ORDERS = TABLE.event("order", Op.SET, "{player} orders up {value}.")
CALLS = TABLE.event("call", Op.SET, "{player} calls {value}.")
TAKES_UP = TABLE.event("take_up", Op.MOVE, "{player} takes up {token}.")
LAYS_AWAY = TABLE.event("lay_away", Op.MOVE, "{player} lays {token} away.")
KEEPS = TABLE.event("keep", Op.REVEAL, "{player} keeps {token}.", is_detail=True)
GOES_ALONE = TABLE.event("go_alone", Op.NOTE, "{player} plays alone.")
TAKES_PARTNER = TABLE.event("with_partner", Op.NOTE, "{player} plays with a partner.")
LEADS = TABLE.event("lead", Op.MOVE, "{player} leads {token}.")
PLAYS = TABLE.event("play", Op.MOVE, "{player} plays {token}.")
TAKES = TABLE.event("take", Op.MOVE_ALL, "{player}'s card goes to {target}.", is_detail=True)
WINS_TRICK = TABLE.event("win_trick", Op.SET, "{player} wins the trick; the side has {value}.", closes=Part.TRICK)
EUCHRED = TABLE.event("euchred", Op.NOTE, "{player}'s side is euchred.", closes=Part.HAND)
PASSED_OUT = TABLE.event("passed_out", Op.NOTE, "Everybody has passed: the hand is void.", closes=Part.HAND)
SCORES = TABLE.event("score", Op.SET, "{player}'s side has {value:point}.", closes=Part.HAND)
WINS = TABLE.event("win", Op.NOTE, "{player}'s side wins the match.")
DRAWN = TABLE.event("drawn", Op.NOTE, "The match is drawn after {value:hand}.")
FORFEITS = declare_forfeit(TABLE)

TRICKS = Tricks(
    TABLE,
    Ranking.tables(PACK, tuple(PACK.suits), SUIT_TABLE, HEIGHT_TABLE, np.arange(NUM_SUITS), _trumps),
    next_player=next_in_hand,
)
