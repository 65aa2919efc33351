"""Cards, options and state record of Ristiseiska. Paragraph numbers are those of rules.md."""

from dataclasses import dataclass

import numpy as np

from cardenvs.core.errors import OptionError
from cardenvs.core.kernel import kernel
from cardenvs.core.options import Options, option, rules_dtype
from cardenvs.core.record import record
from cardenvs.kits.cards import Pack
from cardenvs.kits.deck import deck_fields

MAX_PLAYERS = 5
NO_PLAYER = -1
NO_CARD = -1

PACK = Pack("A23456789TJQK", "cdhs", by="rank")  # id = rank * 4 + suit
NUM_CARDS, NUM_SUITS, NUM_RANKS = PACK.size, len(PACK.suits), len(PACK.ranks)
ACE, FIVE, SIX, SEVEN, EIGHT, KING = map(PACK.ranks.index, "A5678K")
FIRST_CARD = SEVEN * NUM_SUITS  # 7♣ (3.1)

# Sets of cards, as bit sets
RANK_SETS = np.array([15 << NUM_SUITS * rank for rank in range(NUM_RANKS)])
SUIT_SETS = PACK.suit_sets
ACES, SEVENS, EIGHTS, FIVES = (np.int64(RANK_SETS[rank]) for rank in (ACE, SEVEN, EIGHT, FIVE))
ACES_AND_KINGS = np.int64(RANK_SETS[ACE] | RANK_SETS[KING])
_BELOW = np.int64(sum(RANK_SETS[1 : SIX + 1]))  # twos to sixes, which need the card above
_ABOVE = np.int64(sum(RANK_SETS[EIGHT + 1 :]))  # nines to kings, which need the card below
_BIT_OF_FIRST = np.int64(1 << FIRST_CARD)

_TWO_TO_KING = sum(range(2, NUM_RANKS + 1))  # points of a suit without the ace

# Phases, and choices of options as a record holds them
PLAY, GIVE, MORE = 0, 1, 2
PHASES = ("play", "give", "more")
ACE_CHOICES, LOW, HIGH = ("low", "high", "closer"), 0, 1
BEG_CHOICES, GIVER, RANDOM, TOKEN = ("giver", "random", "none", "token"), 0, 1, 3
FIRST_OUT = 0
NO_MATCH = 0

MAX_NOTES = 128  # what begging has shown; see knowledge.py


@dataclass(frozen=True)
class RistiseiskaOptions(Options):
    """Options of Ristiseiska."""

    num_players: int = option(3, low=3, high=MAX_PLAYERS, doc="players at the table")
    six_before_eight: bool = option(True, doc="whether an eight needs the six of its suit, too (3.2)")
    five_after_eight: bool = option(False, doc="whether a five needs the eight of its suit, too (3.2)")
    ace: str = option("low", choices=ACE_CHOICES, doc="when an ace fits: after the two, the king, or all others (3.3)")
    beg: str = option("giver", choices=BEG_CHOICES, doc="what a player gets who cannot play (4.2)")
    beg_from: str = option("previous", choices=("previous", "next"), doc="who gives the card (4.3)")
    beg_first_round: bool = option(True, doc="whether players beg in the first round of turns, too (4.4)")
    give_last: bool = option(False, doc="whether a giver with a single card gives it (4.5)")
    play_begged: bool = option(False, doc="whether a card received is played at once if it fits (4.6)")
    extra: bool = option(False, doc="whether a player may play one more card after an ace or a king (4.7)")
    end: str = option("first_out", choices=("first_out", "places"), doc="whether others play on for places (5.1, 5.2)")
    ace_points: int = option(14, values=(1, 14), doc="penalty points of an ace (6.1)")
    token_points: int = option(25, low=0, high=100, doc="penalty points of the token (6.2)")
    stall: int = option(4, low=1, high=10, doc="rounds of begs without a card played that end a hand (5.3)")
    match_target: str = option("none", choices=("none", "100", "200"), doc="points that end a match; none: a hand (7)")
    dealer: int = option(0, low=0, high=MAX_PLAYERS - 1, doc="who deals first (2.1)")

    def check(self):
        """Raise OptionError if there is no such dealer."""
        if self.dealer >= self.num_players:
            raise OptionError(
                f"dealer={self.dealer} is not one of the {self.num_players} players, 0 to {self.num_players - 1}"
            )


STATE = record(
    rules_dtype(RistiseiskaOptions),
    MAX_PLAYERS,
    [
        *deck_fields(NUM_CARDS),  # all cards are dealt
        ("hands", "i8", (MAX_PLAYERS,)),  # bit sets                                    seen by: owner
        # Seen by all
        ("laid", "i8"),  # cards on the table, a bit set
        ("hand_sizes", "i1", (MAX_PLAYERS,)),
        ("phase", "i1"),
        ("beggar", "i1"),  # who gets a card, or has just got one; else NO_PLAYER
        ("num_begs", "i1"),  # in a row, without a card played
        ("num_turns", "i1"),  # that have ended in this hand; counted up to the number of players
        ("token", "i1"),  # who has it, or NO_PLAYER
        ("num_out", "i1"),  # players without cards
        ("place", "i1", (MAX_PLAYERS,)),  # 0 for the first who was out, ...; -1 for who has cards
        ("dealer", "i1"),
        ("num_hands", "i2"),  # begun
        ("scores", "i4", (MAX_PLAYERS,)),
        ("is_shown", "u1"),  # 1: the hand is over, and all cards lie open
        ("num_draws", "i4"),  # cards drawn from hands (4.2)
        ("begged", "i1"),  # card just received, which must be played, or NO_CARD          seen by: beggar
        # The cards played, in order, and by whom: seen by all
        ("num_plays", "i1"),
        ("plays", "i1", (NUM_CARDS,)),
        ("play_of", "i1", (NUM_CARDS,)),
        # What is known of hidden cards; see knowledge.py
        ("known", "i8", (MAX_PLAYERS, MAX_PLAYERS)),  # [p, q]: in the hand of q, as p knows      seen by: p
        ("given", "i8", (MAX_PLAYERS,)),  # given away and not seen since                     seen by: giver
        ("lacked", "i8", (MAX_PLAYERS,)),  # cards that fitted when a player last had none       seen by: all
        ("has_new", "u1", (MAX_PLAYERS,)),  # 1: a card has come since, and may still be there  seen by: all
        ("num_notes", "i2"),
        ("note_kind", "i1", (MAX_NOTES,)),
        ("note_plays", "i1", (MAX_NOTES,)),  # `num_plays` at that time
        ("note_player", "i1", (MAX_NOTES,)),
        ("note_giver", "i1", (MAX_NOTES,)),
        ("note_size", "i1", (MAX_NOTES,)),  # cards of the giver before
        ("note_card", "i1", (MAX_NOTES,)),  # the card given                                  seen by: both
    ],
)


# ---------------------------------------------------------------------------------------------------------------
# Values that follow from options


@kernel
def fitting_on(rules, laid):
    """Return the cards that fit on a table, as bit sets: all four suits at once, a rank is four bits (3).

    Args:
        rules: the options in a record.
        laid: the cards on the table.
    """
    if laid == 0:
        return _BIT_OF_FIRST
    eights = laid << NUM_SUITS & EIGHTS
    if rules.six_before_eight:
        eights &= laid << 2 * NUM_SUITS
    below = laid >> NUM_SUITS & _BELOW
    if rules.five_after_eight:
        below &= ~FIVES | laid >> 3 * NUM_SUITS
    fits = SEVENS | eights | below | laid << NUM_SUITS & _ABOVE | _fitting_aces(rules, laid)
    return fits & ~laid


@kernel(inline=True)
def _fitting_aces(rules, laid):
    """Return the aces that fit (3.3)."""
    if rules.ace == LOW:
        return laid >> NUM_SUITS & ACES
    if rules.ace == HIGH:
        return laid >> KING * NUM_SUITS & ACES
    aces = ACES
    for rank in range(1, NUM_RANKS):
        aces &= laid >> rank * NUM_SUITS
    return aces


@kernel(inline=True)
def fitting(s):
    """Return the cards that fit now, as a bit set."""
    return fitting_on(s.rules, s.laid)


@kernel(inline=True)
def card_points(rules, card):
    """Return what a card in hand counts (6.1)."""
    rank = card // NUM_SUITS
    return np.int64(rules.ace_points) if rank == ACE else np.int64(rank + 1)


def all_points(rules):
    """Return what all cards and the token count, of options or of those in a record: more than any hand (8.1)."""
    return rules.token_points + NUM_SUITS * (rules.ace_points + _TWO_TO_KING)


@kernel(inline=True)
def begs_to_stall(rules):
    """Return after how many begs in a row a hand ends (5.3)."""
    return rules.stall * rules.num_players


@kernel(inline=True)
def target_of(rules):
    """Return the points that end a match, or 0 for a single hand."""
    return np.int64(100 * rules.match_target)
