"""State of Wingspan: options, record, and what lies on the table. Paragraph numbers are those of rules.md.

A bird's *slot* is 5 * habitat + column, 0..14: the forest from left to right, the grassland, the wetland. A *seat* is
counted clockwise from somebody, a *player* from player 0.
"""

from dataclasses import dataclass

import numpy as np

from cardenvs.core.options import Options, option, rules_dtype
from cardenvs.core.record import record
from cardenvs.games.wingspan.cards import (
    BIRD_NAMES,
    BONUS_NAMES,
    FOODS,
    GOAL_NAMES,
    HABITATS,
    MAX_PLAYERS,
    NUM_BIRDS,
    NUM_BONUSES,
    NUM_FACES,
    NUM_FOODS,
    NUM_GOALS,
    NUM_HABITATS,
    NUM_ROUNDS,
    NUM_SLOTS,
    TRAY_SIZE,
)

MAT_SLOTS = NUM_HABITATS * NUM_SLOTS
NO_BIRD = -1
WORD_BITS = 60  # birds in a word of a bit set
NUM_WORDS = -(-NUM_BIRDS // WORD_BITS)
DRAFT_SIZE = MAX_PLAYERS + 1

FACES = (*FOODS, "invertebrate_or_seed")

# Where a bird card lies: an entry of `place`. A player's number is added to the last three.
IN_DECK, IN_DISCARDS, IN_TRAY, IN_DRAFT, IN_HAND = range(5)
ON_MAT = IN_HAND + MAX_PLAYERS
IN_TUCKED = ON_MAT + MAX_PLAYERS
# Where a bonus card lies: an entry of `bonus_place`. A player's number is added to the last.
IN_BONUS_DECK, IN_BONUS_DISCARDS, IN_BONUS_HAND = range(3)
# Who knows the face of a card where it lies: bit p for player p, and one bit for those who only watch.
PUBLIC_BIT = MAX_PLAYERS
KNOWN_TO_ALL = (1 << MAX_PLAYERS + 1) - 1
# What is remembered of a hidden card. Each reshuffle begins another *batch* of the deck, counted up to LAST_BATCH.
LAST_BATCH = 3
NUM_BATCHES = LAST_BATCH + 1
BATCH_BITS = 2
# A card drawn into a hand unseen is a *piece*, a number in s.pieces: owner, batch of the deck, owner's tucks before.
PIECE_OWNER_BITS = 3
PIECE_KIND_BITS = PIECE_OWNER_BITS + BATCH_BITS

# Tokens: birds 0..169, then the bonus cards, then the goals. Cards of another kind have another back.
BONUS_TOKEN = NUM_BIRDS
GOAL_TOKEN = BONUS_TOKEN + NUM_BONUSES
NUM_TOKENS = GOAL_TOKEN + NUM_GOALS
TOKEN_NAMES = (*BIRD_NAMES, *BONUS_NAMES, *GOAL_NAMES)

# A pending decision or step, a row of `stack`. What COUNT, ARG0 and ARG1 mean depends on its kind; see stack.py.
STACK_DEPTH = 24
OP, WHO, SLOT, COUNT, ARG0, ARG1 = range(6)

# Sources of chance; 0 is core's DEAL.
ROLLS, HUNTS, SHUFFLES, BONUS_SHUFFLES, FIRST_PLAYER = range(1, 6)

# Choices of options, as a record holds them.
GREEN, BLUE = 0, 1
ATTRIBUTES, IDS = 0, 1
PLACEMENT, WINNER, SCORE = range(3)

PHASES = ("setup", *(f"round_{k + 1}" for k in range(NUM_ROUNDS)), "over")


@dataclass(frozen=True)
class WingspanOptions(Options):
    """Options of Wingspan."""

    num_players: int = option(2, low=2, high=MAX_PLAYERS, doc="players at the table")
    goals: str = option("green", choices=("green", "blue"), doc="round goals go by rank, or pay for each thing (9)")
    observation: str = option(
        "attributes", choices=("attributes", "ids"), doc="how observations show birds: by what is printed, or by number"
    )
    reward: str = option(
        "placement", choices=("placement", "winner", "score"), doc="what the game pays at its end (13.2)"
    )


STATE = record(
    rules_dtype(WingspanOptions),
    MAX_PLAYERS,
    [
        # Bird cards. `place` and `known` say it for every card; the others are what the rules look things up in.
        ("place", "u1", (NUM_BIRDS,)),  # IN_DECK ... IN_TUCKED + player
        ("known", "u1", (NUM_BIRDS,)),  # who knows that it lies there: bits of players, and PUBLIC_BIT
        ("deck", "u1", (NUM_BIRDS,)),  # num_deck cards, the top last, zeros behind them       seen by: nobody
        ("num_deck", "i2"),  #                                                                 seen by: all
        ("num_discards", "i2"),  # those of the setup included, which lie face down            seen by: all
        ("tray", "i2", (TRAY_SIZE,)),  # or NO_BIRD                                            seen by: all
        ("draft", "i2", (DRAFT_SIZE,)),  # cards turned up for a draft (11.12), or NO_BIRD     seen by: all
        ("hands", "i8", (MAX_PLAYERS, NUM_WORDS)),  # bit c % 60 of word c // 60               seen by: owner
        ("hand_size", "i2", (MAX_PLAYERS,)),  #                                                seen by: all
        # What all remember of hidden birds. A *tuck* here is one from the hand, of a card that not all have seen.
        ("num_tucks", "u1", (MAX_PLAYERS,)),
        ("taken", "u1", (NUM_BIRDS,)),  # of a card openly taken into its hand: 1 + tucks of that player before, else 0
        ("batch", "u1", (NUM_BIRDS,)),  # of a card reshuffled and not seen since: see `batch_known_to`, else 0
        ("pieces", "u2", (NUM_BIRDS,)),  # num_pieces cards drawn unseen, in the hand or tucked from it, then zeros
        ("num_pieces", "i2"),
        ("tucked_unseen", "u1", (MAX_PLAYERS, NUM_BATCHES)),  # cards tucked from the deck unseen, by batch
        # Bonus cards
        ("bonus_place", "u1", (NUM_BONUSES,)),  # IN_BONUS_DECK ... IN_BONUS_HAND + player
        ("bonus_known", "u1", (NUM_BONUSES,)),  # as `known`
        ("bonus_batch", "u1", (NUM_BONUSES,)),  # as `batch`
        (
            "bonus_drawn",
            "u1",
            (NUM_BONUSES,),
        ),  # batch of the deck it was drawn from, for all to see
        ("bonus_deck", "u1", (NUM_BONUSES,)),  # num_bonus_deck cards, the top last, then zeros seen by: nobody
        ("num_bonus_deck", "i1"),  #                                                           seen by: all
        ("bonus_hands", "i4", (MAX_PLAYERS,)),  # bit sets                                     seen by: owner
        ("bonus_offer", "i4"),  # bit set: the cards just drawn, of which one is kept          seen by: who drew
        # Mats, seen by all
        ("birds", "i2", (MAX_PLAYERS, MAT_SLOTS)),  # bird, or NO_BIRD
        ("eggs", "i1", (MAX_PLAYERS, MAT_SLOTS)),
        ("cached", "u1", (MAX_PLAYERS, MAT_SLOTS)),  # food tokens; of which food, the bird's power says
        ("tucked", "u1", (MAX_PLAYERS, MAT_SLOTS)),  # number of cards
        ("row_size", "i1", (MAX_PLAYERS, NUM_HABITATS)),  # birds in each habitat
        ("food", "i2", (MAX_PLAYERS, NUM_FOODS)),  # the supply
        ("pink_used", "i2", (MAX_PLAYERS,)),  # bit set of slots: used since the owner's last turn began
        # Dice, seen by all
        ("feeder", "i1", (NUM_FACES,)),  # dice of each face in the birdfeeder
        ("outside", "i1", (NUM_FACES,)),  # dice of each face outside; NUM_DICE in all
        # The course of the game, seen by all
        ("goals", "i1", (NUM_ROUNDS,)),  # goal of each round
        ("goal_points", "i1", (NUM_ROUNDS, MAX_PLAYERS)),  # scored so far
        ("round_number", "i1"),  # -1 in the setup, then 0..3
        ("first_player", "i1"),  # 0 in the setup, when nobody is
        ("turn_player", "i1"),  # 0 in the setup; else whose turn it is, whoever has to decide something in it
        ("turns_left", "i1", (MAX_PLAYERS,)),  # cubes left in this round
        ("debts", "i2", (MAX_PLAYERS,)),  # discards owed at the end of the turn (11.10)
        ("dice_foods", "i1"),  # bit set: what the dice of the current gain food action gave (11.28)
        ("paid", "i1", (NUM_FOODS,)),  # what has been paid so far for the bird being played
        ("payment", "i2"),  # the bird being paid for; its card is still in hand, for all to see
        # Choices of the setup, which take effect when all have chosen                         seen by: who chose
        ("setup_dropped", "i2", (MAX_PLAYERS,)),  # bit k: the k-th of the dealt birds, ascending, is not kept
        ("setup_paid", "i1", (MAX_PLAYERS, NUM_FOODS)),
        ("setup_bonus", "i1", (MAX_PLAYERS,)),  # 0 or 1: which of the two, ascending, is kept
        # The end
        ("scores", "i2", (MAX_PLAYERS,)),  # final scores, once the game is over; 0 for who has left
        ("standing", "i1", (MAX_PLAYERS,)),  # place 1..n once it is known, the best one of those shared, else 0
        # What is to be done, the next on top
        ("stack", "i2", (STACK_DEPTH, 6)),
        ("depth", "i1"),
        # Chance: numbers of the substreams used so far
        ("num_rolls", "i2"),
        ("num_hunts", "i2"),
        ("num_shuffles", "i2"),
        ("num_bonus_shuffles", "i2"),
        # Scratch of determinize, else zeros
        ("tally", "u1", (MAX_PLAYERS, 3, NUM_BATCHES)),
        ("slots", "u2", (NUM_BIRDS,)),
    ],
)


def slot_name(slot: int) -> str:
    """A slot in words, for names of counters: "forest_1" for slot 0."""
    return f"{HABITATS[slot // NUM_SLOTS]}_{slot % NUM_SLOTS + 1}"


def deck(options: WingspanOptions) -> np.ndarray:
    """All cards and goals, as tokens."""
    return np.arange(NUM_TOKENS, dtype=np.int16)
