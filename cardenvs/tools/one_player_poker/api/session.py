"""A session of one-player poker: seed, actions, the player's step among them, and budgets for hints and jumps.

Everything else follows from the seed and the actions by the rules of the game.
"""

from dataclasses import dataclass, field, replace
from typing import Any

from cardenvs.core.registry import get_game
from cardenvs.core.state import State
from cardenvs.games.one_player_poker.rules import HAND_SIZE, NUM_PLAYS, NUM_TAKEN, PLAY_SIZE, TAKEN
from cardenvs.kits.cards import CARD_LABELS
from cardenvs.tools.one_player_poker.api.errors import ApiError, invalid_action

GAME = "one_player_poker_v0"
PLAY, DISCARD = "PLAY", "DISCARD"
PRACTICE, CHALLENGE = "practice", "challenge"
OFF, LIMITED, UNLIMITED = "off", "limited", "unlimited"

CARD_ORDER = [rank + suit for rank in "23456789TJQKA" for suit in "SHDC"]  # order of the cards to come in responses
CARDS = [label.upper() for label in CARD_LABELS]  # texts by card id
_ID_OF = {text: card for card, text in enumerate(CARDS)}
ACTIONS = [  # (type, positions in the hand) by action id
    (PLAY if action < NUM_PLAYS else DISCARD, tuple(TAKEN[action, :number].tolist()))
    for action, number in enumerate(NUM_TAKEN.tolist())
]
_ACTION_IDS = {taken: action for action, taken in enumerate(ACTIONS)}


@dataclass(frozen=True)
class Policy:
    """How many hints or jumps a player may use."""

    kind: str  # OFF, LIMITED or UNLIMITED
    total: int = 0  # budget of a LIMITED policy
    used: int = 0  # used part of the budget. Jumping back does not refund it.

    @property
    def allows(self) -> bool:
        """Whether one more is allowed."""
        return self.kind == UNLIMITED or (self.kind == LIMITED and self.used < self.total)

    def check(self, code: str) -> None:
        """Raise ApiError with `code` if no more are allowed."""
        if not self.allows:
            raise ApiError(403, code, reason="policy_off" if self.kind == OFF else "budget_exhausted")

    def spent(self) -> "Policy":
        """Return the policy after one use."""
        return replace(self, used=self.used + 1) if self.kind == LIMITED else self

    def fields(self, name: str) -> dict[str, Any]:
        """Return the fields of a response for "hint" or "jump"."""
        if self.kind != LIMITED:
            return {f"{name}_policy": self.kind}
        return {
            f"{name}_policy": self.kind,
            f"{name}_budget_total": self.total,
            f"{name}_budget_remaining": self.total - self.used,
        }


@dataclass(frozen=True)
class Session:
    """One game. Immutable: each change returns a new Session."""

    seed: int  # seed known to clients
    deck_seed: int  # seed of the deck; secret if the server has a key
    mode: str  # PRACTICE or CHALLENGE
    tier: str  # difficulty
    target: int | None  # points to reach in a challenge; None in practice
    # policies
    hint: Policy
    jump: Policy
    history: tuple[int, ...] = field(default=())  # ids of all actions, including those undone by a jump
    step: int = 0  # number of actions that count
    is_revealed: bool = False  # whether the trace of a challenge has been shown, after which no more jumps are allowed

    @property
    def is_secret(self) -> bool:
        """Whether this is a challenge whose deck does not follow from `seed`."""
        return self.mode == CHALLENGE and self.deck_seed != self.seed

    @property
    def may_jump(self) -> bool:
        """Whether a jump is possible now."""
        return self.jump.allows and not self.is_revealed

    def state(self) -> State:
        """Return the state after the actions that count."""
        state = get_game(GAME).new_state(seed=self.deck_seed)
        for action in self.history[: self.step]:
            state.apply(action)
        return state

    def at(self, step: int) -> "Session":
        """Return the session at another step without using budget."""
        return replace(self, step=step)

    def acted(self, action: int) -> "Session":
        """Return the session after a legal action, which replaces actions undone by a jump."""
        return replace(self, history=(*self.history[: self.step], action), step=self.step + 1)

    def jumped(self, step: int) -> "Session":
        """Return the session at another step, using one jump of the budget.

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
        ApiError: the action is illegal. Checks are in this order: budgets, number of cards, positions.
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
    return _ACTION_IDS[kind, tuple(sorted(positions))]


def state_json(state: State) -> dict[str, Any]:
    """Return what the player may know of a state. The cards to come are sorted, so their order is not revealed."""
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
