"""Options and record. Paragraph numbers are those of rules.md.

A bird's *slot* is 5 * habitat + column, 0..14: the forest from left to right, the grassland, the wetland. *Seats* are
counted clockwise from a certain player, *players* from player 0.
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

# Entries of `place`: where a bird card is. The player is added to the last three.
IN_DECK, IN_DISCARDS, IN_TRAY, IN_DRAFT, IN_HAND = range(5)
ON_MAT = IN_HAND + MAX_PLAYERS
IN_TUCKED = ON_MAT + MAX_PLAYERS
# Entries of `bonus_place`: where a bonus card is. The player is added to the last.
IN_BONUS_DECK, IN_BONUS_DISCARDS, IN_BONUS_HAND = range(3)
# Entries of `known`: who knows the card in its place: bit p for player p, PUBLIC_BIT for spectators.
PUBLIC_BIT = MAX_PLAYERS
KNOWN_TO_ALL = (1 << MAX_PLAYERS + 1) - 1
# Each reshuffle begins a new *batch* of the deck, numbered up to LAST_BATCH.
LAST_BATCH = 3
NUM_BATCHES = LAST_BATCH + 1
BATCH_BITS = 2
# A card drawn unseen into a hand is a *piece*, a number in s.pieces: owner, batch, and earlier tucks of the owner.
PIECE_OWNER_BITS = 3
PIECE_KIND_BITS = PIECE_OWNER_BITS + BATCH_BITS

# Tokens: birds 0..169, then bonus cards, then goals. Each kind has its own back.
BONUS_TOKEN = NUM_BIRDS
GOAL_TOKEN = BONUS_TOKEN + NUM_BONUSES
NUM_TOKENS = GOAL_TOKEN + NUM_GOALS
TOKEN_NAMES = (*BIRD_NAMES, *BONUS_NAMES, *GOAL_NAMES)

# Columns of `stack`, whose rows are pending decisions and steps (stack.py).
STACK_DEPTH = 24
OP, WHO, SLOT, COUNT, ARG0, ARG1 = range(6)

# Sources of chance; 0 is core's DEAL.
ROLLS, HUNTS, SHUFFLES, BONUS_SHUFFLES, FIRST_PLAYER = range(1, 6)

# Values of options in a record.
GREEN, BLUE = 0, 1
ATTRIBUTES, IDS = 0, 1
PLACEMENT, WINNER, SCORE = range(3)

PHASES = ("setup", *(f"round_{k + 1}" for k in range(NUM_ROUNDS)), "over")


@dataclass(frozen=True)
class WingspanOptions(Options):
    """Options of Wingspan."""

    num_players: int = option(2, low=2, high=MAX_PLAYERS, doc="players at the table")
    goals: str = option("green", choices=("green", "blue"), doc="whether round goals score by rank or per item (9)")
    birds: str = option(
        "attributes",
        choices=("attributes", "ids"),
        doc="how observations show birds: by what is printed on them, or by number",
    )
    reward: str = option("placement", choices=("placement", "winner", "score"), doc="what returns depend on (13.4)")
    outcomes: bool = option(False, doc="whether observations say what each choice is worth to the rule agents")


STATE = record(
    rules_dtype(WingspanOptions),
    MAX_PLAYERS,
    [
        # Bird cards. `place` and `known` describe every card; the other fields repeat this for quick access.
        ("place", "u1", (NUM_BIRDS,)),  # IN_DECK ... IN_TUCKED + player
        ("known", "u1", (NUM_BIRDS,)),  # who knows that it lies there: bits of players, and PUBLIC_BIT
        ("deck", "u1", (NUM_BIRDS,)),  # num_deck cards, the top last, zeros behind them       seen by: nobody
        ("num_deck", "i2"),  #                                                                 seen by: all
        ("num_discards", "i2"),  # including those of the setup, which are face down           seen by: all
        ("tray", "i2", (TRAY_SIZE,)),  # or NO_BIRD                                            seen by: all
        ("draft", "i2", (DRAFT_SIZE,)),  # cards turned up for a draft (11.12), or NO_BIRD     seen by: all
        ("hands", "i8", (MAX_PLAYERS, NUM_WORDS)),  # bit c % 60 of word c // 60               seen by: owner
        ("hand_size", "i2", (MAX_PLAYERS,)),  #                                                seen by: all
        # What players remember of hidden birds. A *tuck* here is from the hand, of a card that not everybody knows.
        ("num_tucks", "u1", (MAX_PLAYERS,)),
        ("taken", "u1", (NUM_BIRDS,)),  # for a card seen going to its hand: 1 + that player's earlier tucks, else 0
        ("batch", "u1", (NUM_BIRDS,)),  # for a card reshuffled and not seen since: see `batch_known_to`, else 0
        ("pieces", "u2", (NUM_BIRDS,)),  # num_pieces cards drawn unseen, held or tucked from the hand, then zeros
        ("num_pieces", "i2"),
        ("tucked_unseen", "u1", (MAX_PLAYERS, NUM_BATCHES)),  # cards tucked from the deck unseen, by batch
        # Bonus cards
        ("bonus_place", "u1", (NUM_BONUSES,)),  # IN_BONUS_DECK ... IN_BONUS_HAND + player
        ("bonus_known", "u1", (NUM_BONUSES,)),  # as `known`
        ("bonus_batch", "u1", (NUM_BONUSES,)),  # as `batch`
        ("bonus_drawn", "u1", (NUM_BONUSES,)),  # batch of the deck it was drawn from          seen by: all
        ("bonus_deck", "u1", (NUM_BONUSES,)),  # num_bonus_deck cards, the top last, then zeros seen by: nobody
        ("num_bonus_deck", "i1"),  #                                                           seen by: all
        ("bonus_hands", "i4", (MAX_PLAYERS,)),  # bit sets                                     seen by: owner
        ("bonus_offer", "i4"),  # bit set: the cards just drawn, of which one is kept          seen by: who drew
        # Mats, seen by all
        ("birds", "i2", (MAX_PLAYERS, MAT_SLOTS)),  # bird, or NO_BIRD
        ("eggs", "i1", (MAX_PLAYERS, MAT_SLOTS)),
        ("cached", "u1", (MAX_PLAYERS, MAT_SLOTS)),  # food tokens; the bird's power says which food
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
        ("first_player", "i1"),  # 0 in the setup, when there is none
        ("turn_player", "i1"),  # 0 in the setup; whose turn it is, even while another player decides
        ("turns_left", "i1", (MAX_PLAYERS,)),  # cubes left in this round
        ("debts", "i2", (MAX_PLAYERS,)),  # discards owed at the end of the turn (11.10)
        ("dice_foods", "i1"),  # bit set: what the dice of the current gain food action gave (11.28)
        ("paid", "i1", (NUM_FOODS,)),  # tokens paid so far for the bird being played
        ("payment", "i2"),  # the bird being paid for, which is still in hand, face up
        # Choices of the setup, which take effect when all have chosen                         seen by: who chose
        ("setup_dropped", "i2", (MAX_PLAYERS,)),  # bit k: the k-th dealt bird, in ascending order, is not kept
        ("setup_paid", "i1", (MAX_PLAYERS, NUM_FOODS)),
        ("setup_bonus", "i1", (MAX_PLAYERS,)),  # 0 or 1: which of the two, in ascending order, is kept
        # The end
        ("scores", "i2", (MAX_PLAYERS,)),  # final scores, set at the end; 0 for players who left
        ("standing", "i1", (MAX_PLAYERS,)),  # place 1..n once it is known, the best place of a tie, else 0
        # Pending decisions and steps, the next one on top
        ("stack", "i2", (STACK_DEPTH, 6)),
        ("depth", "i1"),
        # Number of random streams used so far, by source of chance
        ("num_rolls", "i2"),
        ("num_hunts", "i2"),
        ("num_shuffles", "i2"),
        ("num_bonus_shuffles", "i2"),
        # Scratch space of determinize, otherwise zeros
        ("tally", "u1", (MAX_PLAYERS, 3, NUM_BATCHES)),
        ("slots", "u2", (NUM_BIRDS,)),
    ],
)


def slot_name(slot: int) -> str:
    """Return the name of a slot, as used in names of counters: "forest_1" for slot 0."""
    return f"{HABITATS[slot // NUM_SLOTS]}_{slot % NUM_SLOTS + 1}"


def deck(options: WingspanOptions) -> np.ndarray:
    """Return all cards and goals as tokens."""
    return np.arange(NUM_TOKENS, dtype=np.int16)
