"""Piles, counters and event kinds.

FOOD, EGGS, CACHED and TUCKED_AT are ids of the counter of the first food or slot of player 0. The next player's counter
has the next id, and the next food's or slot's is MAX_PLAYERS higher.
"""

from cardenvs.core.events import Op, Part, Table
from cardenvs.games.wingspan.cards import FOODS, HABITATS, MAX_PLAYERS, NUM_ROUNDS, NUM_SLOTS
from cardenvs.games.wingspan.state import FACES, MAT_SLOTS, slot_name

_SLOT_NAMES = tuple(slot_name(slot) for slot in range(MAT_SLOTS))

TABLE = Table(MAX_PLAYERS)

DECK = TABLE.pile("bird_deck", layout="stack")
DISCARDS = TABLE.pile("bird_discards", layout="stack")
TRAY = TABLE.pile("tray")
DRAFT = TABLE.pile("draft")
BONUS_DECK = TABLE.pile("bonus_deck", layout="none")
BONUS_DISCARDS = TABLE.pile("bonus_discards", layout="none")
GOAL_BOX = TABLE.pile("goal_box", layout="none")
GOALS = TABLE.pile("goals", ordered=True)
HAND = TABLE.pile("hand", per_player=True, layout="hand")
TUCKED = TABLE.pile("tucked", per_player=True, layout="stack")
BONUS = TABLE.pile("bonus", per_player=True)
ROW, *_ = [TABLE.pile(habitat, per_player=True, ordered=True, layout="grid", slots=NUM_SLOTS) for habitat in HABITATS]

ROUND = TABLE.counter("round")  # 1..4
FIRST = TABLE.counter("first_player", use="player")
FEEDER, *_ = [TABLE.counter(f"feeder_{face}") for face in FACES]
OUTSIDE, *_ = [TABLE.counter(f"outside_{face}") for face in FACES]
FOOD, *_ = [TABLE.counter(food, per_player=True) for food in FOODS]
TURNS_LEFT = TABLE.counter("turns_left", per_player=True)
GOAL_POINTS, *_ = [TABLE.counter(f"goal_{k + 1}", per_player=True) for k in range(NUM_ROUNDS)]
EGGS, *_ = [TABLE.counter(f"eggs_{slot}", per_player=True, use="none") for slot in _SLOT_NAMES]
CACHED, *_ = [TABLE.counter(f"cached_{slot}", per_player=True, use="none") for slot in _SLOT_NAMES]
TUCKED_AT, *_ = [TABLE.counter(f"tucked_{slot}", per_player=True, use="none") for slot in _SLOT_NAMES]
OWED = TABLE.counter("discards_owed", per_player=True)
OUT = TABLE.counter("out", per_player=True, use="flag")
SCORE = TABLE.counter("score", per_player=True)  # set at the end of the game

# The deal
NEW_GOAL = TABLE.event("new_goal", Op.CREATE, "A round goal is put into the box.", is_detail=True)
LAY_GOAL = TABLE.event("lay_goal", Op.MOVE, "The next round goal is {token}.")
NEW_DECK = TABLE.event("new_bird_deck", Op.CREATE, "A deck of {value} birds is shuffled.", is_detail=True)
NEW_BONUS_DECK = TABLE.event("new_bonus_deck", Op.CREATE, "A deck of {value} bonus cards is shuffled.", is_detail=True)
DEAL_BIRD = TABLE.event("deal_bird", Op.MOVE, "{player} is dealt {token}.")
DEAL_BONUS = TABLE.event("deal_bonus", Op.MOVE, "{player} is dealt the bonus card {token}.")
DEAL_FOOD = TABLE.event("deal_food", Op.SET, "{player} receives a starting food token.", is_detail=True)

# The setup
PLAN_DROP = TABLE.event("plan_drop", Op.NOTE, "{player} will not keep {token}.")
PLAN_KEEP = TABLE.event("plan_keep", Op.NOTE, "{player} will keep the other birds.")
PLAN_PAY = TABLE.event("plan_pay", Op.NOTE, "{player} will pay food {value}.")
PLAN_BONUS = TABLE.event("plan_bonus", Op.NOTE, "{player} will keep {token}.")
DROP_BIRD = TABLE.event("drop_bird", Op.MOVE, "{player} does not keep {token}.")
DROP_BONUS = TABLE.event("drop_bonus", Op.MOVE, "{player} does not keep the bonus card {token}.")
IS_FIRST = TABLE.event("first_player", Op.SET, "{player} is the first player.", reveals_hidden_value=True)

# Rounds and turns
NEW_ROUND = TABLE.event("round", Op.SET, "Round {value} begins.", opens=Part.HAND)
TURNS = TABLE.event("turns_left", Op.SET, "{player} has {value} turns left in this round.", is_detail=True)
CHOOSE_PLAY = TABLE.event("choose_play", Op.NOTE, "{player} plays a bird.")
CHOOSE_FOOD = TABLE.event("choose_food", Op.NOTE, "{player} gains food.")
CHOOSE_EGGS = TABLE.event("choose_eggs", Op.NOTE, "{player} lays eggs.")
CHOOSE_CARDS = TABLE.event("choose_cards", Op.NOTE, "{player} draws cards.")
NEW_POINTS = TABLE.event("goal_points", Op.SET, "{player} gets {value} points for the goal.", closes=Part.HAND)

# Birds, eggs, food
SHOW_BIRD = TABLE.event("show_bird", Op.REVEAL, "{player} is going to play {token}.")
PLACE_BIRD = TABLE.event("place_bird", Op.MOVE, "{player} puts {token} into {target}.")
MOVE_BIRD = TABLE.event("move_bird", Op.MOVE, "{token} moves to {target}.")
PAY_FOOD = TABLE.event("pay_food", Op.SET, "{player} pays: {value} {source} left.")
GAIN_FOOD = TABLE.event("gain_food", Op.SET, "{player} gains food: {value} {source}.")
LAY_EGG = TABLE.event("lay_egg", Op.SET, "{player} lays an egg: {value} {source}.")
LOSE_EGG = TABLE.event("lose_egg", Op.SET, "{player} discards an egg: {value} {source}.")
CACHE_FOOD = TABLE.event("cache_food", Op.SET, "{player} caches food: {value} {source}.")
NUM_TUCKED = TABLE.event("tucked", Op.SET, "{player} has {value} {source}.")
CARRY = TABLE.event("carry", Op.SET, "The bird's things move with it: {value} {source}.")

# Dice
ROLL = TABLE.event("roll_feeder", Op.NOTE, "All dice are rolled into the birdfeeder.")
ROLL_OUTSIDE = TABLE.event("roll_outside", Op.NOTE, "{player} rolls the {value} dice outside the birdfeeder.")
TAKE_DIE = TABLE.event("take_die", Op.NOTE, "{player} takes a die.")

# Dice are chance, so no player could have known these values.
DIE_IN = TABLE.event("die_in", Op.SET, "{value} {source}.", reveals_hidden_value=True, is_detail=True)
DIE_OUT = TABLE.event("die_out", Op.SET, "{value} {source}.", reveals_hidden_value=True, is_detail=True)
CATCH = TABLE.event(
    "catch", Op.SET, "{player} caches the catch of the hunt: {value} {source}.", reveals_hidden_value=True
)

# Cards
FILL_TRAY = TABLE.event("fill_tray", Op.MOVE, "{token} is laid out in the tray.")
SWEEP_TRAY = TABLE.event("sweep_tray", Op.MOVE, "{token} is swept from the tray.")
DRAW_TRAY = TABLE.event("draw_tray", Op.MOVE, "{player} takes {token} from the tray.")
DRAW_DECK = TABLE.event("draw_deck", Op.MOVE, "{player} draws {token} from the deck.")
DISCARD = TABLE.event("discard", Op.MOVE, "{player} discards {token}.")
TUCK = TABLE.event("tuck", Op.MOVE, "{player} tucks {token}.")
TUCK_DECK = TABLE.event("tuck_from_deck", Op.MOVE, "{player} tucks {token} from the deck.")
MISS = TABLE.event("miss", Op.MOVE, "{player}'s hunt misses {token}.")
TURN_UP = TABLE.event("turn_up", Op.MOVE, "{token} is turned up.")
TAKE_DRAFT = TABLE.event("take_draft", Op.MOVE, "{player} takes {token}.")
DROP_DRAFT = TABLE.event("drop_draft", Op.MOVE, "Nobody takes {token}.")
DRAW_BONUS = TABLE.event("draw_bonus", Op.MOVE, "{player} draws the bonus card {token}.")
GATHER = TABLE.event("gather_discards", Op.MOVE_ALL, "The discard pile becomes the new deck.")
SHUFFLE = TABLE.event("shuffle_deck", Op.SHUFFLE, "The bird deck is shuffled.")
GATHER_BONUSES = TABLE.event("gather_bonuses", Op.MOVE_ALL, "The discarded bonus cards become the new deck.")
SHUFFLE_BONUSES = TABLE.event("shuffle_bonuses", Op.SHUFFLE, "The bonus deck is shuffled.")
NOW_OWED = TABLE.event("discards_owed", Op.SET, "{player} owes {value} discards at the end of the turn.")

# Powers
USE = TABLE.event("use_power", Op.NOTE, "{player} uses the power of {token}.")
REACT = TABLE.event("react", Op.NOTE, "{player} reacts with {token}.")
DECLINE = TABLE.event("decline", Op.NOTE, "{player} declines.")
REPEAT = TABLE.event("repeat", Op.NOTE, "{player} repeats the power of {token}.")
GOES_FIRST = TABLE.event("goes_first", Op.NOTE, "{player} goes first.")
SUCCEEDS = TABLE.event("hunt_succeeds", Op.NOTE, "The hunt of {token} succeeds.", reveals_hidden_value=True)
FAILS = TABLE.event("hunt_fails", Op.NOTE, "The hunt of {token} fails.", reveals_hidden_value=True)

# The end
SHOW_BONUS = TABLE.event("show_bonus", Op.REVEAL, "{player} shows the bonus card {token}.")
NEW_SCORE = TABLE.event("score", Op.SET, "{player} scores {value} points.", reveals_hidden_value=True)
WIN = TABLE.event("win", Op.NOTE, "{player} wins.", reveals_hidden_value=True)
SHARE_WIN = TABLE.event("share_win", Op.NOTE, "{player} shares the victory.", reveals_hidden_value=True)
FORFEIT = TABLE.event("forfeit", Op.SET, "{player} forfeits.")
