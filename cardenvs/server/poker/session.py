"""A game of one-player poker as the API keeps it: the actions, where the player stands among them, and budgets.

Everything else follows from the seed and the actions by the game's rules.
"""

import itertools
from dataclasses import dataclass, field, replace
from typing import Any

from cardenvs.core.cards import CARD_LABELS
from cardenvs.core.registry import get_game
from cardenvs.core.state import State
from cardenvs.server.poker.errors import ApiError, invalid_action

GAME = "one_player_poker_v0"
PLAY, DISCARD = "PLAY", "DISCARD"
HAND_SIZE, PLAY_SIZE = 7, 5
PRACTICE, CHALLENGE = "practice", "challenge"
OFF, LIMITED, UNLIMITED = "off", "limited", "unlimited"

CARD_ORDER = [rank + suit for rank in "23456789TJQKA" for suit in "SHDC"]  # rank-major; not the deck's order
CARDS = [label.upper() for label in CARD_LABELS]  # by id
_ID_OF = {text: card for card, text in enumerate(CARDS)}
_PLAYS = {chosen: k for k, chosen in enumerate(itertools.combinations(range(HAND_SIZE), PLAY_SIZE))}
_DISCARDS = {
    chosen: len(_PLAYS) + k
    for k, chosen in enumerate(
        chosen for n in range(1, HAND_SIZE + 1) for chosen in itertools.combinations(range(HAND_SIZE), n)
    )
}
POSITIONS = [*((PLAY, chosen) for chosen in _PLAYS), *((DISCARD, chosen) for chosen in _DISCARDS)]  # by action id


@dataclass(frozen=True)
class Policy:
    """What a player may do of a kind: hints or jumps.

    Attributes:
        kind: OFF, LIMITED or UNLIMITED.
        total: the budget, if it is limited.
        used: how much of it is gone. Jumping back does not refund it.
    """

    kind: str
    total: int = 0
    used: int = 0

    @property
    def allows(self) -> bool:
        """Whether one more is allowed."""
        return self.kind == UNLIMITED or (self.kind == LIMITED and self.used < self.total)

    def check(self, code: str) -> None:
        """Raise ApiError with this code if no more are allowed."""
        if not self.allows:
            raise ApiError(403, code, reason="policy_off" if self.kind == OFF else "budget_exhausted")

    def spent(self) -> "Policy":
        """Return the policy after one use."""
        return replace(self, used=self.used + 1) if self.kind == LIMITED else self

    def fields(self, name: str) -> dict[str, Any]:
        """Return the fields of a response about it."""
        if self.kind != LIMITED:
            return {f"{name}_policy": self.kind}
        return {
            f"{name}_policy": self.kind,
            f"{name}_budget_total": self.total,
            f"{name}_budget_remaining": self.total - self.used,
        }


@dataclass(frozen=True)
class Session:
    """One game. Each change makes a new Session, so a refused one leaves nothing behind.

    Attributes:
        seed: as the client knows it.
        deck_seed: what the deck is shuffled with, secret if the server has a key.
        mode: PRACTICE or CHALLENGE.
        tier: difficulty.
        target: points to reach, in a challenge.
        hint, jump: what is allowed.
        history: ids of all actions, also of those behind which the player has jumped.
        step: how many of them count.
        is_revealed: whether the trace of a challenge has been shown, which ends it for good.
    """

    seed: int
    deck_seed: int
    mode: str
    tier: str
    target: int | None
    hint: Policy
    jump: Policy
    history: tuple[int, ...] = field(default=())
    step: int = 0
    is_revealed: bool = False

    @property
    def is_secret(self) -> bool:
        """Whether this is a challenge whose deck the seed does not tell."""
        return self.mode == CHALLENGE and self.deck_seed != self.seed

    @property
    def may_jump(self) -> bool:
        """Whether a jump is possible now."""
        return self.jump.allows and not self.is_revealed

    def state(self) -> State:
        """Return the position: the deck of the seed after the actions that count."""
        state = get_game(GAME).new_state(seed=self.deck_seed)
        for action in self.history[: self.step]:
            state.apply(action)
        return state

    def at(self, step: int) -> "Session":
        """Return the session as if the player stood at `step`; no budget is used."""
        return replace(self, step=step)

    def acted(self, action: int) -> "Session":
        """Return the session after a legal action; what lay ahead of a jump is gone."""
        return replace(self, history=(*self.history[: self.step], action), step=self.step + 1)

    def jumped(self, step: int) -> "Session":
        """Return the session at an earlier or later step.

        Raises:
            ApiError: jumps are not allowed, or there is no such step.
        """
        self.jump.check("JUMP_NOT_ALLOWED")
        if self.is_revealed:
            raise ApiError(403, "JUMP_NOT_ALLOWED", reason="trace_revealed")
        if not 0 <= step <= len(self.history):
            raise ApiError(422, "INVALID_STEP", reason="step_out_of_range", history_len=len(self.history))
        return replace(self, step=step, jump=self.jump.spent())


def checked_action(state: State, kind: Any, positions: Any) -> int:
    """Return the id of an action of the API.

    Raises:
        ApiError: the rules refuse it. Budgets are checked first, then the number of cards, then their places.
    """
    if state.is_terminal:
        raise ApiError(409, "GAME_ENDED", reason="no_plays_remaining")
    if kind not in (PLAY, DISCARD):
        raise invalid_action("unknown_action_type")
    if not isinstance(positions, list):
        raise invalid_action("selected_indices_not_a_list")
    if kind == PLAY and len(positions) != PLAY_SIZE:
        raise invalid_action("play_requires_five")
    if kind == DISCARD:
        left = int(state.record.discards_left)
        if left == 0:
            raise invalid_action("no_discards_remaining")
        if not positions:
            raise invalid_action("discard_requires_at_least_one")
        if len(positions) > min(HAND_SIZE, left):
            raise invalid_action("discard_budget_exceeded")
    if any(type(position) is not int for position in positions):
        raise invalid_action("index_not_an_integer")
    if any(not 0 <= position < HAND_SIZE for position in positions):
        raise invalid_action("index_out_of_range")
    if len(set(positions)) < len(positions):
        raise invalid_action("duplicate_index")
    return (_PLAYS if kind == PLAY else _DISCARDS)[tuple(sorted(positions))]


def state_json(state: State) -> dict[str, Any]:
    """Return what the player may know of a position. The cards to come are sorted; their order is never told."""
    record = state.record
    left = int(record.left)
    to_come = [text for text in CARD_ORDER if left >> _ID_OF[text] & 1]
    return {
        "hand": hand_texts(state),
        "p_remaining": int(record.rules.plays) - int(record.num_played),
        "d_remaining": int(record.discards_left),
        "score_total": int(record.score),
        "deck_remaining_count": len(to_come),
        "deck_remaining_counts": dict.fromkeys(to_come, 1),
        "deck_remaining": to_come,
    }


def hand_texts(state: State) -> list[str]:
    """Return the cards in hand from left to right."""
    return [CARDS[card] for card in state.record.hand.tolist()]
