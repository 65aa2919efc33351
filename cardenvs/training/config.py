"""Settings of a training run: pydantic models, read from YAML files and `NAME=VALUE` texts."""

import math
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_args, get_origin

from cardenvs.core.errors import OptionError, require
from cardenvs.core.game import Game
from cardenvs.core.registry import get_game
from cardenvs.core.text import read_yaml
from cardenvs.core.validation import setting, validation_text

require("pydantic", "train")
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator  # noqa: E402

_HERE = Path(__file__).resolve().parent
_IN_WHEEL, _IN_CHECKOUT = _HERE / "configs", _HERE.parents[1] / "configs"
CONFIG_FOLDER = _IN_WHEEL if _IN_WHEEL.is_dir() else _IN_CHECKOUT


def _number(value: Any) -> Any:
    """Prepare a number for pydantic, which would accept true as 1 and refuse 2e6 as an integer."""
    if isinstance(value, bool):
        raise ValueError(f"Input should be a number (got {value})")
    if isinstance(value, str) and "e" in value.lower():
        try:
            return float(value)
        except ValueError:
            return value
    return value


def _not_one(deals: int) -> int:
    if deals == 1:
        raise ValueError("one deal has no interval; give 0 or at least 2")
    return deals


def _entries(value: Any) -> Any:
    return value.replace(",", " ").split() if isinstance(value, str) else value


Int = Annotated[int, BeforeValidator(_number)]
Float = Annotated[float, BeforeValidator(_number)]
_MOST = 1 << 62  # torch and NumPy count in int64
_MOST_DEALS = 1 << 22
Positive = Annotated[Int, Field(ge=1, le=_MOST)]
NonNegative = Annotated[Float, Field(ge=0, le=1e30)]  # fits float32
Share = Annotated[Float, Field(ge=0, le=1)]
Width = Annotated[Int, Field(ge=1, le=1 << 16)]


_NEEDS_A_POLICY = {
    "policy_loss": "clip", "magnet": 0.0, "magnet_end": 0.0, "magnet_decay": 0.0, "teacher": "", "eval_sample": False,
    "eval_threshold": 0.0, "merge_turns": False, "exploiter_share": 0.0,
}  # fmt: skip


class _Settings(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class RunSettings(_Settings):
    """What to train, and for how long."""

    game: str = setting("", "game these settings are for; empty: any")
    options: dict[str, Any] = setting({}, "options of the game")
    seed: Int = setting(1, "seed of all randomness", ge=0, le=2**62)
    method: Literal["ppo", "dmc"] = setting(
        "ppo", "proximal policy optimisation, or deep Monte Carlo, which learns action values"
    )
    total_steps: Positive = setting(5_000_000, "steps to train for (decisions of all players)")
    checkpoint_interval: NonNegative = setting(30.0, "seconds between two checkpoints")


class NetworkSettings(_Settings):
    """The shape of the network."""

    hidden: Annotated[tuple[Width, ...], BeforeValidator(_entries)] = setting(
        (256, 256), "width of each hidden layer", min_length=1
    )
    activation: Literal["relu", "tanh", "silu"] = setting("relu", "activation function of the hidden layers")
    action_embedding: Annotated[Int, Field(ge=0, le=1 << 16)] = setting(
        0, "size of action embeddings; 0: a linear layer over all actions"
    )
    action_head: Literal["product", "layer", "features"] = setting(
        "product",
        "how embeddings become logits: product with a query, or a joint hidden layer; features: a joint hidden layer, "
        "and embeddings from action_features alone",
    )
    action_features: bool = setting(False, "compute embeddings from the action features of the game, if it has any")


class PlaySettings(_Settings):
    """How games are played for learning."""

    num_envs: Positive = setting(1024, "games played in parallel", le=1 << 20)
    rollout_steps: Positive = setting(32, "steps of each game between two updates", le=1 << 16)
    skip_forced: bool = setting(False, "play forced actions in the step before them, and do not learn from them")
    epsilon: Share = setting(0.05, "share of random actions in dmc")
    overlap: bool = setting(
        False, "for GPUs: play the next rollout while learning from this one, with a policy one update old"
    )


class LearningSettings(_Settings):
    """How an update learns from a rollout."""

    precision: Literal["float32", "bfloat16"] = setting(
        "float32", "dtype of the hidden layers in training; bfloat16 is fast on chips that have it"
    )
    epochs: Positive = setting(2, "passes over the data of a rollout")
    minibatches: Positive = setting(8, "optimiser steps in each pass")
    lr: NonNegative = setting(5e-4, "initial learning rate of Adam")
    lr_end: NonNegative = setting(0.0, "final learning rate")
    lr_schedule: Literal["linear", "cosine", "constant"] = setting("linear", "from lr to lr_end")
    gamma: Share = setting(1.0, "discount from one turn of a player to its next")
    gae_lambda: Share = setting(0.95, "lambda of generalised advantage estimation")
    clip: NonNegative = setting(0.2, "clipping range of the probability ratio around 1")
    value_clip: NonNegative = setting(0.0, "clipping range of value updates, in scaled reward; 0: no clipping")
    value_coef: NonNegative = setting(0.5, "weight of the value loss")
    entropy: NonNegative = setting(0.02, "initial weight of the entropy bonus")
    entropy_end: NonNegative = setting(0.002, "final weight of the entropy bonus, linear in between")
    max_grad_norm: NonNegative = setting(0.5, "gradients are clipped to this norm")
    target_kl: NonNegative = setting(0.0, "KL divergence that ends an update early; 0: never")
    normalise_advantages: bool = setting(True, "normalise advantages in each minibatch")
    reward_scale: NonNegative = setting(0.0, "factor of rewards; 0: scale returns to a root mean square of 1")
    merge_turns: bool = setting(False, "merge turns with the same observation and action: fast in tiny games")
    average_share: Share = setting(
        0.0,
        "average the weights over this last share of the run; the average is then evaluated and saved as the policy",
    )


class ReferenceSettings(_Settings):
    """Policies that the network is drawn towards: a magnet, for equilibria, and a teacher."""

    policy_loss: Literal["clip", "mirror"] = setting("clip", "PPO's loss, or magnetic mirror descent, for equilibria")
    mirror_step: Annotated[Float, Field(gt=0)] = setting(
        0.5, "initial step of mirror descent, from scaled advantages to log-probabilities"
    )
    mirror_step_end: Annotated[Float, Field(gt=0)] = setting(
        0.02, "final step, linear in between; short steps average out the noise of play"
    )
    magnet: NonNegative = setting(0.0, "initial weight of the KL divergence from a reference policy")
    magnet_end: NonNegative = setting(0.0, "final weight of that divergence, linear in between")
    magnet_interval: Annotated[Int, Field(ge=0, le=_MOST)] = setting(
        50, "updates after which the policy becomes the reference; 0: the first one stays"
    )
    magnet_decay: Annotated[Float, Field(ge=0, lt=1)] = setting(
        0.0,
        "above 0: the reference is a moving average of the network with this decay per update; the average "
        "is then evaluated and saved as the policy",
    )
    teacher: str = setting("", "rule policy that the network imitates at first; empty: none")
    teacher_weight: NonNegative = setting(1.0, "initial weight of imitating the teacher")
    teacher_until: Share = setting(0.3, "share of the run after which that weight is 0")


class OpponentSettings(_Settings):
    """Who plays against the learner besides the network itself."""

    pool_share: Share = setting(0.2, "share of the games in which one player learns against a past self")
    pool_size: Positive = setting(8, "past selves kept", le=1 << 10)
    pool_interval: Positive = setting(10, "updates between two past selves")
    pool_priority: Annotated[NonNegative, Field(le=20)] = setting(
        1.0, "draw past selves by this power of how rarely they lose; 0: uniformly"
    )
    exploiter_share: Share = setting(0.0, "additional games of an exploiter, as a share of num_envs; 0: no exploiter")
    exploiter_interval: Positive = setting(50, "updates after which the exploiter joins the pool and starts again")
    rule_share: Share = setting(0.0, "share of the games in which one player learns against a rule policy")
    rule_opponents: Annotated[tuple[str, ...], BeforeValidator(_entries)] = setting(
        (), "rule policies to learn against; empty: all of the game"
    )
    opponent: str = setting("", "frozen agent in all other seats; set by `cardenvs exploit`, not by hand")


class EvaluationSettings(_Settings):
    """How the policy is evaluated."""

    eval_interval: Int = setting(10, "updates between two evaluations; 0: only at the end", ge=0, le=_MOST)
    eval_deals: Int = setting(256, "duplicate deals of an evaluation", ge=2, le=_MOST_DEALS)
    final_deals: Annotated[Int, Field(ge=0, le=_MOST_DEALS), AfterValidator(_not_one)] = setting(
        1000, "duplicate deals of the final evaluation; 0: none"
    )
    eval_opponents: Annotated[tuple[str, ...], BeforeValidator(_entries)] = setting(
        (), "policies to play against; empty: random and all rule policies of the game"
    )
    eval_sample: bool = setting(False, "sample actions from the policy instead of taking the most likely ones")
    eval_threshold: Share = setting(0.0, "leave out actions with a smaller probability when sampling")
    nash_conv: bool = setting(False, "compute NashConv at evaluations; only for the smallest games")


_GROUPS = (
    RunSettings, NetworkSettings, PlaySettings, LearningSettings, ReferenceSettings, OpponentSettings,
    EvaluationSettings,
)  # fmt: skip
NETWORK_SETTINGS = tuple(NetworkSettings.model_fields)


class Config(
    EvaluationSettings, OpponentSettings, ReferenceSettings, LearningSettings, PlaySettings, NetworkSettings,
    RunSettings,
):  # fmt: skip
    """Every setting of `cardenvs.training.ppo`, as one flat list. `cardenvs train --settings` prints it.

    Raises:
        pydantic.ValidationError: an unknown setting or a value out of range; `make` raises OptionError instead.
    """

    @model_validator(mode="after")
    def _check_method(self) -> Self:
        """Refuse settings that deep Monte Carlo does not support. Loss weights that it does not use are ignored."""
        wrong = [name for name, off in _NEEDS_A_POLICY.items() if self.method == "dmc" and getattr(self, name) != off]
        if wrong:
            defaults = " ".join(f"--set {name}={str(_NEEDS_A_POLICY[name]).lower()}" for name in wrong)
            raise ValueError(f"method dmc has no policy for {', '.join(wrong)}; leave that out, or add {defaults}")
        return self

    @model_validator(mode="after")
    def _check_head(self) -> Self:
        if self.action_head == "features" and not (self.action_embedding and self.action_features):
            raise ValueError(
                "action_head features needs embeddings and features of actions; add --set action_embedding=128 and "
                "--set action_features=true"
            )
        return self

    @property
    def method_title(self) -> str:
        """The name of the method, for people."""
        return {"ppo": "PPO", "dmc": "deep Monte Carlo"}[self.method]

    @property
    def num_exploiter_games(self) -> int:
        """The number of games that the exploiter plays."""
        return math.ceil(self.exploiter_share * self.num_envs)

    @property
    def saves_an_average(self) -> bool:
        """Whether the policy that is saved may be an average of networks, so that the network is saved besides."""
        return self.magnet_decay > 0 or self.average_share > 0

    @classmethod
    def make(cls, values: dict[str, Any], where: str = "settings") -> Self:
        """Return a Config from values by name; texts are converted to the setting's type. `where` names the source in
        errors.

        Raises:
            OptionError: an unknown name (with the nearest known one) or an invalid value.
        """
        try:
            return cls.model_validate(values)
        except ValidationError as error:
            raise OptionError(validation_text(error, cls, where)) from None

    def changed(self, values: dict[str, Any], where: str = "--set") -> Self:
        """Return a copy with some settings changed; raises as `make` does."""
        return self.make({**self.as_dict(), **values}, where)

    def network(self) -> dict[str, Any]:
        """Return the NetworkSettings by name, as `Network.for_game` takes them."""
        return {name: getattr(self, name) for name in NETWORK_SETTINGS}

    def as_dict(self) -> dict[str, Any]:
        """Return all settings by name, as JSON values."""
        return self.model_dump(mode="json")


def read_config(path: str | Path) -> Config:
    """Return the Config in a YAML file.

    Raises:
        OptionError: the file cannot be read, or Config.make refuses its values.
        MissingExtraError: pyyaml is not installed.
    """
    values = read_yaml(path, "train", OptionError)
    if not isinstance(values, dict | None):
        raise OptionError(f"{path} must be a mapping of settings, one `name: value` per line")
    return Config.make(values or {}, str(path))


def config_for(game: str) -> Config:
    """Return the tuned config for a game from `configs/`, or the defaults."""
    for path in sorted(CONFIG_FOLDER.glob("*.yaml")):
        config = read_config(path)
        if config.game == game:
            return config
    return Config()


def chosen_config(game: str | None, file: str | None, changes: Sequence[str], options: Sequence[str]) -> Config:
    """Return the settings that the flags of a command ask for.

    Args:
        game: name of the game; None: the one in the file.
        file: YAML file of settings; None: the settings of `config_for`.
        changes: NAME=VALUE texts that change settings. With method=dmc and no file, settings that need a policy are
            reset first.
        options: NAME=VALUE texts that change options of the game.

    Raises:
        CardenvsError: an unknown game, an unreadable file, or an invalid setting or option.
    """
    name = get_game(game).name if game else ""
    config = read_config(file) if file else config_for(name)
    if name and config.game not in ("", name):
        raise OptionError(f"{file} has settings for {config.game}, not for {name}")
    if options:
        config = config.changed({"options": _with_options(config, get_game(game or config.game), options)}, "--option")
    values = parse_settings(changes)
    if values.get("method") == "dmc" and not file:
        config = config.changed(_NEEDS_A_POLICY)
    return config.changed(values) if values else config


def _with_options(config: Config, game: Game, texts: Sequence[str]) -> dict[str, Any]:
    """Return the options of the game in a config, changed by NAME=VALUE texts."""
    given = parse_settings(texts, "--option")
    parsed = game.options.parse(given).as_dict()
    return game.make_options(**{**config.options, **{name: parsed[name] for name in given}}).changed()


def parse_settings(texts: Sequence[str], what: str = "--set") -> dict[str, str]:
    """Return texts by name from `NAME=VALUE` texts.

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


def settings_text(width: int = 80) -> str:
    """Return all settings by group, as a table of name, default and meaning that is at most `width` columns wide."""
    return "\n".join(line for group in _GROUPS for line in _group_text(group, width))


def _group_text(group: type[BaseModel], width: int) -> Iterator[str]:
    yield textwrap.fill(f"{group.__doc__}", width)
    for name, field in group.model_fields.items():
        default = field.default
        shown = ",".join(map(str, default)) if isinstance(default, tuple) else str(default)
        choices = f" ({', '.join(get_args(field.annotation))})" if get_origin(field.annotation) is Literal else ""
        first, later = (f"  {left:<20} {right:<8} " for left, right in ((name, shown), ("", "")))
        yield textwrap.fill(f"{field.description}{choices}", width, initial_indent=first, subsequent_indent=later)
