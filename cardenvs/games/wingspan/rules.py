"""The course of a game: turns, rounds and the end. Paragraph numbers are those of rules.md.

The deal is in deal.py, choices in legal.py and decisions.py, powers in powers.py Between decisions, `_run` takes steps
off the stack until a player has to decide.
"""

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.kernel import kernel
from cardenvs.core.rng import random_below, start_stream
from cardenvs.core.seats import wrap
from cardenvs.games.wingspan import bird_cards, bonus_cards, cards, decisions, legal, mats, rounds, stack, state, table
from cardenvs.games.wingspan.actions import STOP
from cardenvs.games.wingspan.explain import explain_illegal as explain_illegal
from cardenvs.games.wingspan.hands import bird_in_hand
from cardenvs.games.wingspan.powers import begin_power, share, triggered
from cardenvs.games.wingspan.scoring import compare, goal_points, score, unused_food
from cardenvs.kits.cards import lowest_card
from cardenvs.kits.listing import list_bits

# ---------------------------------------------------------------------------------------------------------------
# What is legal


@kernel
def legal_actions(s, out):
    """Write the legal action ids of the player to act to `out`, ascending; returns their number."""
    op, who, _, _, about, _ = stack.top(s)
    n = 0
    if legal.can_stop(s):
        out[0] = STOP
        n = 1
    first_id = np.int64(stack.FIRST_ID[op])
    if op < stack.FIRST_CARD_OP:
        return list_bits(legal.choices(s), first_id, out, n)
    if op == stack.PLAY:
        return legal.list_plays(s, who, about, out, n)
    if op == stack.SETUP_BIRDS:
        for k in range(about, cards.BIRDS_DEALT):
            out[n] = first_id + bird_in_hand(s, who, k)
            n += 1
        return n
    return legal.list_hand(s, who, first_id, out, n)


# ---------------------------------------------------------------------------------------------------------------
# Moves


@kernel
def apply_action(s, action, log):
    """Apply a legal action of the player to act and go on to the next decision."""
    if action == STOP:
        decisions.stop(s, log)
    else:
        op = s.stack[s.depth - 1, state.OP]
        if op < stack.FIRST_CARD_OP:
            decisions.choose(s, action - stack.FIRST_ID[op], log)
        else:
            decisions.choose_card(s, action, log)
    _run(s, log)


@kernel
def _run(s, log):
    """Take steps off the stack until a player has to decide or the game is over."""
    while not s.terminal:
        op, who, _, _, _, _ = stack.top(s)
        if not s.active[who] and op not in (stack.END_TURN, stack.END_SETUP, stack.END_DRAFT, stack.CLEAR_DRAFT):
            stack.pop(s)  # a player who has left makes no decisions (15.1)
            if op == stack.CHOOSE_TURN:
                stack.push(s, stack.END_TURN, who, stack.NO_SLOT, 0, 0, 0)
        elif op >= stack.FIRST_STEP:
            _step(s, op, who, log)
        elif op < stack.FIRST_CARD_OP:
            if _is_to_decide(s, op, log):
                s.current_player = who
                return
        elif _is_to_choose_card(s, op, who, log):
            s.current_player = who
            return


@kernel
def _is_to_decide(s, op, log):
    """Return whether the player has a choice; if everybody can see that they have none, decide for them or skip it."""
    if op in (stack.CHOOSE_TURN, stack.SETUP_FOOD, stack.KEEP_BONUS):
        return True
    bits = legal.choices(s)
    if bits == 0:
        stack.pop(s)
        return False
    if bits & bits - 1 == 0 and not legal.can_stop(s):
        decisions.choose(s, lowest_card(bits), log)
        return False
    return True


@kernel
def _is_to_choose_card(s, op, who, log):
    """Do as `_is_to_decide` for decisions about cards in hand; only the number of cards, which is public, matters."""
    if op == stack.SETUP_BIRDS:
        return True
    _, _, slot, number, habitats, flags = stack.top(s)
    if op == stack.PAY_DEBT and s.hand_size[who] <= number:
        stack.pop(s)
        while s.hand_size[who] > 0:
            bird_cards.discard(s, who, bird_in_hand(s, who, 0), log)
        rounds.set_debt(s, who, 0, log)
        return False
    if op == stack.PLAY and habitats & legal.open_habitats(s, who) == 0:
        stack.pop(s)
        return False
    if s.hand_size[who] == 0:
        stack.pop(s)
        return False
    if op == stack.TUCK and not flags & stack.OPTIONAL and s.hand_size[who] == 1:
        stack.pop(s)
        bird_cards.tuck_from_hand(s, who, slot, bird_in_hand(s, who, 0), log)
        return False
    return True


@kernel
def _step(s, op, who, log):
    """Take the step on top of the stack."""
    _, _, slot, number, about, param = stack.top(s)
    if op == stack.ROW:
        _activate_next(s, who, about, number, log)
    elif op == stack.WINDOW:
        _open_window(s, who, number, about, param)
    elif op == stack.EACH:
        _give_next_share(s, who, slot, number, about, log)
    elif op == stack.END_TURN:
        _end_turn(s, who, log)
    elif op == stack.END_SETUP:
        stack.pop(s)
        _end_setup(s, log)
    else:
        stack.pop(s)
        if op == stack.POWER:
            begin_power(s, who, slot, log)
        elif op == stack.PLACE:
            _place(s, who, about, param, log)
        elif op == stack.END_DRAFT:
            stack.push(s, stack.CLEAR_DRAFT, who, stack.NO_SLOT, 0, 0, 0)
            stack.push(s, stack.DRAFT, who, stack.NO_SLOT, 0, 0, 0)
        else:
            bird_cards.sweep(s, s.draft, table.DRAFT, table.DROP_DRAFT, log)


@kernel
def _activate_next(s, who, habitat, column, log):
    """Begin the next brown power of a row, from right to left; birds that have moved away are skipped (10.3)."""
    while column >= 0:
        slot = cards.NUM_SLOTS * habitat + column
        column -= 1
        if s.birds[who, slot] != state.NO_BIRD and cards.BIRD_COLOUR[s.birds[who, slot]] == cards.BROWN:
            s.stack[s.depth - 1, state.COUNT] = column
            begin_power(s, who, slot, log)
            return
    stack.pop(s)


@kernel
def _open_window(s, who, seat, kind, param):
    """Ask the next player clockwise from the left of `who` who can react at this moment (12)."""
    n = np.int64(s.rules.num_players)
    while seat < n:
        player = wrap(who + seat, n)
        seat += 1
        if s.active[player]:
            slots = triggered(s, player, kind, param)
            if slots:
                s.stack[s.depth - 1, state.COUNT] = seat
                stack.push(s, stack.REACT, player, param, kind, slots, stack.OPTIONAL)
                return
    stack.pop(s)


@kernel
def _give_next_share(s, owner, slot, first, players, log):
    """Give the next player a share of a power, unless they have left the game."""
    if players == 0:
        stack.pop(s)
        return
    later = players >> first << first
    player = lowest_card(later if later else players)
    s.stack[s.depth - 1, state.ARG0] = players & ~(1 << player)
    s.stack[s.depth - 1, state.COUNT] = wrap(player + 1, np.int64(s.rules.num_players))
    if s.active[player]:
        share(s, owner, slot, player, log)


@kernel
def _place(s, who, bird, habitat, log):
    """Place a bird that has been paid for; the others react, then its white power works (4.4)."""
    slot = mats.place_bird(s, who, bird, habitat, log)
    if cards.BIRD_COLOUR[bird] == cards.WHITE:
        stack.push(s, stack.POWER, who, slot, 0, 0, 0)
    stack.push(s, stack.WINDOW, who, stack.NO_SLOT, 1, stack.AFTER_PLAY, habitat)


# ---------------------------------------------------------------------------------------------------------------
# Turns and rounds


@kernel
def _end_setup(s, log):
    """Apply what the players chose, draw the first player, and begin the first round (2.2, 2.3, 3.1)."""
    n = np.int64(s.rules.num_players)
    for p in range(n):
        if s.active[p]:
            _keep(s, p, log)
        s.setup_dropped[p] = 0
        s.setup_bonus[p] = 0
        for food in range(cards.NUM_FOODS):
            s.setup_paid[p, food] = 0
    start_stream(s, state.FIRST_PLAYER, 0)
    first = random_below(s.rng, n)
    while not s.active[first]:
        first = wrap(first + 1, n)
    rounds.set_first_player(s, first, log)
    _begin_round(s, 0, log)


@kernel
def _keep(s, player, log):
    """Discard the birds and the bonus card that `player` does not keep, and pay for the birds kept (2.3)."""
    for k in range(cards.BIRDS_DEALT - 1, -1, -1):
        if s.setup_dropped[player] >> k & 1:
            bird_cards.drop_bird(s, player, bird_in_hand(s, player, k), log)
    for food in range(cards.NUM_FOODS):
        if s.setup_paid[player, food] > 0:
            mats.add_food(s, player, food, -np.int64(s.setup_paid[player, food]), table.PAY_FOOD, log)
    bonuses = np.int64(s.bonus_hands[player])
    lower, higher = lowest_card(bonuses), lowest_card(bonuses & bonuses - 1)
    bonus_cards.drop_bonus(s, player, higher if s.setup_bonus[player] == 0 else lower, log)


@kernel
def _begin_round(s, number, log):
    """Give all players their turns of the round, and begin the turn of the first player (3.1)."""
    rounds.set_round(s, number, log)
    for p in range(s.rules.num_players):
        if s.active[p]:
            rounds.set_turns(s, p, np.int64(cards.TURNS_PER_ROUND[number]), log)
    _begin_turn(s, np.int64(s.first_player))


@kernel
def _begin_turn(s, player):
    """Begin a turn of `player`, whose pink powers become available again (12.1)."""
    s.turn_player = player
    s.pink_used[player] = 0
    stack.push(s, stack.CHOOSE_TURN, player, stack.NO_SLOT, 0, 0, 0)


@kernel
def _end_turn(s, who, log):
    """Let `who` discard what they owe, then fill the tray and begin the next turn (3.3)."""
    if s.active[who] and s.debts[who] > 0:
        stack.push(s, stack.PAY_DEBT, who, stack.NO_SLOT, s.debts[who], 0, 0)
        return
    stack.pop(s)
    bird_cards.fill_tray(s, log)
    n = np.int64(s.rules.num_players)
    player = who
    for _ in range(n):
        player = wrap(player + 1, n)
        if s.turns_left[player] > 0:
            _begin_turn(s, player)
            return
    _end_round(s, log)


@kernel
def _end_round(s, log):
    """Score the goal, then lay out a new tray and begin the next round, or end the game (3.4, 9)."""
    number = np.int64(s.round_number)
    n = np.int64(s.rules.num_players)
    for p in range(n):
        if s.active[p]:
            points = goal_points(s, p, np.int64(s.goals[number]), number, s.rules.goals == state.BLUE)
            rounds.give_goal_points(s, p, points, log)
    if number + 1 == cards.NUM_ROUNDS:
        _end_game(s, log)
        return
    bird_cards.sweep(s, s.tray, table.TRAY, table.SWEEP_TRAY, log)
    bird_cards.fill_tray(s, log)
    first = wrap(np.int64(s.first_player) + 1, n)
    while not s.active[first]:
        first = wrap(first + 1, n)
    rounds.set_first_player(s, first, log)
    _begin_round(s, number + 1, log)


# ---------------------------------------------------------------------------------------------------------------
# The end


@kernel
def _end_game(s, log):
    """Show the bonus cards, score, and set places and rewards (13)."""
    for p in range(s.rules.num_players):
        if s.active[p]:
            bonus_cards.show_bonuses(s, p, log)
            rounds.set_score(s, p, score(s, p), log)
    s.terminal = 1
    for p in range(s.rules.num_players):
        if s.active[p]:
            _finish(s, p, log)


@kernel
def _finish(s, player, log):
    """Set the place of `player` among the remaining players, perhaps shared, and the reward (13.2, 13.4)."""
    ahead, level = 0, 0
    for other in range(s.rules.num_players):
        if s.active[other]:
            order = compare(
                np.int64(s.scores[other]), unused_food(s, other), np.int64(s.scores[player]), unused_food(s, player)
            )
            ahead += order > 0
            level += order == 0
    s.standing[player] = ahead + 1
    if ahead == 0:
        ev.log_note(log, table.WIN if level == 1 else table.SHARE_WIN, player, s.scores[player])
    total = 0.0
    for k in range(level):
        total += _payment(s, player, ahead + 1 + k)
    s.rewards[player] = total / level


@kernel
def _payment(s, player, place):
    """Return the reward for a place (13.4)."""
    n = s.rules.num_players
    if s.rules.reward == state.PLACEMENT:
        return 1.0 - 2.0 * (place - 1) / (n - 1)
    if s.rules.reward == state.WINNER:
        return 1.0 if place == 1 else -1.0 / (n - 1)
    return float(s.scores[player])


@kernel
def forfeit(s, player, log):
    """Take `player` out of the game with the last place still open; the last remaining player wins (15)."""
    remaining = 0
    for p in range(s.rules.num_players):
        remaining += s.active[p]
    rounds.leave(s, player, log)
    s.standing[player] = remaining
    s.rewards[player] = _payment(s, player, remaining)
    if remaining == 2:
        _end_game(s, log)
    else:
        _run(s, log)
