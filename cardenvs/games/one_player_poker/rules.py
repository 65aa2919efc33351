"""Rules of one-player poker. Paragraph numbers are those of rules.md."""

import itertools
from dataclasses import dataclass

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.errors import OptionError
from cardenvs.core.events import Op, Part, Table
from cardenvs.core.kernel import kernel
from cardenvs.core.options import Options, option, rules_dtype
from cardenvs.core.record import record
from cardenvs.core.returns import Returns
from cardenvs.core.rng import DEAL, canonical_shuffle, shuffle_rest, start_stream
from cardenvs.kits.cards import NUM_CARDS
from cardenvs.kits.deck import begin_world, put_in_order, stock_of
from cardenvs.kits.matches import declare_forfeit, leave
from cardenvs.kits.poker_hands import best_category

HAND_SIZE = 7
PLAY_SIZE = 5
MAX_PLAYS = 6
POINTS_UNIT = 100  # a reward of 1
GAMEPLAY_REWARD = 1  # value of the option `reward` in a record
DISCARD_EXCEEDS = 1  # code of `explain_illegal`

POINTS = np.array([50, 70, 150, 250, 300, 360, 440, 730, 999_999], np.int64)  # by category (3.1)
MODEL_POINTS = np.array([50, 70, 150, 250, 300, 360, 440, 730, 360], np.int64)  # (3.3)


def _position_sets() -> list[int]:
    """Return the positions of every action as bit sets: plays of five, then discards of one, of two, and so on."""
    sizes = [PLAY_SIZE, *range(1, HAND_SIZE + 1)]
    return [sum(1 << k for k in chosen) for n in sizes for chosen in itertools.combinations(range(HAND_SIZE), n)]


POSITIONS = np.array(_position_sets(), np.int8)  # of the cards in hand that an action takes, by id
NUM_TAKEN = (POSITIONS[:, None] >> np.arange(HAND_SIZE) & 1).sum(1).astype(np.int8)
TAKEN = np.array(
    [sorted(range(HAND_SIZE), key=lambda k: (not positions >> k & 1, k)) for positions in POSITIONS.tolist()], np.uint8
)  # the same positions from left to right, then the others; unsigned, so that Numba checks for no negative index
NUM_PLAYS = 21  # ids 0..20; discards follow
NUM_LEGAL = NUM_PLAYS + np.cumsum([0, 7, 21, 35, 35, 21, 7, 1])  # by discards left: ids below are legal


@dataclass(frozen=True)
class OnePlayerPokerOptions(Options):
    """Options of one-player poker."""

    num_players: int = option(1, low=1, high=1, doc="players at the table")
    plays: int = option(4, low=1, high=MAX_PLAYS, doc="hands to play (1.2)")
    discards: int = option(10, low=0, high=40, doc="cards that may be discarded (1.2)")
    reward: str = option("model", choices=("model", "gameplay"), doc="what a straight flush is worth as a reward (3.3)")
    outcomes: bool = option(False, doc="whether observations say what each action would keep and may become")

    def check(self):
        """Raise OptionError if the deck could run out."""
        most = NUM_CARDS - HAND_SIZE - PLAY_SIZE * self.plays
        if self.discards > most:
            raise OptionError(f"with plays={self.plays}, discards is at most {most}; got {self.discards}")


STATE = record(
    rules_dtype(OnePlayerPokerOptions),
    1,
    [
        ("deck", "i1", (NUM_CARDS,)),  # dealing order; deck[num_dealt:] is to come             seen by: nobody
        ("num_dealt", "i1"),  #                                                                 seen by: all
        ("hand", "i1", (HAND_SIZE,)),  # cards from left to right                               seen by: all
        ("left", "i8"),  # bit set of the cards to come                                         seen by: all
        ("discarded", "i8"),  # bit set                                                         seen by: all
        ("played", "i1", (PLAY_SIZE * MAX_PLAYS,)),  # cards of the plays in turn, five of each      seen by: all
        ("categories", "i1", (MAX_PLAYS,)),  # of the plays in turn                             seen by: all
        ("num_played", "i1"),  # plays made                                                     seen by: all
        ("discards_left", "i1"),  #                                                             seen by: all
        ("score", "i4"),  #                                                                     seen by: all
        ("model_score", "i4"),  # (3.3)                                                         seen by: all
    ],
)

TABLE = Table(1)
DECK = TABLE.pile("deck", ordered=True, layout="stack", tokens=lambda s: stock_of(s)[::-1], seen="nobody")
HAND = TABLE.pile("hand", per_player=True, layout="hand", ordered=True, tokens=lambda s, p: s.hand)
PLAYED = TABLE.pile("played", layout="sets", tokens=lambda s: s.played[: PLAY_SIZE * int(s.num_played)])
DISCARDED = TABLE.pile("discarded", layout="fan", cards="discarded")
PLAYS_LEFT = TABLE.counter("plays_left", value=lambda s: s.rules.plays - s.num_played)
DISCARDS_LEFT = TABLE.counter("discards_left", value="discards_left")
SCORE = TABLE.counter("score", value="score")
MODEL_SCORE = TABLE.counter("model_score", value="model_score")
SHUFFLE = TABLE.event("shuffle", Op.CREATE, "The deck of {value} cards is shuffled.", is_detail=True)
DEALT = TABLE.event("deal", Op.MOVE, "{player} is dealt {token}.")
PLAYS = TABLE.event("play", Op.MOVE, "{player} plays {token}.")
SCORES = TABLE.event("score", Op.NOTE, "{player} scores {value:point}.")
NEW_SCORE = TABLE.event("new_score", Op.SET, "{player} has {value:point}.", closes=Part.TRICK)
NEW_MODEL_SCORE = TABLE.event("new_model_score", Op.SET, "{player} has {value:model point}.", is_detail=True)
NEW_PLAYS_LEFT = TABLE.event("new_plays_left", Op.SET, "Plays left: {value}.", is_detail=True)
DISCARDS = TABLE.event("discard", Op.MOVE, "{player} discards {token}.")
NEW_DISCARDS_LEFT = TABLE.event("new_discards_left", Op.SET, "Discards left: {value}.", is_detail=True)
DRAWS = TABLE.event("draw", Op.MOVE, "{player} draws {token}.")
FORFEITS = declare_forfeit(TABLE)


@kernel
def deal(s, given, log):
    """Deal seven cards (1.1)."""
    put_in_order(s.deck, NUM_CARDS)
    start_stream(s, DEAL, 0)
    shuffle_rest(s, s.deck, NUM_CARDS, given)
    s.left = (np.int64(1) << NUM_CARDS) - 1
    s.discards_left = s.rules.discards
    ev.log_create(log, SHUFFLE, DECK, NUM_CARDS)
    ev.log_set(log, NEW_PLAYS_LEFT, ev.NO_PLAYER, PLAYS_LEFT, s.rules.plays)
    ev.log_set(log, NEW_DISCARDS_LEFT, ev.NO_PLAYER, DISCARDS_LEFT, s.discards_left)
    _draw(s, 0, DEALT, log)
    s.current_player = 0


@kernel
def legal_actions(s, out):
    """Any play, and any discard that the budget allows (2.1, 2.2)."""
    n = NUM_LEGAL[min(np.int64(s.discards_left), HAND_SIZE)]
    for action in range(n):
        out[action] = action
    return n


@kernel(inline=True)
def explain_illegal(s, action):
    """0 for a legal action, else DISCARD_EXCEEDS (2.2)."""
    return 0 if action < NUM_LEGAL[min(np.int64(s.discards_left), HAND_SIZE)] else DISCARD_EXCEEDS


@kernel
def apply_action(s, action, log):
    """Play or discard, and draw."""
    if action < NUM_PLAYS:
        _play(s, action, log)
    else:
        _discard(s, action, log)


@kernel(inline=True)
def _play(s, action, log):
    """Score five cards; the last play ends the game (2.1, 2.4)."""
    row, cards, place = np.uint64(action), np.int64(0), np.uint64(PLAY_SIZE * s.num_played)
    for taken in range(PLAY_SIZE):
        k = TAKEN[row, taken]
        card = np.int64(s.hand[k])
        cards |= np.int64(1) << card
        s.played[place + np.uint64(taken)] = card
        ev.log_event(log, PLAYS, 0, card, HAND, PLAYED, np.int64(k) - taken, ev.EVERYBODY, ev.EVERYBODY)
    category = best_category(cards)
    s.categories[s.num_played] = category
    s.num_played += 1
    s.score += POINTS[category]
    s.model_score += MODEL_POINTS[category]
    ev.log_note(log, SCORES, 0, POINTS[category])
    ev.log_set(log, NEW_SCORE, 0, SCORE, s.score)
    ev.log_set(log, NEW_MODEL_SCORE, 0, MODEL_SCORE, s.model_score)
    ev.log_set(log, NEW_PLAYS_LEFT, ev.NO_PLAYER, PLAYS_LEFT, s.rules.plays - s.num_played)
    points = POINTS[category] if s.rules.reward == GAMEPLAY_REWARD else MODEL_POINTS[category]
    s.rewards[0] = points / POINTS_UNIT
    _draw(s, _keep(s, action), DRAWS, log)
    if s.num_played == s.rules.plays:
        s.terminal = 1


@kernel(inline=True)
def _discard(s, action, log):
    """Exchange cards (2.2)."""
    row = np.uint64(action)
    for taken in range(NUM_TAKEN[row]):
        k = TAKEN[row, taken]
        card = np.int64(s.hand[k])
        s.discarded |= np.int64(1) << card
        ev.log_event(log, DISCARDS, 0, card, HAND, DISCARDED, np.int64(k) - taken, ev.EVERYBODY, ev.EVERYBODY)
    s.discards_left -= NUM_TAKEN[row]
    ev.log_set(log, NEW_DISCARDS_LEFT, ev.NO_PLAYER, DISCARDS_LEFT, s.discards_left)
    _draw(s, _keep(s, action), DRAWS, log)


@kernel(inline=True)
def _keep(s, action):
    """Move the cards that stay to the left and return their number (2.3)."""
    positions, kept = np.int64(POSITIONS[np.uint64(action)]), np.uint64(0)
    for k in range(HAND_SIZE):  # without branches, which a processor could not predict
        s.hand[kept] = s.hand[k]
        kept += np.uint64(1 - (positions >> k & 1))
    return np.int64(kept)


@kernel(inline=True)
def _draw(s, kept, kind, log):
    """Fill up the hand after its first `kept` cards (2.3). `kind` is the kind of event."""
    top = np.uint64(s.num_dealt)
    for k in range(kept, HAND_SIZE):
        card = np.int64(s.deck[top])
        top += np.uint64(1)
        s.left ^= np.int64(1) << card
        s.hand[k] = card
        ev.log_move(log, kind, 0, card, DECK, HAND, ev.EVERYBODY)
    s.num_dealt = top


@kernel
def forfeit(s, player, log):
    """The game is over (4.1)."""
    leave(s, player, FORFEITS, log)
    s.terminal = 1


@kernel
def determinize(s, player, seed):
    """Shuffle the cards to come (1.3)."""
    begin_world(s, seed)
    canonical_shuffle(s, s.deck, np.int64(s.num_dealt), NUM_CARDS)


@kernel(entry=True)
def hand_cards(s):
    """The hand as a bit set."""
    cards = np.int64(0)
    for k in range(HAND_SIZE):
        cards |= np.int64(1) << s.hand[k]
    return cards


@kernel(inline=True)
def cards_taken(s, action):
    """The cards that an action plays or discards, as a bit set."""
    cards = np.int64(0)
    for k in range(HAND_SIZE):
        if POSITIONS[action] >> k & 1:
            cards |= np.int64(1) << s.hand[k]
    return cards


# ---------------------------------------------------------------------------------------------------------------
# Spaces


num_actions = len(POSITIONS)  # 21 plays and 127 discards


def max_length(options):
    """Every card discarded on its own, and every play."""
    return options.plays + options.discards


def returns(options):
    """Hundreds of points; a player who forfeits at once has none (3.3, 4.1)."""
    most = POINTS.max() if options.reward == "gameplay" else MODEL_POINTS.max()
    return Returns(0, options.plays * most / POINTS_UNIT, None, "hundred points", POINTS_UNIT, "points a game")
