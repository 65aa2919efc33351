"""High Card with one fault each: what the conformance suite must catch.

`FAULTS` has a game by the name of its fault; each is registered as FAULT_v0.
"""

import copy
import itertools

import numpy as np
from toys import high_card as healthy
from toys.high_card import (
    CHANGED,
    COUNTS,
    FORFEITS,
    KEEP,
    KEEPS,
    NO_CARD,
    NUM_CARDS,
    SETS_ASIDE,
    SWAP,
    TAKE,
    TAKES,
    WINS,
    HighCardView,
    changed,
)

from cardenvs.core.codes import TERMINAL_PLAYER
from cardenvs.core.events import (
    EVERYBODY,
    OMNISCIENT,
    TOKEN,
    VISIBLE,
    Op,
    log_clear,
    log_move,
    log_note,
    log_reveal,
    log_set,
)
from cardenvs.core.kernel import kernel
from cardenvs.core.options import rules_dtype
from cardenvs.core.record import record
from cardenvs.core.registry import register_game
from cardenvs.core.returns import Returns
from cardenvs.core.rng import canonical_shuffle, random_below, shuffle
from cardenvs.core.state import State
from cardenvs.core.view import Candidate, sees

FAULTS = {}


def fault(name, **changes):
    """Plant a fault: the healthy game with something replaced."""
    FAULTS[name] = changed(f"{name}_v0", **changes)
    register_game(f"{name}_v0", f"{__name__}:{name}")
    return FAULTS[name]


def kernel_fault(part):
    """Plant a fault in the kernel `part`; the fault has the name of the decorated function."""

    def plant(function):
        return fault(function.__name__, **{part: kernel(function)})

    return plant


def view_fault(part):
    """Plant a fault in a method of the view."""

    def plant(function):
        return fault(function.__name__, view=type("FaultyView", (HighCardView,), {part: function})())

    return plant


# ---------------------------------------------------------------------------------------------------------------
# Leaks


@kernel_fault("observe")
def leaking_observation(s, player, out):
    healthy.observe(s, player, out)
    out[NUM_CARDS * 4] = s.hand[1 - player] > 2


@kernel
def guarded_list(s, out):
    n = healthy.legal_actions(s, out)
    return n if s.hand[1 - s.current_player] > 1 else 2


@kernel
def guarded_reason(s, action):
    guarded = s.hand[1 - s.current_player] <= 1
    return healthy.NOTHING_UP if guarded and action == TAKE else healthy.explain_illegal(s, action)


leaking_legal_list = fault("leaking_legal_list", legal_actions=guarded_list, explain_illegal=guarded_reason)


@view_fault("action_label")
def leaking_label(self, s, action):
    worry = "?" if s.hand[1 - s.current_player] > 2 else ""
    return HighCardView.action_label(self, s, action) + worry


@view_fault("prompt")
def leaking_prompt(self, s):
    return "You are behind." if s.hand[1 - s.current_player] > s.hand[s.current_player] else "You lead."


@view_fault("illegal_reason")
def leaking_reason(self, s, action, code):
    return f"the other has set {s.aside[1 - s.current_player]} aside; next come {s.deck[s.deck_pos :]}"


@view_fault("facts")
def leaking_facts(self, s, player):
    return {"other_card": int(s.hand[1 - player])}


@view_fault("candidates")
def leaking_candidates(self, state, player):
    listed = HighCardView.candidates(self, state, player)
    return listed if state.record.hand[1 - player] > 2 else listed[:1]


@view_fault("arrange")
def leaking_picture(self, s, viewer, scene):
    scene.notes[0] += [str(card) for card in s.hand]


@view_fault("fill_table")
def leaking_table(self, s, viewer, table):
    HighCardView.fill_table(self, s, OMNISCIENT, table)


@view_fault("fill_table")
def stock_upside_down(self, s, viewer, table):
    HighCardView.fill_table(self, s, viewer, table)
    if viewer == OMNISCIENT:
        table.put("stock", table.piles[table.spec.pile_ids["stock"]][::-1])


@view_fault("fill_table")
def stock_that_nobody_sees(self, s, viewer, table):
    HighCardView.fill_table(self, s, viewer, table)
    table.put("stock", unknown=len(s.deck[s.deck_pos :]))


@kernel_fault("apply_action")
def event_with_too_many_viewers(s, action, log):
    before = log[0, 0] if log.shape[0] > 0 else 0
    healthy.apply_action(s, action, log)
    if log.shape[0] > 0:
        for row in range(before + 1, log[0, 0] + 1):
            if log[row, TOKEN] >= 0:
                log[row, VISIBLE] = EVERYBODY


@kernel_fault("apply_action")
def event_that_notes_what_is_hidden(s, action, log):
    player = s.current_player
    healthy.apply_action(s, action, log)
    log_note(log, KEEPS, player, s.hand[player])


@kernel_fault("apply_action")
def event_that_counts_what_is_hidden(s, action, log):
    player = np.int64(s.current_player)
    healthy.apply_action(s, action, log)
    log_set(log, COUNTS, player, CHANGED + player, s.hand[player])


@kernel_fault("deal")
def deal_that_notes_what_is_hidden(s, given, log):
    healthy.deal(s, given, log)
    log_note(log, KEEPS, 0, s.hand[0])


@kernel
def peeking(s, legal, n, rng):
    return KEEP if s.hand[s.current_player] > s.hand[1 - s.current_player] else SWAP


peeking_policy = fault("peeking_policy", policies={"clever": peeking})


@kernel
def cheating(s, legal, n, rng):
    return TAKE


illegal_policy = fault("illegal_policy", policies={"bold": cheating})


# ---------------------------------------------------------------------------------------------------------------
# Determinize


@kernel_fault("determinize")
def twin_forgets_the_taken_card(s, player, seed):
    taken = s.taken[1 - player]
    s.taken[1 - player] = NO_CARD
    healthy.determinize(s, player, seed)
    s.taken[1 - player] = taken


@kernel_fault("determinize")
def twin_never_varies(s, player, seed):
    s.seed = seed


@kernel_fault("determinize")
def twin_keeps_the_other_hand(s, player, seed):
    taken = s.taken[1 - player]
    s.taken[1 - player] = s.hand[1 - player]
    healthy.determinize(s, player, seed)
    s.taken[1 - player] = taken


@kernel_fault("determinize")
def twin_keeps_the_top_of_the_stock(s, player, seed):
    top, other = s.deck[min(s.deck_pos, NUM_CARDS - 1)], 1 - player
    healthy.determinize(s, player, seed)
    if s.deck_pos == NUM_CARDS:
        return
    for k in range(s.deck_pos, NUM_CARDS):
        if s.deck[k] == top:
            s.deck[k], s.deck[s.deck_pos] = s.deck[s.deck_pos], s.deck[k]
    if s.hand[other] == top:
        s.hand[other], s.deck[s.deck_pos] = s.deck[s.deck_pos], s.hand[other]
    if s.aside[other] == top:
        s.aside[other], s.deck[s.deck_pos] = s.deck[s.deck_pos], s.aside[other]


@kernel_fault("determinize")
def twin_is_not_uniform(s, player, seed):
    healthy.determinize(s, player, seed)
    last = NUM_CARDS - 1
    if s.taken[1 - player] == NO_CARD and s.deck[last] > s.hand[1 - player] and s.seed & 1:
        s.deck[last], s.hand[1 - player] = s.hand[1 - player], s.deck[last]


@kernel_fault("determinize")
def twin_leaves_a_trace(s, player, seed):
    s.seed = seed
    healthy.start_stream(s, healthy.DETERMINIZE, 0)
    shuffle(s, s.deck, s.deck_pos, NUM_CARDS)


@kernel_fault("determinize")
def twin_has_a_card_twice(s, player, seed):
    healthy.determinize(s, player, seed)
    if s.taken[1 - player] == NO_CARD:
        s.hand[1 - player] = s.hand[player]


@kernel_fault("determinize")
def twin_keeps_the_seed(s, player, seed):
    before = s.seed
    healthy.determinize(s, player, seed)
    s.seed = before


@kernel_fault("determinize")
def twin_turns_up_another_card(s, player, seed):
    s.seed = seed
    healthy.start_stream(s, healthy.DETERMINIZE, 0)
    if s.upcard != NO_CARD:
        s.deck[s.deck_pos - 1] = s.upcard
        canonical_shuffle(s, s.deck, s.deck_pos - 1, NUM_CARDS)
        s.upcard = s.deck[s.deck_pos - 1]
        s.deck[s.deck_pos - 1] = NO_CARD


@kernel
def taking_before_setting_aside(s, action, log):
    """As in High Card, but who takes the face-up card holds two for a moment: others cannot see which goes aside."""
    player, old = np.int64(s.current_player), np.int64(s.hand[s.current_player])
    if action != TAKE:
        healthy.apply_action(s, action, log)
        return
    log_move(log, TAKES, player, s.upcard, healthy.UPCARD, healthy.HAND + player, EVERYBODY)
    log_move(log, SETS_ASIDE, player, old, healthy.HAND + player, healthy.ASIDE + player, 1 << player)
    healthy.apply_action(s, action, log[:0])
    log_set(log, COUNTS, player, CHANGED + player, 1)
    if s.terminal:
        log_note(log, WINS, 0 if s.hand[0] > s.hand[1] else 1, healthy.STAKE)


@kernel
def twin_that_remembers(s, player, seed):
    """What was taken openly is in the hand or aside; the rest is dealt as in High Card."""
    other = 1 - player
    if s.taken[other] != NO_CARD and s.aside[other] == s.taken[other]:
        s.hand[other], s.aside[other] = s.aside[other], s.hand[other]
    healthy.determinize(s, player, seed)
    if s.taken[other] != NO_CARD and random_below(s.rng, 2) == 0:
        s.hand[other], s.aside[other] = s.aside[other], s.hand[other]


@kernel
def twin_that_forgets(s, player, seed):
    """What was taken openly is dealt anew with the rest."""
    other = 1 - player
    taken = s.taken[other]
    s.taken[other] = NO_CARD
    healthy.determinize(s, player, seed)
    s.taken[other] = taken


class TwoHandedView(HighCardView):
    """Others do not know which of two cards is in the hand."""

    def fill_table(self, s, viewer, table):
        HighCardView.fill_table(self, s, viewer, table)
        for p in range(healthy.NUM_PLAYERS):
            if s.taken[p] != NO_CARD and not sees(viewer, p):
                table.put("hand", unknown=1, player=p)


_TWO_HANDED = {"view": TwoHandedView(), "apply_action": taking_before_setting_aside, "dealt_tokens": None}
twin_forgets_what_may_be_aside = fault("twin_forgets_what_may_be_aside", determinize=twin_that_forgets, **_TWO_HANDED)
TWO_HANDED = changed("two_handed_v0", determinize=twin_that_remembers, **_TWO_HANDED)
register_game("two_handed_v0", f"{__name__}:TWO_HANDED")


@kernel
def swap_of_a_low_card(s, out):
    """Who holds the highest card may not swap it, so a swap proves something."""
    out[0], n = KEEP, 1
    if s.hand[s.current_player] < NUM_CARDS - 1:
        out[n] = SWAP
        n += 1
    if s.upcard != NO_CARD:
        out[n] = TAKE
        n += 1
    return n


HELD_BACK = 2  # what explain_illegal returns


@kernel
def why_not_swap(s, action):
    if action == SWAP and s.hand[s.current_player] == NUM_CARDS - 1:
        return HELD_BACK
    return healthy.explain_illegal(s, action)


_PROVING = {"legal_actions": swap_of_a_low_card, "explain_illegal": why_not_swap, "dealt_tokens": None}
twin_ignores_what_a_swap_proves = fault("twin_ignores_what_a_swap_proves", **_PROVING)


# ---------------------------------------------------------------------------------------------------------------
# What a twin copies from the true state


@kernel
def pay_what_tells_what_is_hidden(s, action, log):
    """The first action pays something if the other holds a high card; the last one takes it back."""
    paid = s.returns[0]
    healthy.apply_action(s, action, log)
    if not s.terminal:
        s.rewards[0] = 0.5 if s.hand[1] > 2 else 0.0
        s.rewards[1] = -s.rewards[0]
    else:
        s.rewards[0] -= paid
        s.rewards[1] += paid


rewards_that_tell_what_is_hidden = fault(
    "rewards_that_tell_what_is_hidden",
    apply_action=pay_what_tells_what_is_hidden,
    returns=lambda options: Returns(-1.5, 1.5, 0, "points"),  # who forfeits keeps what was paid
)


CACHING = record(rules_dtype(healthy.HighCardOptions), healthy.NUM_PLAYERS, [*healthy.FIELDS, ("other_is_high", "u1")])


@kernel
def deal_that_caches_what_is_hidden(s, given, log):
    healthy.deal(s, given, log)
    s.other_is_high = s.hand[1] > 2


@kernel
def observe_what_is_cached(s, player, out):
    healthy.observe(s, player, out)
    if player == 0:
        out[4 * NUM_CARDS] = s.other_is_high


cached_field_that_tells_what_is_hidden = fault(
    "cached_field_that_tells_what_is_hidden",
    state_dtype=CACHING,
    deal=deal_that_caches_what_is_hidden,
    observe=observe_what_is_cached,
)


# ---------------------------------------------------------------------------------------------------------------
# Rules


@kernel_fault("apply_action")
def lost_card(s, action, log):
    player = s.current_player
    healthy.apply_action(s, action, log)
    s.aside[player] = NO_CARD


@kernel_fault("apply_action")
def doubled_card(s, action, log):
    player = s.current_player
    healthy.apply_action(s, action, log)
    if action == SWAP:
        s.hand[player] = s.aside[player]


@kernel_fault("apply_action")
def forgotten_event(s, action, log):
    healthy.apply_action(s, action, log[:0])


@kernel_fault("legal_actions")
def unsorted_legal_list(s, out):
    out[0] = SWAP
    out[1] = KEEP
    return 2


def list_fault(function):
    """Plant a list with a place to spare."""
    return fault(function.__name__, legal_actions=kernel(function), max_legal=lambda options: healthy.NUM_ACTIONS + 1)


@list_fault
def list_with_more_behind_its_end(s, out):
    n = healthy.legal_actions(s, out)
    out[n] = KEEP
    return n


@list_fault
def list_with_a_secret_behind_its_end(s, out):
    n = healthy.legal_actions(s, out)
    out[n] = s.hand[1 - s.current_player]
    return n


@kernel_fault("legal_actions")
def empty_legal_list(s, out):
    return 0


@kernel_fault("legal_actions")
def legal_id_that_is_none(s, out):
    out[0] = KEEP
    out[1] = healthy.NUM_ACTIONS
    return 2


@kernel_fault("explain_illegal")
def listed_action_called_illegal(s, action):
    return healthy.NOTHING_UP if action == TAKE else healthy.explain_illegal(s, action)


@kernel_fault("legal_actions")
def unlisted_action_called_legal(s, out):
    out[0] = KEEP
    out[1] = SWAP
    return 2


@kernel_fault("apply_action")
def wrong_sum(s, action, log):
    healthy.apply_action(s, action, log)
    if s.terminal:
        s.rewards[0] = 0


@kernel_fault("apply_action")
def returns_out_of_bounds(s, action, log):
    healthy.apply_action(s, action, log)
    for p in range(2):
        s.rewards[p] *= 2


@kernel_fault("apply_action")
def endless_game(s, action, log):
    player = s.current_player
    log_note(log, KEEPS, player, 0)
    s.current_player = 1 - player


@kernel_fault("deal")
def deal_that_ends_the_game(s, given, log):
    healthy.deal(s, given, log)
    healthy.pay(s, 0, log)
    s.current_player = TERMINAL_PLAYER


@kernel_fault("deal")
def deal_without_the_seed(s, given, log):
    seed = s.seed
    s.seed = 0
    healthy.deal(s, given, log)
    s.seed = seed


@kernel_fault("forfeit")
def forfeit_that_leaves_the_player_to_act(s, player, log):
    s.active[player] = 0
    log_note(log, FORFEITS, player, 0)


@kernel_fault("forfeit")
def forfeit_that_leaves_the_player_active(s, player, log):
    log_note(log, FORFEITS, player, 0)


@kernel_fault("forfeit")
def forfeit_that_pays_later(s, player, log):
    s.active[player] = 0
    log_note(log, FORFEITS, player, 0)
    s.current_player = 1 - player


@kernel_fault("forfeit")
def forfeit_that_costs_nothing(s, player, log):
    s.active[player] = 0
    log_note(log, FORFEITS, player, 0)
    s.terminal = 1


@kernel_fault("forfeit")
def forfeit_that_costs_too_much(s, player, log):
    s.active[player] = 0
    log_note(log, FORFEITS, player, 0)
    s.rewards[player] = -2
    s.rewards[1 - player] = 2
    s.terminal = 1


@view_fault("candidates")
def candidate_that_cannot_be_done(self, state, player):
    listed = HighCardView.candidates(self, state, player)
    return [*listed, Candidate("keep twice, and once more", (KEEP,) * 3)]


@view_fault("candidates")
def two_candidates_alike(self, state, player):
    return [Candidate("do something", (action,)) for action in state.legal_actions()]


@view_fault("candidates")
def no_candidates(self, state, player):
    return []


@view_fault("conserved")
def conserved_quantity_that_changes(self, s):
    return {"stock": float(NUM_CARDS - s.deck_pos)}


@view_fault("phase")
def undeclared_phase(self, s):
    return "nap"


@view_fault("action_label")
def two_labels_alike(self, s, action):
    return "draw" if action != KEEP else "keep"


_ASKED = itertools.count()


@view_fault("action_label")
def label_that_does_not_lead_back(self, s, action):
    return f"action {action}, asked {next(_ASKED)} times"


# ---------------------------------------------------------------------------------------------------------------
# Observations


@kernel_fault("observe")
def unwritten_entries(s, player, out):
    out[s.hand[player]] = 1


@kernel_fault("observe")
def entry_out_of_bounds(s, player, out):
    healthy.observe(s, player, out)
    out[NUM_CARDS * 4] = 2


@kernel_fault("observe")
def observation_that_forgets_the_taken_card(s, player, out):
    healthy.observe(s, player, out)
    for card in range(NUM_CARDS):
        out[3 * NUM_CARDS + card] = 0


TWO_DEALS = record(rules_dtype(healthy.HighCardOptions), healthy.NUM_PLAYERS, [*healthy.FIELDS, ("second", "u1")])
TWO_DEALS_TABLE = copy.deepcopy(healthy.TABLE)
SHOWS = TWO_DEALS_TABLE.event("show", Op.REVEAL, "{player} shows {token}.")
CLEARS = TWO_DEALS_TABLE.event("clear", Op.CLEAR, "The cards are gathered.")


@kernel
def playing_twice(s, action, log):
    """The first deal ends with both hands open, and a second one follows at once."""
    healthy.apply_action(s, action, log)
    if s.terminal and not s.second:
        s.second = 1
        s.terminal = 0
        for p in range(healthy.NUM_PLAYERS):
            s.rewards[p] = 0
            log_reveal(log, SHOWS, p, s.hand[p], healthy.HAND + p, 1, EVERYBODY)
            log_set(log, COUNTS, p, CHANGED + p, 0)
        log_clear(log, CLEARS)
        healthy.deal(s, s.deck[:0], log)
        s.current_player = 0


observation_that_forgets_the_deal_before = fault(
    "observation_that_forgets_the_deal_before",
    state_dtype=TWO_DEALS,
    table=TWO_DEALS_TABLE,
    apply_action=playing_twice,
    max_length=lambda options: 2 * healthy.NUM_PLAYERS,
    dealt_tokens=None,
)


class SharedBufferState(State):
    """Gives out the same array again and again."""

    def observation(self, player):
        shared = self.game.__dict__.setdefault("_shared", super().observation(player))
        shared[:] = super().observation(player)
        return shared


shared_observation = fault("shared_observation", state_class=f"{__name__}:SharedBufferState")


# ---------------------------------------------------------------------------------------------------------------
# What only another mode shows

COUNTING = record(rules_dtype(healthy.HighCardOptions), healthy.NUM_PLAYERS, [*healthy.FIELDS, ("count", "i1")])


@kernel
def overflowing(s, action, log):
    s.count += 100
    healthy.apply_action(s, action, log)


@kernel
def wrapping(s, action, log):
    s.count = 100
    s.count += 100  # 200, or -56 where it is kept in eight bits at once
    s.count = 1 if s.count > 0 else 0
    healthy.apply_action(s, action, log)


int8_that_overflows = fault("int8_that_overflows", state_dtype=COUNTING, apply_action=overflowing)
int8_that_wraps_on_the_way = fault("int8_that_wraps_on_the_way", state_dtype=COUNTING, apply_action=wrapping)

_LUCK = np.arange(NUM_CARDS)


@kernel_fault("observe")
def read_out_of_bounds(s, player, out):
    healthy.observe(s, player, out)
    out[NUM_CARDS * 4] = min(1, max(0, _LUCK[s.hand[player] + 1]))
