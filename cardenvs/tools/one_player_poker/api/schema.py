"""Requests and responses of the API, as its OpenAPI schema describes them."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictBool, StrictInt, StrictStr, WithJsonSchema

from cardenvs.games.one_player_poker.rules import HAND_SIZE
from cardenvs.tools.one_player_poker.api.pools import MOST_SEED

Mode = Literal["practice", "challenge"]
Allowance = Literal["off", "unlimited", "limited"]
Kind = Literal["PLAY", "DISCARD"]
Card = Annotated[str, Field(pattern="^[2-9TJQKA][SHDC]$", examples=["TD"])]
GameId = Annotated[StrictStr, Field(min_length=1, max_length=64, examples=["Zx8yV1m3T0aQ5w7uB2c4dA"])]


def _whole(value: Any) -> Any:
    """7.0 is an integer in JSON."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Seed = Annotated[StrictInt, Field(ge=0, le=MOST_SEED), BeforeValidator(_whole)]
Step = Annotated[StrictInt, BeforeValidator(_whole)]

# The rules decide on actions, in their own order and with their own reasons; here they are only described.
_KIND = {"type": "string", "enum": ["PLAY", "DISCARD"]}
_POSITION = {"type": "integer", "minimum": 0, "maximum": HAND_SIZE - 1}
_POSITIONS = {"type": "array", "items": _POSITION, "minItems": 1, "maxItems": HAND_SIZE, "uniqueItems": True}


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Wish(_Request):
    """What a client asks for."""

    enabled: StrictBool = True


class Action(_Request):
    """A play of exactly five cards of the hand, or a discard."""

    type: Annotated[Any, WithJsonSchema(_KIND)]
    selected_indices: Annotated[Any, WithJsonSchema(_POSITIONS)]


class StartRequest(_Request):
    """A new game. Without a seed, the server draws one from the pool of mode and tier."""

    mode: Mode
    difficulty_tier: Annotated[StrictStr, Field(max_length=40, examples=["medium"])] = "medium"
    seed: Seed | None = None
    hint_request: Wish = Wish()
    jump_request: Wish = Wish()


class StepRequest(_Request):
    """One action. With `step_index`, it is refused unless the game stands there."""

    game_id: GameId
    action: Action
    step_index: Step | None = None
    hint_request: Wish = Wish()


class JumpRequest(_Request):
    """Go to a step of the game's history."""

    game_id: GameId
    step_index: Step
    hint_request: Wish = Wish()


class HintRequest(_Request):
    """A hint for the position as it is."""

    game_id: GameId


class GameState(BaseModel):
    """What the player knows. The order of the cards to come is secret; they are listed in the order of the deck."""

    hand: Annotated[list[Card], Field(min_length=HAND_SIZE, max_length=HAND_SIZE)]
    p_remaining: Annotated[int, Field(ge=0)]
    d_remaining: Annotated[int, Field(ge=0)]
    score_total: Annotated[int, Field(ge=0)]
    deck_remaining_count: Annotated[int, Field(ge=0)]
    deck_remaining_counts: dict[str, Literal[1]]
    deck_remaining: list[Card]


class Event(BaseModel):
    """Something that happened."""

    type: Literal["info", "score", "discard", "result"]
    message_key: str
    params: dict[str, Any]


class ActionTaken(BaseModel):
    """An action."""

    type: Kind
    selected_indices: list[int]


class Hint(BaseModel):
    """What the rule agent would do, and why."""

    recommended_action: ActionTaken
    explanation_key: str
    params: dict[str, Any]


class GameResponse(BaseModel):
    """A game. Budgets are there only if the policy is "limited".

    The seed of a challenge with a secret deck is null until the game is over and no jump leads back.
    """

    game_id: str
    seed: int | None
    mode: Mode
    difficulty_tier: str
    hint_policy: Allowance
    hint_budget_total: int | None = None
    hint_budget_remaining: int | None = None
    jump_policy: Allowance
    jump_budget_total: int | None = None
    jump_budget_remaining: int | None = None
    target_score: int | None
    step_index: int
    history_len: int
    state: GameState
    events: list[Event] = []
    ai_hint: Hint | None = None


class TraceStep(Hint):
    """The hint of one step."""

    step_index: int


class TraceResponse(BaseModel):
    """What the policy would have done in every position that the player has seen."""

    game_id: str
    policy: str
    steps: list[TraceStep]


class ListedGame(BaseModel):
    """A game in a client's list."""

    game_id: str
    seed: int | None
    mode: Mode
    difficulty_tier: str
    target_score: int | None
    step_index: int
    history_len: int
    score_total: int
    is_over: bool
    begun: float


class ListResponse(BaseModel):
    """The client's games, newest first."""

    games: list[ListedGame]


class TierInfo(BaseModel):
    """A tier of difficulty."""

    difficulty_tier: str
    target_score: int


class TiersResponse(BaseModel):
    """The tiers, from easy to hard."""

    tiers: list[TierInfo]


class ErrorDetail(BaseModel):
    """What was wrong."""

    code: str
    message_key: str
    params: dict[str, Any]


class ErrorResponse(BaseModel):
    """An error. Nothing has changed."""

    error: ErrorDetail
