"""The State of Texas hold'em: legal options and actions with exact amounts."""

import numbers
import re
from dataclasses import dataclass

from cardenvs.core.errors import IllegalActionError
from cardenvs.core.state import State
from cardenvs.games.texas_holdem.actions import CHECK_CALL, FOLD, FULL_RAISE_0, LIMIT_RAISE, raise_action
from cardenvs.games.texas_holdem.legal import largest_raise, owed, raise_refused, smallest_raise
from cardenvs.games.texas_holdem.limit import raise_word
from cardenvs.games.texas_holdem.state import MAX_CHIPS, TexasHoldemOptions

KINDS = ("fold", "check", "call", "check_call", "bet", "raise", "complete", "raise_to", "all_in")
_WITH_AMOUNT = ("bet", "raise", "complete", "raise_to")


@dataclass(frozen=True)
class LegalOptions:
    """The options of the player to act (rules.md 4.5 to 4.8), in chips.

    Attributes:
        player: the player to act.
        kinds: the legal ones of "fold", "check", "call", "bet", "raise", "complete" (12.5), "all_in".
        call_amount: chips that a call puts in; 0 if checking is free.
        min_raise_to, max_raise_to: totals of a bet or raise on the street; None if not allowed.
        pot: all chips put in during this hand.
        stack: chips behind.
        effective_stack: the part of the stack that an opponent in the hand can call.
        commits: chips put in, by kind; for a bet or raise the smallest possible amount.
    """

    player: int
    kinds: tuple[str, ...]
    call_amount: int
    min_raise_to: int | None
    max_raise_to: int | None
    pot: int
    stack: int
    effective_stack: int
    commits: dict[str, int]


class TexasHoldemState(State):
    """A State with exact amounts."""

    options: TexasHoldemOptions

    @property
    def stacks(self) -> list[int]:
        """Chips behind, seat by seat."""
        return self._states["stacks"][0, : self.num_players].tolist()

    @property
    def pot(self) -> int:
        """The chips in the middle, including bets of the street."""
        return int(self._states["pot"][0])

    def legal_options(self) -> LegalOptions:
        """Return the options of the player to act, with exact amounts.

        Raises:
            IllegalActionError: the game is over.
        """
        self._check_not_over("choose an action")
        s, player = self.record, self.current_player
        bet, stack = int(s.bets[s.street, player]), int(s.stacks[player])
        to_call = int(owed(s, player))
        commits = {"fold": 0, "call": to_call} if to_call else {"check": 0}
        low = high = None
        if not raise_refused(s, player):
            low, high = int(smallest_raise(s, player)), int(largest_raise(s, player))
            commits[raise_word(s)] = low - bet
        if high == bet + stack or to_call == stack:
            commits["all_in"] = stack
        others = [p for p in range(self.num_players) if s.in_hand >> p & 1 and p != player]
        reach = max(int(s.stacks[p] + s.bets[s.street, p]) for p in others) - bet
        return LegalOptions(
            player, tuple(commits), to_call, low, high, int(s.pot), stack, max(0, min(stack, reach)), commits
        )

    def act(self, kind: str, amount: int | None = None) -> None:
        """Apply an action of the player to act.

        Args:
            kind: "fold", "check", "call", "check_call" (the legal one of the two), "all_in" (a call if the stack does
                not exceed it), or with an amount "bet", "raise", "complete", "raise_to".
            amount: total of a bet or raise for the street; with betting="limit" it may be left out.

        Raises:
            IllegalActionError: the action is illegal; the state is unchanged. With invalid_action="passive" the player
                checks instead, or folds if there is something to call.
        """
        self._check_not_over("act")
        try:
            action = self.action_of(kind, amount)
            self.check_legal(action)
        except IllegalActionError:
            if self.options.invalid_action == "error":
                raise
            action = FOLD if owed(self.record, self.current_player) else CHECK_CALL
        self.apply_unchecked(action)

    def action_from_label(self, text: str) -> int:
        """Return the action with a label; see State.

        With betting="full" the total in the label is tried first, as there may be thousands of ids.
        """
        total = re.search(r"\d+", text)
        if total and self.options.betting == "full":
            action = FULL_RAISE_0 + int(total.group())
            if action in self.legal_actions() and self._label(action).lower() == " ".join(text.lower().split()):
                return action
        return super().action_from_label(text)

    def action_of(self, kind: str, amount: int | None = None) -> int:
        """Return the id or code of an action given as for `act`. The amount of a bet or raise is not checked.

        To complete (rules.md 12.5) may also be called a raise.

        Raises:
            IllegalActionError: there is no such action now.
        """
        options, name = self.legal_options(), f"{self.game.name}: player_{self.current_player}"
        if kind == "raise" and "complete" in options.kinds:
            kind = "complete"
        if kind not in KINDS:
            raise IllegalActionError(f"{self.game.name}: there is no {kind!r}; say one of {', '.join(KINDS)}")
        is_fixed = self.options.betting == "limit" and kind in _WITH_AMOUNT and amount is None
        if not is_fixed and (amount is not None) != (kind in _WITH_AMOUNT):
            takes = "takes the total for the street as its amount" if amount is None else "takes no amount"
            raise IllegalActionError(f"{name}: {kind} {takes}")
        if kind in ("check", "call", "bet", "raise", "complete", "all_in") and kind not in options.kinds:
            raise IllegalActionError(f"{name} may not {kind} now; may {', '.join(options.kinds)} (rules.md 4.5)")
        if kind == "fold":
            return FOLD
        if kind in ("check", "call", "check_call") or (kind == "all_in" and options.max_raise_to is None):
            return CHECK_CALL
        if is_fixed:
            return LIMIT_RAISE
        total = options.max_raise_to if amount is None else amount
        if isinstance(total, bool) or not isinstance(total, numbers.Integral) or not 0 <= total <= MAX_CHIPS:
            raise IllegalActionError(f"{name}: {kind} takes a number of chips; got {total!r}")
        return raise_action(self.options, total)
