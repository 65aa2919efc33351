"""Effects of Wingspan: the only kernels that move cards, eggs, food and dice. Each changes record and log in one call.

Rules and powers call these; whatever a power does to the table is in the log. Paragraph numbers are those of rules.md.
"""

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.cards import lowest_card
from cardenvs.core.kernel import kernel
from cardenvs.core.rng import random_below, shuffle, start_stream
from cardenvs.games.wingspan import state, table
from cardenvs.games.wingspan.cards import (
    BIRD_WINGSPAN,
    DUAL_FACE,
    NUM_BIRDS,
    NUM_BONUSES,
    NUM_DICE,
    NUM_FACES,
    NUM_SLOTS,
    TRAY_SIZE,
)

# Sources of chance, besides DEAL
ROLLS, HUNTS, SHUFFLES, BONUS_SHUFFLES, FIRST_PLAYER = range(1, 6)

_ALL_PLAYERS = state.KNOWN_TO_ALL ^ 1 << state.PUBLIC_BIT


@kernel(inline=True)
def viewers(known):
    """The set of viewers, as events have it, of an entry of `known`."""
    return ev.EVERYBODY if known == state.KNOWN_TO_ALL else known & _ALL_PLAYERS


# The two commonest kinds of events, compiled once: those of core are inlined, which would make every effect long.


@kernel
def _log_set(log, kind, player, counter, value):
    ev.log_set(log, kind, player, counter, value)


@kernel
def _log_move(log, kind, player, token, source, target, visible):
    ev.log_move(log, kind, player, token, source, target, visible)


# ---------------------------------------------------------------------------------------------------------------
# Hands, as bit sets


@kernel(inline=True)
def holds(s, player, bird):
    """Whether a bird is in the hand of `player`."""
    return s.hands[player, bird // state.WORD_BITS] >> bird % state.WORD_BITS & 1


@kernel(inline=True)
def _into_hand(s, player, bird, known):
    s.hands[player, bird // state.WORD_BITS] |= 1 << bird % state.WORD_BITS
    s.hand_size[player] += 1
    s.place[bird] = state.IN_HAND + player
    s.known[bird] = known


@kernel
def _take_openly(s, player, bird):
    _into_hand(s, player, bird, state.KNOWN_TO_ALL)
    s.taken[bird] = 1 + s.num_tucks[player]


@kernel
def _draw_unseen(s, player, bird):
    _into_hand(s, player, bird, 1 << player)
    kind = player | current_batch(s) << state.PIECE_OWNER_BITS
    s.pieces[s.num_pieces] = kind | np.int64(s.num_tucks[player]) << state.PIECE_KIND_BITS
    s.num_pieces += 1


@kernel(inline=True)
def _out_of_hand(s, player, bird):
    s.hands[player, bird // state.WORD_BITS] &= ~(1 << bird % state.WORD_BITS)
    s.hand_size[player] -= 1


@kernel
def forget_hand(s, player):
    """A card has left the hand unseen: from now on nobody else knows of any card that it is still there."""
    for w in range(state.NUM_WORDS):
        bits = s.hands[player, w]
        while bits:
            s.known[w * state.WORD_BITS + lowest_card(bits)] = 1 << player
            bits &= bits - 1


# ---------------------------------------------------------------------------------------------------------------
# What all remember of hidden cards


@kernel(inline=True)
def current_batch(s):
    """The batch of the bird deck: how often the discards have become the deck, as far as that is counted."""
    return min(np.int64(s.num_shuffles), state.LAST_BATCH)


@kernel(inline=True)
def batch_known_to(batch, player):
    """The batch that `player` knows a card to belong to, from an entry of s.batch or s.bonus_batch, else 0.

    The bits above the batch say whose secret it is: 1 + the player who discarded the card face down, or 0.
    """
    secret_of = batch >> state.BATCH_BITS
    return batch & state.LAST_BATCH if secret_of in (0, 1 + player) else 0


@kernel
def batch_of_discard(known, number):
    """The entry of s.batch for a card that has been on the discard pile: `known` to whom, shuffled how often."""
    secret_of = 0 if known == state.KNOWN_TO_ALL else 1 + lowest_card(known)
    return min(number, state.LAST_BATCH) | secret_of << state.BATCH_BITS


@kernel
def _no_longer_hidden(s, player, bird):
    """A card of a hand is shown, or discarded: if it had been drawn unseen, there is one piece less.

    It was a piece of its batch. A card of no known batch came out of the first one, unless that contradicts the tucks:
    then it was given up face down in the setup, and came out of the second.
    """
    if s.taken[bird] == 0:
        batch = batch_known_to(np.int64(s.batch[bird]), ev.NO_PLAYER)
        for k in range(state.NUM_BATCHES):
            if _remove_piece(s, player | (batch + k) % state.NUM_BATCHES << state.PIECE_OWNER_BITS):
                break
    s.taken[bird] = 0
    s.batch[bird] = 0


@kernel
def _remove_piece(s, kind):
    """Remove a piece of a kind, the one that came after most tucks; returns whether there was one that can have gone.

    Which one it was is hidden. If it was an earlier one, the one that stayed had fewer places to go, none of them new.
    """
    best, at = np.int64(-1), np.int64(-1)
    for k in range(s.num_pieces):
        piece = np.int64(s.pieces[k])
        if piece & (1 << state.PIECE_KIND_BITS) - 1 == kind and piece > best:
            best, at = piece, k
    if at < 0 or (s.num_shuffles > 0 and not _others_fill_tucks(s, kind & (1 << state.PIECE_OWNER_BITS) - 1, at)):
        return False
    s.num_pieces -= 1
    s.pieces[at] = s.pieces[s.num_pieces]
    s.pieces[s.num_pieces] = 0
    return True


@kernel
def _others_fill_tucks(s, player, at):
    """Whether the hidden cards of `player` but for the piece s.pieces[at] can be those tucked: n came before tuck n."""
    cards = np.int64(0)
    for tuck in range(s.num_tucks[player]):
        for k in range(s.num_pieces):
            piece = np.int64(s.pieces[k])
            is_own = piece & (1 << state.PIECE_OWNER_BITS) - 1 == player
            cards += k != at and is_own and piece >> state.PIECE_KIND_BITS == tuck
        for bird in range(NUM_BIRDS):
            is_own = s.place[bird] in (state.IN_HAND + player, state.IN_TUCKED + player)
            cards += is_own and s.taken[bird] == 1 + tuck
        if cards <= tuck:
            return False
    return True


# ---------------------------------------------------------------------------------------------------------------
# The deal


@kernel
def lay_out_goals(s, tiles, log):
    """Lay out the goals in s.goals, one for each round, out of a box that holds all (2.1)."""
    for goal in range(tiles.shape[0]):
        ev.log_event(
            log,
            table.NEW_GOAL,
            ev.NO_PLAYER,
            state.GOAL_TOKEN + goal,
            ev.NO_PLACE,
            table.GOAL_BOX,
            1,
            ev.EVERYBODY,
            ev.EVERYBODY,
        )
    for k in range(s.goals.shape[0]):
        _log_move(
            log, table.LAY_GOAL, ev.NO_PLAYER, state.GOAL_TOKEN + s.goals[k], table.GOAL_BOX, table.GOALS, ev.EVERYBODY
        )


@kernel
def new_decks(s, log):
    """All cards lie in the shuffled decks."""
    s.num_deck = NUM_BIRDS
    s.num_bonus_deck = NUM_BONUSES
    ev.log_create(log, table.NEW_DECK, table.DECK, NUM_BIRDS)
    ev.log_create(log, table.NEW_BONUS_DECK, table.BONUS_DECK, NUM_BONUSES)


@kernel
def deal_bird(s, player, log):
    """`player` is dealt a bird."""
    bird = _top_of_deck(s)
    _draw_unseen(s, player, bird)
    _log_move(log, table.DEAL_BIRD, player, bird, table.DECK, table.HAND + player, 1 << player)


@kernel
def deal_bonus(s, player, log):
    """`player` is dealt a bonus card."""
    card = _take_bonus(s, player)
    _log_move(
        log, table.DEAL_BONUS, player, state.BONUS_TOKEN + card, table.BONUS_DECK, table.BONUS + player, 1 << player
    )


@kernel
def deal_food(s, player, food, log):
    """`player` begins with a token of a food."""
    s.food[player, food] += 1
    _log_set(log, table.DEAL_FOOD, player, table.FOOD + state.MAX_PLAYERS * food + player, s.food[player, food])


@kernel
def drop_bird(s, player, bird, log):
    """`player` does not keep a bird it was dealt; it goes face down to the discards (2.3)."""
    _out_of_hand(s, player, bird)
    _no_longer_hidden(s, player, bird)
    _discard_face_down(s, player, bird, log)


@kernel(inline=True)
def _discard_face_down(s, player, bird, log):
    s.place[bird] = state.IN_DISCARDS
    s.known[bird] = 1 << player
    s.num_discards += 1
    _log_move(log, table.DROP_BIRD, player, bird, table.HAND + player, table.DISCARDS, 1 << player)


@kernel
def drop_bonus(s, player, card, log):
    """`player` does not keep a bonus card; it goes face down to the discards."""
    s.bonus_hands[player] &= ~(1 << card)
    s.bonus_place[card] = state.IN_BONUS_DISCARDS
    s.bonus_known[card] = 1 << player
    _log_move(
        log, table.DROP_BONUS, player, state.BONUS_TOKEN + card, table.BONUS + player, table.BONUS_DISCARDS, 1 << player
    )


# ---------------------------------------------------------------------------------------------------------------
# Rounds and turns


@kernel
def set_first_player(s, player, log):
    """Give the first player token to `player`."""
    s.first_player = player
    _log_set(log, table.IS_FIRST, player, table.FIRST, player)


@kernel
def set_round(s, number, log):
    """Begin a round, counted from 0."""
    s.round_number = number
    _log_set(log, table.NEW_ROUND, ev.NO_PLAYER, table.ROUND, number + 1)


@kernel
def set_turns(s, player, turns, log):
    """Set the turns that `player` has left in this round."""
    s.turns_left[player] = turns
    _log_set(log, table.TURNS, player, table.TURNS_LEFT + player, turns)


@kernel
def give_goal_points(s, player, points, log):
    """`player` scores the goal of this round."""
    number = np.int64(s.round_number)
    s.goal_points[number, player] = points
    _log_set(log, table.NEW_POINTS, player, table.GOAL_POINTS + state.MAX_PLAYERS * number + player, points)


@kernel
def set_debt(s, player, cards, log):
    """Set the discards that `player` owes at the end of the turn (11.10)."""
    s.debts[player] = cards
    _log_set(log, table.NOW_OWED, player, table.OWED + player, cards)


@kernel
def set_score(s, player, points, log):
    """The final score of `player`."""
    s.scores[player] = points
    _log_set(log, table.NEW_SCORE, player, table.SCORE + player, points)


@kernel
def leave(s, player, log):
    """`player` is out of the game (15)."""
    s.active[player] = 0
    s.turns_left[player] = 0
    s.debts[player] = 0
    _log_set(log, table.TURNS, player, table.TURNS_LEFT + player, 0)
    _log_set(log, table.NOW_OWED, player, table.OWED + player, 0)
    _log_set(log, table.FORFEIT, player, table.OUT + player, 1)


# ---------------------------------------------------------------------------------------------------------------
# Food and eggs


@kernel
def gain_food(s, player, food, amount, log):
    """`player` gets tokens of a food."""
    s.food[player, food] += amount
    _log_set(log, table.GAIN_FOOD, player, table.FOOD + state.MAX_PLAYERS * food + player, s.food[player, food])


@kernel
def pay_food(s, player, food, amount, log):
    """`player` gives tokens of a food back to the supply."""
    s.food[player, food] -= amount
    _log_set(log, table.PAY_FOOD, player, table.FOOD + state.MAX_PLAYERS * food + player, s.food[player, food])


@kernel
def cache_food(s, player, slot, amount, log):
    """Food is cached on a bird."""
    s.cached[player, slot] += amount
    _log_set(log, table.CACHE_FOOD, player, table.CACHED + state.MAX_PLAYERS * slot + player, s.cached[player, slot])


@kernel
def catch_food(s, player, slot, log):
    """A bird that hunts with dice caches what it has caught (11.8)."""
    s.cached[player, slot] += 1
    _log_set(log, table.CATCH, player, table.CACHED + state.MAX_PLAYERS * slot + player, s.cached[player, slot])


@kernel
def lay_egg(s, player, slot, log):
    """An egg is laid on a bird."""
    s.eggs[player, slot] += 1
    _log_set(log, table.LAY_EGG, player, table.EGGS + state.MAX_PLAYERS * slot + player, s.eggs[player, slot])


@kernel
def lose_egg(s, player, slot, log):
    """An egg of a bird is discarded."""
    s.eggs[player, slot] -= 1
    _log_set(log, table.LOSE_EGG, player, table.EGGS + state.MAX_PLAYERS * slot + player, s.eggs[player, slot])


# ---------------------------------------------------------------------------------------------------------------
# Birds on mats


@kernel
def show_bird(s, player, bird, log):
    """`player` shows the bird that is going to be played."""
    s.known[bird] = state.KNOWN_TO_ALL
    _no_longer_hidden(s, player, bird)
    s.taken[bird] = 1 + s.num_tucks[player]
    ev.log_reveal(log, table.SHOW_BIRD, player, bird, table.HAND + player, 1, ev.EVERYBODY)


@kernel
def place_bird(s, player, bird, habitat, log):
    """A bird goes from the hand to the leftmost free slot of a habitat; returns the slot (4.1, 4.4)."""
    slot = NUM_SLOTS * habitat + s.row_size[player, habitat]
    _out_of_hand(s, player, bird)
    _no_longer_hidden(s, player, bird)
    s.place[bird] = state.ON_MAT + player
    s.known[bird] = state.KNOWN_TO_ALL
    s.row_size[player, habitat] += 1
    s.birds[player, slot] = bird
    _log_move(
        log,
        table.PLACE_BIRD,
        player,
        bird,
        table.HAND + player,
        table.ROW + state.MAX_PLAYERS * habitat + player,
        ev.EVERYBODY,
    )
    return slot


@kernel
def move_bird(s, player, slot, habitat, log):
    """The rightmost bird of a row goes to another row, with all that lies on it (11.22)."""
    old = slot // NUM_SLOTS
    target = NUM_SLOTS * habitat + s.row_size[player, habitat]
    bird = s.birds[player, slot]
    s.row_size[player, old] -= 1
    s.row_size[player, habitat] += 1
    s.birds[player, target] = bird
    s.birds[player, slot] = state.NO_BIRD
    rows = table.ROW + player
    _log_move(
        log,
        table.MOVE_BIRD,
        player,
        bird,
        rows + state.MAX_PLAYERS * old,
        rows + state.MAX_PLAYERS * habitat,
        ev.EVERYBODY,
    )
    _carry(s.eggs, player, slot, target, table.EGGS, log)
    _carry(s.cached, player, slot, target, table.CACHED, log)
    _carry(s.tucked, player, slot, target, table.TUCKED_AT, log)


@kernel
def _carry(what, player, slot, target, counter, log):
    amount = what[player, slot]
    if amount == 0:
        return
    what[player, target] = amount
    what[player, slot] = 0
    _log_set(log, table.CARRY, player, counter + state.MAX_PLAYERS * slot + player, 0)
    _log_set(log, table.CARRY, player, counter + state.MAX_PLAYERS * target + player, amount)


# ---------------------------------------------------------------------------------------------------------------
# Dice


@kernel
def roll_feeder(s, log):
    """Roll all dice into the birdfeeder (7.3, 7.4)."""
    ev.log_note(log, table.ROLL, ev.NO_PLAYER, NUM_DICE)
    start_stream(s, ROLLS, np.int64(s.num_rolls))
    s.num_rolls += 1
    for face in range(NUM_FACES):
        _set_outside(s, face, 0, log)
    _roll(s, s.feeder, NUM_DICE, table.DIE_IN, table.FEEDER, log)


@kernel
def roll_outside(s, player, log):
    """Roll the dice outside the birdfeeder, which stay outside (11.8)."""
    number = num_outside(s)
    ev.log_note(log, table.ROLL_OUTSIDE, player, number)
    start_stream(s, HUNTS, np.int64(s.num_hunts))
    s.num_hunts += 1
    _roll(s, s.outside, number, table.DIE_OUT, table.OUTSIDE, log)


@kernel
def _roll(s, dice, number, kind, counter, log):
    """Roll a number of dice into `dice`, counts of faces."""
    rolled = np.int64(0)  # 4 bits a face
    for _ in range(number):
        rolled += 1 << 4 * random_below(s.rng, NUM_FACES)
    for face in range(NUM_FACES):
        count = rolled >> 4 * face & 15
        if dice[face] != count:
            dice[face] = count
            _log_set(log, kind, ev.NO_PLAYER, counter + face, count)


@kernel(inline=True)
def _set_outside(s, face, count, log):
    if s.outside[face] != count:
        s.outside[face] = count
        _log_set(log, table.DIE_OUT, ev.NO_PLAYER, table.OUTSIDE + face, count)


@kernel
def num_outside(s):
    """How many dice are outside the birdfeeder."""
    number = np.int64(0)
    for face in range(NUM_FACES):
        number += s.outside[face]
    return number


@kernel
def take_die(s, player, face, food, log):
    """`player` takes a die for a token of one of its foods; returns whether the birdfeeder had to be refilled (7.4)."""
    ev.log_note(log, table.TAKE_DIE, player, face)
    s.feeder[face] -= 1
    _log_set(log, table.DIE_IN, ev.NO_PLAYER, table.FEEDER + face, s.feeder[face])
    _set_outside(s, face, s.outside[face] + 1, log)
    gain_food(s, player, food, 1, log)
    if num_outside(s) < NUM_DICE:
        return False
    roll_feeder(s, log)
    return True


@kernel(inline=True)
def food_of_choice(choice):
    """The food of a choice at the birdfeeder: 0..4 a die of that food, then the dual die as one of its two foods."""
    return choice if choice < DUAL_FACE else choice - DUAL_FACE


# ---------------------------------------------------------------------------------------------------------------
# Bird cards


@kernel(inline=True)
def cards_left(s):
    """How many cards can still be drawn from the deck, the discards included (3.5)."""
    return np.int64(s.num_deck) + s.num_discards


@kernel(inline=True)
def _top_of_deck(s):
    s.num_deck -= 1
    bird = np.int64(s.deck[s.num_deck])
    s.deck[s.num_deck] = 0
    return bird


@kernel
def _next_of_deck(s, log):
    """Take the top card of the deck, or of the shuffled discards (3.5); there is one."""
    if s.num_deck == 0:
        _reshuffle(s, log)
    return _top_of_deck(s)


@kernel
def _reshuffle(s, log):
    """The discards become the deck (3.5)."""
    ev.log_move_all(log, table.GATHER, table.DISCARDS, table.DECK)
    ev.log_shuffle(log, table.SHUFFLE, table.DECK)
    for bird in range(NUM_BIRDS):
        if s.place[bird] == state.IN_DISCARDS:
            s.deck[s.num_deck] = bird
            s.num_deck += 1
            s.place[bird] = state.IN_DECK
            s.batch[bird] = batch_of_discard(np.int64(s.known[bird]), np.int64(s.num_shuffles) + 1)
            s.known[bird] = 0
    s.num_discards = 0
    start_stream(s, SHUFFLES, np.int64(s.num_shuffles))
    s.num_shuffles += 1
    shuffle(s, s.deck, 0, np.int64(s.num_deck))


@kernel
def fill_tray(s, log):
    """Fill the tray from the deck, as far as there are cards (3.3)."""
    for k in range(TRAY_SIZE):
        if s.tray[k] == state.NO_BIRD and cards_left(s) > 0:
            bird = _next_of_deck(s, log)
            s.tray[k] = bird
            _lay_open(s, bird, state.IN_TRAY)
            _log_move(log, table.FILL_TRAY, ev.NO_PLAYER, bird, table.DECK, table.TRAY, ev.EVERYBODY)


@kernel
def sweep_tray(s, log):
    """Discard the tray (3.4)."""
    for k in range(TRAY_SIZE):
        if s.tray[k] != state.NO_BIRD:
            _to_discards(s, np.int64(s.tray[k]))
            _log_move(log, table.SWEEP_TRAY, ev.NO_PLAYER, s.tray[k], table.TRAY, table.DISCARDS, ev.EVERYBODY)
            s.tray[k] = state.NO_BIRD


@kernel(inline=True)
def _lay_open(s, bird, place):
    s.place[bird] = place
    s.known[bird] = state.KNOWN_TO_ALL
    s.batch[bird] = 0


@kernel(inline=True)
def _to_discards(s, bird):
    _lay_open(s, bird, state.IN_DISCARDS)
    s.num_discards += 1


@kernel
def draw_from_tray(s, player, k, log):
    """`player` takes the card at place k of the tray."""
    bird = np.int64(s.tray[k])
    s.tray[k] = state.NO_BIRD
    _take_openly(s, player, bird)
    _log_move(log, table.DRAW_TRAY, player, bird, table.TRAY, table.HAND + player, ev.EVERYBODY)


@kernel
def draw_from_deck(s, player, log):
    """`player` draws the top card of the deck; there is one."""
    bird = _next_of_deck(s, log)
    _draw_unseen(s, player, bird)
    _log_move(log, table.DRAW_DECK, player, bird, table.DECK, table.HAND + player, 1 << player)


@kernel
def discard(s, player, bird, log):
    """`player` discards a bird from the hand, face up."""
    _out_of_hand(s, player, bird)
    _no_longer_hidden(s, player, bird)
    _to_discards(s, bird)
    _log_move(log, table.DISCARD, player, bird, table.HAND + player, table.DISCARDS, ev.EVERYBODY)


@kernel
def tuck_from_hand(s, player, slot, bird, log):
    """`player` tucks a bird from the hand face down behind the bird in a slot.

    From then on the others know of each card that they knew in the hand that it is there or was tucked, unless it was
    the only card there.
    """
    known = np.int64(s.known[bird])
    if s.hand_size[player] > 1:
        known = 1 << player
        forget_hand(s, player)
    if known == state.KNOWN_TO_ALL:
        s.taken[bird] = 0
    else:
        s.num_tucks[player] += 1
    _out_of_hand(s, player, bird)
    s.place[bird] = state.IN_TUCKED + player
    s.known[bird] = known
    _log_move(log, table.TUCK, player, bird, table.HAND + player, table.TUCKED + player, viewers(known))
    _count_tucked(s, player, slot, log)


@kernel
def tuck_from_deck(s, player, slot, log):
    """`player` tucks the top card of the deck unseen; there is one."""
    bird = _next_of_deck(s, log)
    s.place[bird] = state.IN_TUCKED + player
    s.known[bird] = 0
    s.tucked_unseen[player, current_batch(s)] += 1
    _log_move(log, table.TUCK_DECK, player, bird, table.DECK, table.TUCKED + player, ev.NOBODY)
    _count_tucked(s, player, slot, log)


@kernel
def _count_tucked(s, player, slot, log):
    s.tucked[player, slot] += 1
    _log_set(log, table.NUM_TUCKED, player, table.TUCKED_AT + state.MAX_PLAYERS * slot + player, s.tucked[player, slot])


@kernel
def hunt_in_deck(s, player, slot, bound, log):
    """Turn up the top card of the deck; a wingspan below `bound` is tucked for all to see, else discarded (11.9).

    There is a card. Returns whether it was tucked.
    """
    bird = _next_of_deck(s, log)
    if BIRD_WINGSPAN[bird] < bound:
        _lay_open(s, bird, state.IN_TUCKED + player)
        _log_move(log, table.TUCK_DECK, player, bird, table.DECK, table.TUCKED + player, ev.EVERYBODY)
        _count_tucked(s, player, slot, log)
        return True
    _to_discards(s, bird)
    _log_move(log, table.MISS, player, bird, table.DECK, table.DISCARDS, ev.EVERYBODY)
    return False


@kernel
def turn_up_draft(s, cards, log):
    """Turn up cards of the deck for a draft, as far as there are any (11.12)."""
    for k in range(cards):
        if cards_left(s) > 0:
            bird = _next_of_deck(s, log)
            s.draft[k] = bird
            _lay_open(s, bird, state.IN_DRAFT)
            _log_move(log, table.TURN_UP, ev.NO_PLAYER, bird, table.DECK, table.DRAFT, ev.EVERYBODY)


@kernel
def take_from_draft(s, player, k, log):
    """`player` takes the card at place k of the draft."""
    bird = np.int64(s.draft[k])
    s.draft[k] = state.NO_BIRD
    _take_openly(s, player, bird)
    _log_move(log, table.TAKE_DRAFT, player, bird, table.DRAFT, table.HAND + player, ev.EVERYBODY)


@kernel
def drop_draft(s, log):
    """Discard what is left of a draft."""
    for k in range(state.DRAFT_SIZE):
        if s.draft[k] != state.NO_BIRD:
            _to_discards(s, np.int64(s.draft[k]))
            _log_move(log, table.DROP_DRAFT, ev.NO_PLAYER, s.draft[k], table.DRAFT, table.DISCARDS, ev.EVERYBODY)
            s.draft[k] = state.NO_BIRD


# ---------------------------------------------------------------------------------------------------------------
# Bonus cards


@kernel(inline=True)
def _take_bonus(s, player):
    s.num_bonus_deck -= 1
    card = np.int64(s.bonus_deck[s.num_bonus_deck])
    s.bonus_deck[s.num_bonus_deck] = 0
    s.bonus_place[card] = state.IN_BONUS_HAND + player
    s.bonus_known[card] = 1 << player
    s.bonus_drawn[card] = min(np.int64(s.num_bonus_shuffles), state.LAST_BATCH)
    s.bonus_hands[player] |= 1 << card
    return card


@kernel
def draw_bonus(s, player, log):
    """`player` draws a bonus card, the discards being shuffled if need be (3.5); returns it, or -1."""
    if s.num_bonus_deck == 0:
        _reshuffle_bonuses(s, log)
        if s.num_bonus_deck == 0:
            return np.int64(ev.UNKNOWN)
    card = _take_bonus(s, player)
    _log_move(
        log, table.DRAW_BONUS, player, state.BONUS_TOKEN + card, table.BONUS_DECK, table.BONUS + player, 1 << player
    )
    return card


@kernel
def _reshuffle_bonuses(s, log):
    ev.log_move_all(log, table.GATHER_BONUSES, table.BONUS_DISCARDS, table.BONUS_DECK)
    ev.log_shuffle(log, table.SHUFFLE_BONUSES, table.BONUS_DECK)
    for card in range(NUM_BONUSES):
        if s.bonus_place[card] == state.IN_BONUS_DISCARDS:
            s.bonus_deck[s.num_bonus_deck] = card
            s.num_bonus_deck += 1
            s.bonus_place[card] = state.IN_BONUS_DECK
            s.bonus_batch[card] = batch_of_discard(np.int64(s.bonus_known[card]), np.int64(s.num_bonus_shuffles) + 1)
            s.bonus_known[card] = 0
            s.bonus_drawn[card] = 0
    start_stream(s, BONUS_SHUFFLES, np.int64(s.num_bonus_shuffles))
    s.num_bonus_shuffles += 1
    shuffle(s, s.bonus_deck, 0, np.int64(s.num_bonus_deck))


@kernel
def show_bonuses(s, player, log):
    """`player` shows the bonus cards at the end of the game."""
    for card in range(NUM_BONUSES):
        if s.bonus_hands[player] >> card & 1:
            s.bonus_known[card] = state.KNOWN_TO_ALL
            ev.log_reveal(
                log, table.SHOW_BONUS, player, state.BONUS_TOKEN + card, table.BONUS + player, 1, ev.EVERYBODY
            )
