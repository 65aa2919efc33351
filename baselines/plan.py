"""What is trained and played, from plan.yaml."""

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from cardenvs.core.errors import OptionError
from cardenvs.core.game import Game
from cardenvs.core.registry import get_game
from cardenvs.core.text import did_you_mean, read_yaml
from cardenvs.core.validation import validation_text

FILE = Path(__file__).with_name("plan.yaml")
SMALLER = ("steps", "response", "seeds", "agents", "deals")  # what `small` may change


class Beginning(BaseModel):
    """A run whose policy another run continues.

    Attributes:
        config: name of the file in configs/ with the settings.
        steps: decisions to train for.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    config: str = Field(pattern=r"^[a-z_]+\.yaml$")
    steps: int = Field(ge=1)


class Baseline(BaseModel):
    """One game of the plan.

    Attributes:
        options: of the game.
        steps: decisions to train for, or None: no policy is trained.
        config: name of the file in configs/ with the settings; empty: that of the game.
        begin: an earlier run whose policy this training continues, or None to start from random weights.
        seeds: runs of training, with the seed of the settings and those after it.
        response: decisions in which a response to the trained policy is trained, or None: none is.
        agents: specs, besides random and the game's own policies.
        deals: duplicate deals of the board.
        pairs: in partnership games, two of the trained policy against two of the default opponent, and nobody else.
        small: values of SMALLER for the small form, or None: it leaves the game out.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    options: dict[str, Any] = {}
    steps: int | None = Field(default=None, ge=1)
    config: str = Field(default="", pattern=r"^([a-z_]+\.yaml)?$")
    begin: Beginning | None = None
    response: int | None = Field(default=None, ge=1)
    seeds: int = Field(default=1, ge=1, le=100)
    agents: tuple[str, ...] = ()
    deals: int = Field(ge=2)
    pairs: bool = False
    small: dict[str, Any] | None = None


def game_of(name: str) -> Game:
    """Return the game of an entry: its name is that of the game, or GAME/POLICY for a further policy of a game.

    Raises:
        GameNotFoundError: the game is not installed.
    """
    return get_game(name.partition("/")[0])


def file_name(name: str) -> str:
    """Return the name of an entry's folder and files of results."""
    return name.replace("/", "-")


def read_plan(path: Path = FILE, small: bool = False, games: list[str] | None = None) -> dict[str, Baseline]:
    """Return the entries to work on, by name, in the order of the file.

    Args:
        path: of the file.
        small: take the small form of the games that have one, and no others.
        games: names, to take only these.

    Raises:
        OptionError: the file is wrong, names options that a game lacks, or lacks one of `games`.
        GameNotFoundError: it names a game that is not installed.
    """
    values = read_yaml(path, "train", OptionError)
    plan = {}
    for name, entry in (values or {}).items():
        game = game_of(name)
        found = _baseline(entry, f"{path}: {name}")
        game.make_options(**found.options)
        if not small:
            plan[name] = found
        elif found.small is not None:
            plan[name] = _baseline({**entry, **_checked_small(found.small, f"{path}: {name}")}, f"{path}: {name}.small")
    for name in games or ():
        if name not in plan:
            raise OptionError(f"{path} does not have {name}; {did_you_mean(name, plan)}it has {', '.join(plan)}")
    return {name: baseline for name, baseline in plan.items() if not games or name in games}


def _baseline(values: Any, where: str) -> Baseline:
    try:
        return Baseline.model_validate(values)
    except ValidationError as error:
        raise OptionError(validation_text(error, Baseline, where)) from None


def _checked_small(values: dict[str, Any], where: str) -> dict[str, Any]:
    for name in values:
        if name not in SMALLER:
            raise OptionError(f"{where}: small changes {', '.join(SMALLER)}; got {name}")
    return values
