"""Texts and pictures of Texas hold'em."""

import re

import numpy as np

from cardenvs.core.errors import FormatError
from cardenvs.core.events import OMNISCIENT, UNKNOWN, CounterUse, PileLayout
from cardenvs.core.game_view import Choice, CounterView
from cardenvs.core.options import NONE
from cardenvs.core.view import Candidate, sees
from cardenvs.games.texas_holdem import actions
from cardenvs.games.texas_holdem.evaluator import category_of_rank, rank_hands
from cardenvs.games.texas_holdem.hand_end import next_pot
from cardenvs.games.texas_holdem.legal import all_in_total, largest_raise, owed, raise_refused, smallest_raise
from cardenvs.games.texas_holdem.limit import bet_size, raise_word
from cardenvs.games.texas_holdem.state import (
    BOARD_CARDS,
    CASH,
    FCPA,
    FULL,
    LIMIT,
    NUM_BOARD,
    POT_LIMIT,
    SINGLE,
    STREETS,
)
from cardenvs.kits.cards import CardView, card_text

_BET = re.compile(r"(?P<kind>bet|raise|complete)(?: to)? (?P<amount>[0-9]{1,9})")
_ANSWERS = ("fold", "check", "call", "bet", "raise", "complete", "all_in")
_REASONS = {
    actions.NOTHING_TO_CALL: "there is nothing to call, so checking is free (rules.md 4.5)",
    actions.ONLY_ALL_IN_CALLS: "the stack does not go beyond what is to be called (rules.md 4.6)",
    actions.NOBODY_TO_RAISE: "no opponent has chips left to answer a raise with (rules.md 4.6)",
    actions.NOT_REOPENED: "less than a full raise has been added since this player acted (rules.md 4.7)",
    actions.SAME_AS_LOWER: "that is the same total as a lower id (rules.md 4.10)",
    actions.SAME_AS_ALL_IN: "that takes the whole stack; go all in (rules.md 4.10)",
    actions.CAPPED: "no more bets or raises are allowed on this street (rules.md 12.3)",
}


class TexasHoldemView(CardView):
    """The view of Texas hold'em."""

    shape = "ring"
    phases = STREETS

    # -- the table ----------------------------------------------------------------------------------------------

    def fill_table(self, s, viewer, table):
        n = int(s.rules.num_players)
        hands = {p: s.deck[2 * p : 2 * p + 2] for p in range(n) if s.dealt >> p & 1}
        burnt = burnt_cards(s)
        for p, cards in hands.items():
            if s.shown >> p & 1 or sees(viewer, p):
                table.put("hand", cards, player=p)
            else:
                table.put("hand", unknown=2, player=p)
        table.put("board", board_cards(s))
        gone = {*np.concatenate([*hands.values(), board_cards(s), burnt]).tolist()}
        left = [card for card in s.deck if card not in gone]
        if viewer == OMNISCIENT:
            table.put("deck", left)
            table.put("burnt", burnt)
        else:
            table.put("deck", unknown=len(left))
            table.put("burnt", unknown=len(burnt))
        for counter in ("hand_number", "small_blind", "big_blind", "button", "pot"):
            table.set(counter, s[counter])
        for p in range(n):
            table.set("stack", s.stacks[p], player=p)
            table.set("bet", s.bets[s.street, p], player=p)
            table.set("folded", (s.dealt & ~s.in_hand) >> p & 1, player=p)
            table.set("out", 1 - (s.live >> p & 1), player=p)

    def phase(self, s):
        return STREETS[int(s.street)]

    def conserved(self, s):
        return {"chips": float(s.pot + s.stacks.sum())}

    def arrange(self, s, viewer, scene):
        """Blinds, players who are all in, and places; no cards before those who have folded them, and no deck."""
        if UNKNOWN in scene.piles["deck", None].tokens:
            scene.piles["deck", None].layout = PileLayout.NONE
        if s.rules.format != CASH and s.rules.blinds[0] == NONE:
            scene.counters["level"] = CounterView("level", CounterUse.NUMBER, int(s.level) + 1)
        if s.rules.betting == LIMIT:
            scene.counters["bets"] = CounterView("bets", CounterUse.NUMBER, _bets_text(s))
        for p in range(int(s.rules.num_players)):
            if p == s.small_blind_seat:
                scene.notes[p].append("small blind")
            if p == s.big_blind_seat:
                scene.notes[p].append("big blind")
            if s.in_hand >> p & 1 and not s.stacks[p] and not s.terminal:
                scene.notes[p].append("all in")
            if s.places[p]:
                scene.notes[p].append(_place_text(s.places, p))
            known = [token for token in scene.piles["hand", p].tokens if token != UNKNOWN]
            if len(known) == 2 and s.street:
                scene.piles["hand", p].label = category_of_rank(_rank([*known, *board_cards(s)]))
            if "folded" in scene.notes[p] and UNKNOWN in scene.piles["hand", p].tokens:
                scene.piles["hand", p].layout = PileLayout.NONE

    # -- actions ------------------------------------------------------------------------------------------------

    def action_label(self, s, action):
        if action == actions.FOLD:
            return "fold"
        player = int(s.current_player)
        if action == actions.CHECK_CALL:
            to_call = owed(s, player)
            if not to_call:
                return "check"
            return f"call {to_call}{' all in' if to_call == s.stacks[player] else ''}"
        total, size = _named_raise(s, player, action)
        return f"{raise_word(s)}{' to' if s.to_match else ''} {total}{size}"

    def choice(self, s, action):
        if action in (actions.FOLD, actions.CHECK_CALL):
            return Choice()
        player = int(s.current_player)
        named = _named_totals(s, player) if s.rules.betting == FULL else ()
        return Choice(amount=int(_named_raise(s, player, action)[0]), named=named)

    def illegal_reason(self, s, action, code):
        player = int(s.current_player)
        if s.rules.betting == LIMIT and code in (actions.BELOW_MINIMUM, actions.ABOVE_STACK):
            return f"bets have fixed sizes: {raise_word(s)} to exactly {smallest_raise(s, player)} (rules.md 12.2)"
        if s.rules.reopen_rule == SINGLE and code == actions.NOT_REOPENED:
            return "no single full bet or raise has been made since this player acted (rules.md 4.7)"
        if s.rules.betting == LIMIT and code == actions.NOT_REOPENED:
            return "less than half a bet has been added since this player acted (rules.md 12.6)"
        if code == actions.ABOVE_STACK and largest_raise(s, player) < all_in_total(s, player):
            return f"the pot allows up to {largest_raise(s, player)} (rules.md 13.1)"
        if code == actions.BELOW_MINIMUM:
            kind = "raise goes to" if s.to_match else "bet is"
            return f"a {kind} {smallest_raise(s, player)} at least (rules.md 4.5)"
        if code == actions.ABOVE_STACK:
            return f"the stack reaches to {largest_raise(s, player)} (rules.md 4.5)"
        return _REASONS[code]

    def prompt(self, s):
        player = int(s.current_player)
        to_call = owed(s, player)
        pot = f"The pot is {s.pot}"
        if raise_refused(s, player):
            return f"{pot}: call {to_call}, or fold?"
        low, high = smallest_raise(s, player), largest_raise(s, player)
        amounts = f"{low}"
        if s.rules.betting != LIMIT and low < high:
            amounts += f" up to {high}" if s.to_match else f" to {high}"
        raises = f"{raise_word(s)}{' to' if s.to_match else ''} {amounts}"
        return f"{pot}: call {to_call}, {raises}, or fold?" if to_call else f"{pot}: check, or {raises}?"

    def place(self, s, player):
        """Return the place of a player who is out, the mean for shared places (rules.md 8.2), or None."""
        place = int(s.places[player])
        sharers = sum(int(other) == place for other in s.places)
        return place + (sharers - 1) / 2 if place and sharers > 1 else place or None

    # -- what a careful player knows ----------------------------------------------------------------------------

    def facts(self, s, player):
        n = int(s.rules.num_players)
        facts = {
            "street": STREETS[int(s.street)],
            "hand_number": int(s.hand_number),
            "blinds": [int(s.small_blind), int(s.big_blind)],
            "stack": int(s.stacks[player]),
            "stack_in_big_blinds": round(float(s.stacks[player] / s.big_blind), 2),
            "pot": int(s.pot),
            "seats_from_the_button": int((player - s.button) % n),
            "opponents_in_the_hand": int(s.in_hand & ~(1 << player)).bit_count(),
        }
        pots = _pots(s) if s.pot else []  # they have been paid out at the end
        if len(pots) > 1:
            facts["main_and_side_pots"] = pots
        if s.rules.format != CASH:
            facts["players_left"] = int(s.live).bit_count()
            facts["hands_until_the_blinds_rise"] = int(s.hands_to_level)
        if s.dealt >> player & 1:
            cards = [*s.deck[2 * player : 2 * player + 2], *board_cards(s)]
            facts["own_cards"] = [card_text(card) for card in cards[:2]]
            if len(cards) > 2:
                facts["own_hand_is"] = category_of_rank(_rank(cards))
        if s.rules.betting == LIMIT:
            facts |= {"bet_size": int(bet_size(s)), "bets_on_this_street": int(s.num_bets)}
            facts["most_bets_on_a_street"] = None if s.rules.max_bets == NONE else int(s.rules.max_bets)
        if player == s.current_player:
            facts |= _facts_of_turn(s, player)
        return facts

    def describe_event(self, event, kind):
        if event.kind == "stack" and event.value is None:
            return f"Nobody knows how many chips player_{event.player} has behind."
        if event.kind == "stack" and event.value == 0:
            return f"player_{event.player} has no chips behind."
        if event.kind == "out":
            return f"player_{event.player} is out of the game."
        return super().describe_event(event, kind)

    def candidates(self, state, player):
        """Return the legal actions; with betting="full", of thousands of raises only those of "pot_fractions"."""
        s = state.record
        if s.rules.betting != FULL:
            return super().candidates(state, player)
        chosen = {actions.FOLD, actions.CHECK_CALL}
        chosen |= {actions.FULL_RAISE_0 + total for total in _usual_totals(s, player)}
        legal = sorted(chosen.intersection(state.legal_actions()))
        return [Candidate(self.action_label(s, action), (action,)) for action in legal]

    # -- answers of language models -----------------------------------------------------------------------------

    def answer_form(self):
        return (
            '{"action": "fold"}, {"action": "check"}, {"action": "call"}, {"action": "all_in"}, '
            '{"action": "bet", "amount": N} or {"action": "raise", "amount": N}, where N is the whole number of chips '
            "that your bets of this street come to in all after the action"
        )

    def actions_from_answer(self, state, player, answer):
        kind, amount = answer.get("action"), answer.get("amount")
        unknown = sorted(set(answer) - {"action", "amount"})
        if unknown:
            raise FormatError(f'the answer has {", ".join(unknown)} besides "action" and "amount"')
        if kind not in _ANSWERS:
            raise FormatError(f'"action" is one of {", ".join(_ANSWERS)}; got {_shortened(kind)}')
        if amount is not None and (isinstance(amount, bool) or not isinstance(amount, int)):
            raise FormatError(f'"amount" is a whole number of chips; got {_shortened(amount)}')
        if kind not in ("bet", "raise", "complete"):
            amount = None  # ignored for these kinds
        return (state.action_of(kind, amount),)

    def answer_in_words(self, text):
        if re.fullmatch("all[ _-]?in", text):
            return {"action": "all_in"}
        found = _BET.fullmatch(text)
        return {"action": found["kind"], "amount": int(found["amount"])} if found else None

    # -- the picture --------------------------------------------------------------------------------------------


# ---------------------------------------------------------------------------------------------------------------
# Parts of the texts


def _place_text(places, player):
    """Return the place of a player who has finished, such as "6th place"; one that others share is "shared"."""
    place = int(places[player])
    ending = {1: "st", 2: "nd", 3: "rd"}.get(place, "th")
    return f"{'shared ' if np.count_nonzero(places == place) > 1 else ''}{place}{ending} place"


def board_cards(s):
    """Return the cards on the board."""
    first = 2 * int(s.rules.num_players)
    return s.deck[first : first + BOARD_CARDS[int(s.street)]]


def _pots(s):
    """Return the chips of each pot so far, divided where players are all in, with the players who can win it (5.2)."""
    rest, left, pots = int(s.in_hand), int(s.pot), []
    while rest:
        chips, above = next_pot(s, rest, int(s.in_hand & ~s.can_act), left)
        winners = [f"player_{p}" for p in range(int(s.rules.num_players)) if rest >> p & 1]
        pots.append({"chips": int(chips), "players": winners})
        rest, left = int(above), left - int(chips)
    return pots


def _bets_text(s):
    """Return the bets of the street and their cap, as in "2 of 4"."""
    return str(int(s.num_bets)) if s.rules.max_bets == NONE else f"{s.num_bets} of {s.rules.max_bets}"


def burnt_cards(s):
    """Return the cards burnt so far."""
    first = 2 * int(s.rules.num_players) + NUM_BOARD
    return s.deck[first : first + (int(s.street) if s.rules.burn_cards else 0)]


def _shortened(value):
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}..."


def _rank(cards):
    out = np.zeros(1, np.int64)
    rank_hands(np.array([cards], np.int8), out)
    return int(out[0])


def _named_raise(s, player, action):
    """Return the total of a raise, and the name of its size for the label."""
    everything = s.bets[s.street, player] + s.stacks[player]
    if action >= actions.RAISE_TO or s.rules.betting == FULL:  # there may be thousands, so call no kernels
        total, size = action - (actions.FULL_RAISE_0 if s.rules.betting == FULL else actions.RAISE_TO), ""
    else:
        pot_after_call, low, high = int(s.pot) + owed(s, player), smallest_raise(s, player), largest_raise(s, player)
        total = actions.asked_total(s, action, pot_after_call, low, high)
        if s.rules.betting == LIMIT:
            size = ""
        elif s.rules.betting == FCPA or (s.rules.betting == POT_LIMIT and action == actions.POT_RAISE):
            size = ", pot"
        elif action == actions.MIN_RAISE:
            size = ", the least"
        else:
            size = f", {actions.FRACTION_NAMES[min(action, actions.ALL_IN - 1) - actions.FRACTION_0]}"
    return total, ", all in" if total == everything else size


def _usual_totals(s, player):
    """Return the totals of the smallest raise, the fractions of the pot, and all in."""
    pot_after_call, to_match = int(s.pot) + owed(s, player), np.int64(s.to_match)
    fractions = range(len(actions.FRACTIONS))
    totals = [int(actions.fraction_raise(pot_after_call, to_match, k)) for k in fractions]
    return [int(smallest_raise(s, player)), *totals, int(largest_raise(s, player))]


def _named_totals(s, player):
    """Return the usual totals that the player may raise to, each once, with their names."""
    names, totals = ("the least", *actions.FRACTION_NAMES, "all in"), _usual_totals(s, player)
    by_total = {total: name for name, total in zip(names, totals, strict=True) if totals[0] <= total <= totals[-1]}
    return tuple((by_total[total], total) for total in sorted(by_total))


def _facts_of_turn(s, player):
    to_call = int(owed(s, player))
    facts = {"to_call": to_call, "can_raise": not raise_refused(s, player)}
    if to_call:
        facts["share_of_wins_that_pays_for_a_call"] = round(to_call / (int(s.pot) + to_call), 3)
    if facts["can_raise"]:
        facts["min_raise_to"] = int(smallest_raise(s, player))
        facts["max_raise_to"] = int(largest_raise(s, player))
    return facts
