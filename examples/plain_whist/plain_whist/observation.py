"""What a player of Plain Whist observes."""

from cardenvs.kits.cards import SUITS
from cardenvs.kits.sections import Observation, number, one_hot, per_side
from cardenvs.kits.tricks import trick_sections

from plain_whist.rules import NUM_SIDES, NUM_TRICKS, STATE, TRICKS

OBSERVATION = Observation(
    STATE,
    *trick_sections(TRICKS),
    one_hot("trump", SUITS, "one-hot suit of trumps", "trump"),
    per_side(number("tricks_won", "tricks won", "tricks_won", high=NUM_TRICKS), NUM_SIDES, "the observer's first"),
)
