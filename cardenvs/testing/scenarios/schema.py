"""The form of a scenario file. docs/scenarios.md shows it by example."""

from typing import Annotated, Any, Self

from cardenvs.core.errors import require
from cardenvs.core.text import LONGEST_NAME
from cardenvs.core.validation import setting

require("pydantic", "arena")
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator  # noqa: E402


def _quoted(value: Any) -> Any:
    """Reject what YAML does not read as the text that its author meant."""
    if isinstance(value, bool | float) or value is None:
        raise ValueError(f"YAML reads this as {value!r}; put the text in quotes")
    return value


def _text(value: Any) -> Any:
    if isinstance(value, int) and not isinstance(value, bool):
        raise ValueError(f"YAML reads this as the number {value}; put the text in quotes")
    return _quoted(value)


def _as_list(value: Any) -> Any:
    return value if isinstance(value, list) else [value]


def _joined(value: Any) -> Any:
    """Return a deck as one text; it may be a list of texts such as hands."""
    if not isinstance(value, list):
        return value
    if not all(isinstance(_text(part), str) for part in value):
        raise ValueError("a deck is a text or a list of texts")
    return " ".join(value)


def _condition(value: Any) -> Any:
    return {"over": True} if value == "over" else value


Text = Annotated[str, BeforeValidator(_text)]
Texts = Annotated[list[Text], BeforeValidator(_as_list)]
Seed = Annotated[int, Field(ge=0, le=2**63 - 1)]
ActionName = Annotated[str | int, BeforeValidator(_quoted)]  # a label, or an id
Deck = Annotated[Text, BeforeValidator(_joined)]
Place = Text  # a pile or counter, as in "deck" or "hand/0"


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class Seen(_Section):
    """What a viewer must know."""

    table: dict[Place, Any] = setting({}, "contents of piles and counters")
    events: Texts = setting([], "texts that the viewer's recap contains")
    no_events: Texts = setting([], "texts that it does not contain")


class Expect(_Section):
    """What must hold in a position. Only the settings that are given are checked."""

    player: int = setting(0, "the player to act")
    phase: Text = setting("", "the phase of play")
    over: bool = setting(False, "whether the game is over")
    ply: int = setting(0, "actions since the deal")
    returns: list[float] = setting([], "each player's total reward")
    rewards: list[float] = setting([], "each player's reward from the last action")
    winner: Annotated[list[int], BeforeValidator(_as_list)] = setting([], "who has won the game")
    active: list[bool] = setting([], "whether each player is still in the game")
    legal: Texts = setting([], "labels of all legal actions, in any order")
    legal_includes: Texts = setting([], "labels of some of them; * stands for any text")
    legal_excludes: Texts = setting([], "labels that are not among them; * stands for any text")
    num_legal: int = setting(0, "number of legal actions")
    illegal: dict[ActionName, Text] = setting({}, "illegal actions, and a part of the reason")
    table: dict[Place, Any] = setting({}, "contents of piles and counters, all cards face up")
    events: Texts = setting([], "texts that the recap of all events contains")
    no_events: Texts = setting([], "texts that it does not contain")
    facts: dict[int, dict[str, Any]] = setting({}, "some of each player's facts")
    seen_by: dict[int | str, Seen] = setting({}, "what a player or `spectator` knows")


class Auto(_Section):
    """Automatic play until a condition holds."""

    policy: Text | None = setting(None, "random, or a policy of the game")
    prefer: Texts = setting([], "labels, best first; the first legal one is played. * is any text")
    until: Annotated[Expect, BeforeValidator(_condition)] = setting(
        Expect(over=True), "`over`, or what must hold, as in `expect`"
    )
    at_most: int = setting(1000, "actions after which the step fails", ge=1, le=100_000)
    seed: Seed = setting(0, "of the policy's random choices")

    @model_validator(mode="after")
    def _one_way_to_choose(self) -> Self:
        if (self.policy is None) == (not self.prefer):
            raise ValueError("give either `policy` or `prefer`")
        return self


class Step(_Section):
    """Some actions, then what must hold."""

    do: Annotated[list[ActionName], BeforeValidator(_as_list)] = setting(
        [], "actions to play, by label (or by id, as a number)"
    )
    auto: Auto | None = setting(None, "automatic play")
    forfeit: int | None = setting(None, "the player to act, who leaves the game", ge=0)
    expect: Expect = setting(Expect(), "what must hold then")

    @model_validator(mode="after")
    def _one_thing_to_do(self) -> Self:
        given = [name for name in ("do", "auto", "forfeit") if name in self.model_fields_set]
        if len(given) > 1:
            raise ValueError(f"a step has one of do, auto and forfeit; this has {' and '.join(given)}")
        if not self.model_fields_set:
            raise ValueError("a step needs do, auto, forfeit or expect")
        return self


class ScenarioSection(_Section):
    """One scenario."""

    name: Annotated[Text, Field(min_length=1, max_length=2 * LONGEST_NAME)] = Field(description="what it shows")
    options: dict[str, Any] = setting({}, "options of the game, added to those of the file")
    seed: Seed = setting(0, "of all chance that `deck` leaves open")
    deck: Deck | None = setting(None, "cards in dealing order: a text, or a list of texts such as hands")
    steps: list[Step] = Field(min_length=1, description="what is played, and what must hold")


class ScenarioFile(_Section):
    """The file."""

    game: Text = Field(description="name of a game")
    options: dict[str, Any] = setting({}, "options of the game, for all scenarios")
    deck: Deck | None = setting(None, "the deck of scenarios that give none")
    scenarios: list[ScenarioSection] = Field(min_length=1, description="the scenarios, with names of their own")
