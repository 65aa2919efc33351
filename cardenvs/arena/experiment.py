"""Experiments: several matches described in one YAML file.

    name: two games
    seed: 0
    deals: 500
    games:
      - my_game_v0
      - game: other_game_v0
        options: {num_players: 3}
        deals: 300
    agents:
      - random
      - {name: search, spec: "search:simulations=50"}
      - {name: mine, spec: "python:my_agents:make"}
    anchors: {random: 1000}

`read_experiment` reads and checks such a file; an `Experiment` holds one Match per game.
"""

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from cardenvs.agents.guarded.limits import AgentLimits
from cardenvs.agents.seeds import MatchSeed
from cardenvs.arena.match import MOST_DEALS, Match
from cardenvs.arena.plan import Stop
from cardenvs.arena.records import StoredExperiment
from cardenvs.arena.results.board import title_of
from cardenvs.arena.results.statistics import Intervals
from cardenvs.arena.run import BackendName, run
from cardenvs.arena.schedule import Kind, Schedule, Seating
from cardenvs.arena.store import Store
from cardenvs.core.errors import ArenaError, CardenvsError, require
from cardenvs.core.files import check_input
from cardenvs.core.registry import get_game
from cardenvs.core.text import LONGEST_NAME, did_you_mean, printable, read_yaml
from cardenvs.core.validation import setting, validation_text

require("pydantic", "arena")
from pydantic import (  # noqa: E402
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)


def _shown(text: str) -> str:
    if not text.isprintable():
        raise ValueError("contains control, bidirectional or invisible characters")
    return text


def _checked_seed(value: Any) -> Any:
    try:
        MatchSeed.of(value)
    except ArenaError as error:
        raise ValueError(str(error)) from None
    return value


Seed = Annotated[int | str, BeforeValidator(_checked_seed)]
Text = Annotated[str, Field(min_length=1, max_length=1000), AfterValidator(_shown)]
Name = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME), AfterValidator(_shown)]
Deals = Annotated[int, Field(ge=1, le=MOST_DEALS)]
Seconds = Annotated[float, Field(gt=0)]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=False, allow_inf_nan=False)


class GameSection(_Section):
    """A game: a mapping, or just its name."""

    game: Name = Field(description="name of a game")
    title: Name | None = setting(None, "title in reports; default: the game's, with its changed options")
    options: dict[str, Any] = setting({}, "options of the game, by name")
    deals: Deals | None = setting(None, "default: the experiment's")
    seed: Seed | None = setting(None, "default: the experiment's")
    agents: list[Name] | None = setting(None, "names of the agents that play this game; default: all")


class AgentSection(_Section):
    """An agent: a mapping, or just its spec."""

    spec: Text = Field(description="as for `cardenvs match`")
    name: Name | None = setting(None, "name in reports; default: the spec")


class ScheduleSection(_Section):
    """The schedule: a mapping, or just its kind."""

    kind: Kind = setting("round_robin", "round_robin, field (challengers against the others) or tables")
    seating: Seating = setting("auto", "all, rotations, or auto: all up to three players")
    challengers: list[Name] = setting([], "names of the challengers of a field")
    tables: int = setting(0, "number of tables, for tables; 0: one per agent", ge=0)


class StopSection(_Section):
    """When to stop a game early."""

    half_width: float = Field(gt=0, description="largest half-width of an interval, in the unit of results")
    of: Literal["means", "pairs"] = setting("pairs", "intervals of agents' means, or of advantages in pairs")
    min_deals: int = setting(100, "deals before the first check", ge=2)


class GuardSection(_Section):
    """What happens to agents that fail."""

    on_failure: Literal["forfeit", "forced_action", "stop"] = setting(
        "forfeit", "after the last failed try; stop: no guard, the first failure ends the run"
    )
    time_limit: Seconds | None = setting(30.0, "seconds per try of a decision; null: no limit")
    tries: int = setting(3, "tries per decision", ge=1)
    isolation: Literal["auto", "none", "thread", "process"] = setting("auto", "where agents run; see the agent proxy")
    memory_limit_mb: int | None = setting(4096, "memory of an agent's process; null: no limit", gt=0)


class BudgetSection(_Section):
    """Limits of a run."""

    games: int | None = setting(None, "most games of all matches, divided evenly; whole deals only", ge=1)
    seconds: Seconds | None = setting(None, "most seconds of one run; a later run continues")


class RatingsSection(_Section):
    """What ratings are based on."""

    by: Literal["results", "places"] = setting("results", "by how much agents are ahead, or only who is")
    games: int = setting(1, "for results: games per session; ratings predict who is ahead after one", ge=1)


class ExperimentFile(_Section):
    """An experiment file."""

    name: Name = Field(description="name of the experiment")
    description: Annotated[str, AfterValidator(printable)] = setting("", "text shown on the site")
    seed: Seed | None = setting(None, "seed of all cards and agents, or the SECRET-KEY a match printed; default: drawn")
    deals: Deals = setting(1000, "most duplicate deals of each game")
    games: list[GameSection] = Field(min_length=1, description="the games to play")
    agents: list[AgentSection] = Field(min_length=1, description="the agents that play")
    schedule: ScheduleSection = setting(ScheduleSection(), "who meets whom")
    stop: StopSection | None = setting(None, "end a game early; default: play all deals")
    guard: GuardSection = setting(GuardSection(), "what happens to agents that fail")
    budget: BudgetSection = setting(BudgetSection(), "limits of a run")
    ratings: RatingsSection = setting(RatingsSection(), "what ratings are based on")
    anchors: dict[Name, float] = setting({}, "fixed ratings, by agent name")
    intervals: Intervals = setting("bootstrap", "bootstrap or student, both over deals")

    @field_validator("games", mode="before")
    @classmethod
    def _games_by_name(cls, value: Any) -> Any:
        return _spelled_out(value, "game")

    @field_validator("agents", mode="before")
    @classmethod
    def _agents_by_spec(cls, value: Any) -> Any:
        return _spelled_out(value, "spec")

    @field_validator("schedule", mode="before")
    @classmethod
    def _schedule_by_kind(cls, value: Any) -> Any:
        return {"kind": value} if isinstance(value, str) else value

    @field_validator("ratings", mode="before")
    @classmethod
    def _ratings_by_kind(cls, value: Any) -> Any:
        return {"by": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _names_fit(self) -> Self:
        names = self.agent_names
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"agent names must differ; {', '.join(twice)} appears twice (give each agent a `name`)")
        where = [(f"games.{k}.agents", game.agents or []) for k, game in enumerate(self.games)]
        for place, given in [*where, ("schedule.challengers", self.schedule.challengers), ("anchors", self.anchors)]:
            for name in given:
                if name not in names:
                    hint = did_you_mean(name, names)
                    raise ValueError(f"{place}: no agent is named {name!r}; {hint}agents are: {', '.join(names)}")
        return self

    @property
    def agent_names(self) -> list[str]:
        """Names of the agents, in order."""
        return [agent.name or agent.spec for agent in self.agents]


def _spelled_out(value: Any, key: str) -> Any:
    if not isinstance(value, list):
        return value
    return [{key: item} if isinstance(item, str) else item for item in value]


@dataclass(frozen=True)
class Experiment:
    """Several matches that are reported together.

    Attributes:
        name: name in reports.
        matches: the matches to play.
        titles: a different title for each match.
        anchors: fixed ratings, by agent name.
        stop: when a match ends early, or None.
        seconds: most seconds of one run, or None.
        intervals: kind of intervals in reports.
        config: contents of the file, as JSON values.
    """

    name: str
    matches: tuple[Match, ...]
    titles: tuple[str, ...]
    anchors: dict[str, float]
    stop: Stop | None
    seconds: float | None
    intervals: Intervals
    config: dict[str, Any]

    @classmethod
    def of(cls, values: dict[str, Any], where: str = "experiment") -> Self:
        """Build an experiment from the contents of its file; `where` names the file in errors.

        Raises:
            ArenaError: a setting is missing, unknown or invalid; the message names it.
        """
        try:
            file = ExperimentFile.model_validate(values)
        except ValidationError as error:
            raise ArenaError(validation_text(error, ExperimentFile, where)) from None
        matches = []
        for number, section in enumerate(file.games):
            try:
                matches.append(_match(file, section))
            except CardenvsError as error:
                raise ArenaError(f"{where}: games.{number}: {error}") from None
        matches = _within(file.budget.games, matches, where)
        stop = None if file.stop is None else Stop(**file.stop.model_dump(), intervals=file.intervals)
        config = file.model_dump(mode="json", exclude_unset=True)
        return cls(
            file.name, tuple(matches), _titles(file, matches), dict(file.anchors), stop, file.budget.seconds,
            file.intervals, config,
        )  # fmt: skip

    @property
    def num_games(self) -> int:
        """Total number of games if no match ends early."""
        return sum(match.num_games for match in self.matches)

    @property
    def stored(self) -> StoredExperiment:
        """The experiment as a store keeps it."""
        matches = tuple((match.id, title) for match, title in zip(self.matches, self.titles, strict=True))
        return StoredExperiment(self.name, matches, self.anchors, self.config)

    def seeded(self, store: Store, resume: bool = False) -> Self:
        """Return the experiment with the seeds that `store` has for its matches; see Store.seeded."""
        return dataclasses.replace(self, matches=tuple(store.seeded(match, resume) for match in self.matches))

    def run(
        self,
        store: Store,
        *,
        resume: bool = False,
        processes: int = 1,
        batch: int = 64,
        backend: BackendName = "local",
        progress: Callable[[int, int], None] | None = None,
    ) -> bool:
        """Play the games missing from the store and return whether all are played; see cardenvs.arena.run.run.

        Seeds in the store replace seeds drawn for this experiment; see `seeded`.
        """
        seeded = self.seeded(store, resume)
        store.begin_experiment(seeded.stored)
        return run(
            seeded.matches, store, resume=resume, processes=processes, batch=batch, stop=self.stop,
            seconds=self.seconds, backend=backend, progress=progress,
        )  # fmt: skip


def read_experiment(path: str | Path) -> Experiment:
    """Read an experiment from a YAML file.

    Raises:
        FileError: the file does not exist or is not a regular file.
        ArenaError: it cannot be read, or a setting is missing, unknown or invalid.
        MissingExtraError: pyyaml is not installed.
    """
    check_input(path)
    values = read_yaml(path, "arena", ArenaError)
    if not isinstance(values, dict):
        raise ArenaError(f"{path} must be a mapping with lines `name: value`; see `cardenvs arena schema`")
    return Experiment.of(values, str(path))


def _match(file: ExperimentFile, section: GameSection) -> Match:
    game = get_game(section.game)
    options = game.make_options(**section.options)
    playing = [
        agent for agent, name in zip(file.agents, file.agent_names, strict=True)
        if section.agents is None or name in section.agents
    ]  # fmt: skip
    names = [agent.name or agent.spec for agent in playing]
    return Match.make(
        game,
        options,
        [agent.spec for agent in playing],
        section.deals or file.deals,
        file.seed if section.seed is None else section.seed,
        names=names,
        schedule=_schedule(file.schedule, names),
        guard=_guard(file.guard),
    )


def _schedule(section: ScheduleSection, names: list[str]) -> Schedule:
    if section.kind != "field" and section.challengers:
        raise ArenaError("challengers need a schedule of kind field")
    if section.kind != "tables" and section.tables:
        raise ArenaError("a number of tables needs a schedule of kind tables")
    challengers = tuple(names.index(name) for name in section.challengers if name in names)
    tables = section.tables or len(names) if section.kind == "tables" else 0
    return Schedule(section.kind, section.seating, challengers, tables)


def _guard(section: GuardSection) -> AgentLimits | None:
    return None if section.on_failure == "stop" else AgentLimits(**section.model_dump())


def _within(games: int | None, matches: list[Match], where: str) -> list[Match]:
    """Return the matches with their deals reduced to a budget of games."""
    if games is None:
        return matches
    share = games // len(matches)
    for match in matches:
        if share < len(match.lineups):
            raise ArenaError(
                f"{where}: budget.games: {games} games leave {share} for each of {len(matches)} matches, but one deal "
                f"of {match.game.name} takes {len(match.lineups)}"
            )
    return [match.changed(deals=min(match.deals, share // len(match.lineups))) for match in matches]


def _titles(file: ExperimentFile, matches: list[Match]) -> tuple[str, ...]:
    titles: list[str] = []
    for section, match in zip(file.games, matches, strict=True):
        title = section.title or title_of(match)
        same = sum(other == title or other.startswith(f"{title} #") for other in titles)
        titles.append(f"{title} #{same + 1}" if same else title)
    return tuple(titles)


_SECTIONS: dict[str, type[BaseModel]] = {
    "games": GameSection, "agents": AgentSection, "schedule": ScheduleSection, "stop": StopSection,
    "guard": GuardSection, "budget": BudgetSection, "ratings": RatingsSection,
}  # fmt: skip


def settings() -> list[tuple[str, str, str, str]]:
    """Return (name, type, default, description) of every setting of a file."""
    rows = []
    sections: list[tuple[str, type[BaseModel]]] = [("", ExperimentFile)]
    sections += [(f"{name}.", model) for name, model in _SECTIONS.items()]
    for prefix, model in sections:
        takes = model.model_json_schema()["properties"]
        for name, info in model.model_fields.items():
            default = "required" if info.is_required() else _default_text(info.default)
            rows.append((f"{prefix}{name}", _type_text(takes[name]), default, info.description or ""))
    return rows


def _default_text(value: Any) -> str:
    if isinstance(value, BaseModel):
        return "see below"
    return "none" if value is None or value in ({}, []) else str(value)


_WORDS = {"string": "text", "integer": "a whole number", "number": "a number", "null": "null", "object": "a mapping"}


def _type_text(schema: dict[str, Any]) -> str:
    """Return the type of a JSON schema in words."""
    if "enum" in schema:
        return ", ".join(schema["enum"])
    if "anyOf" in schema:
        return " or ".join(_type_text(part) for part in schema["anyOf"] if part.get("type") != "null")
    if schema.get("type") == "array":
        return "a list"
    return _WORDS.get(schema.get("type", ""), "a mapping, see below")
