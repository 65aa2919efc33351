"""Settings of a training run: one validated dataclass, read from YAML and from `NAME=VALUE` texts."""

import dataclasses
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from cardenvs.core.errors import OptionError
from cardenvs.core.registry import get_game
from cardenvs.core.text import did_you_mean, read_yaml

_HERE = Path(__file__).resolve().parent
_IN_WHEEL, _IN_CHECKOUT = _HERE / "configs", _HERE.parents[1] / "configs"
CONFIG_FOLDER = _IN_WHEEL if _IN_WHEEL.is_dir() else _IN_CHECKOUT


def setting(
    default: Any, doc: str, *, low: float = -math.inf, high: float = math.inf, choices: tuple[str, ...] = ()
) -> Any:
    """Declare one setting: its default, what it does, and what it may be. The type is that of the annotation."""
    return dataclasses.field(default=default, metadata={"doc": doc, "low": low, "high": high, "choices": choices})


@dataclasses.dataclass(frozen=True)
class Config:
    """Every setting of `cardenvs.training.ppo`. `cardenvs train --settings` prints them."""

    game: str = setting("", "game these settings are for; empty: any")
    options: dict = dataclasses.field(default_factory=dict, metadata={"doc": "options of the game"})
    seed: int = setting(1, "of everything", low=0, high=2**62)
    total_steps: int = setting(5_000_000, "steps to train for (decisions, all players together)", low=1)

    num_envs: int = setting(1024, "games side by side", low=1, high=1 << 20)
    rollout_steps: int = setting(32, "steps of each game between two updates", low=1, high=1 << 16)
    hidden: tuple[int, ...] = setting((256, 256), "width of each hidden layer", low=1, high=1 << 16)
    activation: str = setting("relu", "of the hidden layers", choices=("relu", "tanh", "silu"))

    epochs: int = setting(2, "passes over the data of a rollout", low=1)
    minibatches: int = setting(8, "steps of the optimiser in each pass", low=1)
    lr: float = setting(5e-4, "learning rate of Adam at the start", low=0)
    lr_end: float = setting(0.0, "learning rate at the end", low=0)
    lr_schedule: str = setting("linear", "way from lr to lr_end", choices=("linear", "cosine", "constant"))
    gamma: float = setting(1.0, "discount from one turn of a player to its next", low=0, high=1)
    gae_lambda: float = setting(0.95, "of generalised advantage estimation", low=0, high=1)
    clip: float = setting(0.2, "how far the ratio of probabilities may leave 1", low=0)
    value_clip: float = setting(
        0.0, "how far a value may move in one update, in scaled reward; 0: as far as it likes", low=0
    )
    value_coef: float = setting(0.5, "weight of the value loss", low=0)
    entropy: float = setting(0.02, "weight of the entropy bonus at the start", low=0)
    entropy_end: float = setting(0.002, "the same at the end, linear between", low=0)
    max_grad_norm: float = setting(0.5, "gradients are scaled down to this norm", low=0)
    target_kl: float = setting(0.0, "end an update once the policy has moved so far; 0: never", low=0)
    normalise_advantages: bool = setting(True, "shift and scale advantages to mean 0 and deviation 1 in each minibatch")
    reward_scale: float = setting(1.0, "rewards are multiplied by this, so that returns are about 1", low=0)

    pool_share: float = setting(0.2, "share of the games in which one player learns against a past self", low=0, high=1)
    pool_size: int = setting(8, "past selves kept", low=1, high=1 << 10)
    pool_interval: int = setting(10, "updates between two past selves", low=1)

    eval_interval: int = setting(10, "updates between two evaluations; 0: only at the end", low=0)
    eval_deals: int = setting(256, "duplicate deals of an evaluation", low=2)
    final_deals: int = setting(1000, "duplicate deals of the evaluation at the end; 0: none", low=0)
    eval_opponents: tuple[str, ...] = setting(
        ("random", "heuristic"), "policies to play; those the game lacks are left out"
    )
    eval_sample: bool = setting(False, "evaluate actions drawn from the policy, not the most likely ones")
    checkpoint_interval: float = setting(30.0, "seconds between two checkpoints", low=0)

    def __post_init__(self) -> None:
        """Check every value and give it its type."""
        for field in dataclasses.fields(self):
            object.__setattr__(self, field.name, _checked(field, getattr(self, field.name)))

    @classmethod
    def make(cls, values: dict[str, Any], where: str = "settings") -> Self:
        """A Config from values by name.

        Args:
            values: by name; texts are read as the setting's type.
            where: they come from, for messages.

        Raises:
            OptionError: an unknown name (the nearest is suggested) or a value that cannot be used.
        """
        known = {field.name for field in dataclasses.fields(cls)}
        for name in values:
            if name not in known:
                hint = did_you_mean(name, known)
                raise OptionError(f"{where}: unknown setting {name!r}; {hint}settings are: {', '.join(sorted(known))}")
        try:
            return cls(**values)
        except OptionError as error:
            raise OptionError(f"{where}: {error}") from None

    def changed(self, values: dict[str, Any], where: str = "--set") -> Self:
        """This config with some settings changed; raises as `make` does."""
        return self.make({**self.as_dict(), **values}, where)

    def as_dict(self) -> dict[str, Any]:
        """All settings by name, as JSON values."""
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


def read_config(path: str | Path) -> Config:
    """The Config in a YAML file.

    Raises:
        OptionError: the file cannot be read, or says what Config.make refuses.
    """
    values = read_yaml(path, "train", OptionError)
    if not isinstance(values, dict | None):
        raise OptionError(f"{path} must be a mapping of settings, a line `name: value` each")
    return Config.make(values or {}, str(path))


def config_for(game: str) -> Config:
    """The tuned config of a game in `configs/`, or the defaults where there is none."""
    for path in sorted(CONFIG_FOLDER.glob("*.yaml")):
        config = read_config(path)
        if config.game == game:
            return config
    return Config()


def chosen_config(game: str | None, file: str | None, changes: Sequence[str], options: Sequence[str]) -> Config:
    """The settings that the flags of a command ask for.

    Args:
        game: name of a game; None takes that of the file.
        file: YAML settings; None takes those of `config_for`.
        changes, options: NAME=VALUE texts of settings and of options of the game.

    Raises:
        CardenvsError: no such game, a file that cannot be read, or a setting or option that is not valid.
    """
    config = read_config(file) if file else config_for(get_game(game).name if game else "")
    if options:
        parsed = get_game(game or config.game).options.parse(parse_settings(options, "--option"))
        config = config.changed({"options": parsed.changed()}, "--option")
    return config.changed(parse_settings(changes)) if changes else config


def parse_settings(texts: Sequence[str], what: str = "--set") -> dict[str, str]:
    """Texts by name from `NAME=VALUE` texts.

    Raises:
        OptionError: a text without an equals sign.
    """
    values = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise OptionError(f"{what} takes NAME=VALUE, as in {what} lr=3e-4; got {text!r}")
        values[name.strip()] = value.strip()
    return values


def settings_text() -> str:
    """A line for each setting: name, default, meaning."""
    lines = []
    for field in dataclasses.fields(Config):
        default = field.default if field.default is not dataclasses.MISSING else {}
        shown = ",".join(map(str, default)) if isinstance(default, tuple) else str(default)
        choices = field.metadata.get("choices")
        lines.append(f"{field.name:<22} {shown:<18} {field.metadata['doc']}{_of(choices)}")
    return "\n".join(lines)


def _of(choices: tuple[str, ...] | None) -> str:
    return f" ({', '.join(choices)})" if choices else ""


def _checked(field: dataclasses.Field, value: Any) -> Any:
    """`value` as the plain Python value of a setting."""
    if field.type is dict:
        if not isinstance(value, dict):
            raise OptionError(f"{field.name} takes a mapping, as in {field.name}: {{knock_max: 5}}; got {value!r}")
        return dict(value)
    if field.type in (tuple[int, ...], tuple[str, ...]):
        entries = value.replace(",", " ").split() if isinstance(value, str) else value
        if not isinstance(entries, list | tuple) or not entries:
            raise OptionError(f"{field.name} takes a list of at least one entry; got {value!r}")
        return tuple(_checked_one(field, int if field.type == tuple[int, ...] else str, entry) for entry in entries)
    return _checked_one(field, field.type, value)


def _checked_one(field: dataclasses.Field, kind: Any, value: Any) -> Any:
    meta = field.metadata
    converted = _converted(kind, value)
    if converted is None:
        what = {bool: "true or false", int: "an integer", float: "a number", str: "a text"}[kind]
        raise OptionError(f"{field.name} takes {what}; got {value!r}")
    if meta["choices"] and converted not in meta["choices"]:
        raise OptionError(f"{field.name} takes one of {', '.join(meta['choices'])}; got {value!r}")
    if kind in (int, float) and not meta["low"] <= converted <= meta["high"]:
        bounds = [f"at least {meta['low']:g}"] * (meta["low"] > -math.inf)
        bounds += [f"at most {meta['high']:g}"] * (meta["high"] < math.inf)
        raise OptionError(f"{field.name} takes a number of {' and '.join(bounds)}; got {value!r}")
    return converted


def _converted(kind: type, value: Any) -> Any:
    """`value` as bool, int, float or str, or None where it is nothing of the kind. YAML takes 3e-4 for a text."""
    if kind is str:
        return value if isinstance(value, str) else None
    if kind is bool:
        return value if isinstance(value, bool) else {"true": True, "false": False}.get(str(value).lower())
    if isinstance(value, str):
        try:
            value = float(value.replace("_", ""))
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    if kind is int:
        return int(value) if value == int(value) else None
    return float(value)
