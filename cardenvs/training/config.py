"""Settings of a training run: one pydantic model, read from YAML and from `NAME=VALUE` texts."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_args, get_origin

from cardenvs.core.errors import OptionError, require
from cardenvs.core.game import Game
from cardenvs.core.registry import get_game
from cardenvs.core.text import read_yaml
from cardenvs.core.validation import validation_text

require("pydantic", "train")
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator  # noqa: E402

_HERE = Path(__file__).resolve().parent
_IN_WHEEL, _IN_CHECKOUT = _HERE / "configs", _HERE.parents[1] / "configs"
CONFIG_FOLDER = _IN_WHEEL if _IN_WHEEL.is_dir() else _IN_CHECKOUT


def _number(value: Any) -> Any:
    """`value` for pydantic, which alone would take true for 1 and refuse 2e6 as an integer."""
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
_MOST = 1 << 62  # what torch and NumPy count with
_MOST_DEALS = 1 << 22
Positive = Annotated[Int, Field(ge=1, le=_MOST)]
NonNegative = Annotated[Float, Field(ge=0, le=1e30)]  # torch counts in float32
Share = Annotated[Float, Field(ge=0, le=1)]
Width = Annotated[Int, Field(ge=1, le=1 << 16)]


_NEEDS_A_POLICY = {
    "policy_loss": "clip", "magnet": 0.0, "magnet_end": 0.0, "magnet_decay": 0.0, "teacher": "", "eval_sample": False,
    "merge_turns": False, "exploiter_share": 0.0,
}  # fmt: skip


NETWORK_SETTINGS = ("hidden", "activation", "action_embedding", "action_head", "action_features")


class Config(BaseModel):
    """Every setting of `cardenvs.training.ppo`. `cardenvs train --settings` lists them.

    Raises:
        pydantic.ValidationError: an unknown setting or a value out of range; `make` raises OptionError instead.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    game: str = Field(default="", description="game these settings are for; empty: any")
    options: dict[str, Any] = Field(default={}, description="options of the game")
    seed: Int = Field(default=1, ge=0, le=2**62, description="of all randomness")
    method: Literal["ppo", "dmc"] = Field(
        default="ppo", description="proximal policy optimisation, or deep Monte Carlo: values of actions"
    )
    total_steps: Positive = Field(default=5_000_000, description="steps to train for (decisions, all players together)")

    num_envs: Positive = Field(default=1024, le=1 << 20, description="games played in parallel")
    rollout_steps: Positive = Field(default=32, le=1 << 16, description="steps of each game between two updates")
    hidden: Annotated[tuple[Width, ...], BeforeValidator(_entries)] = Field(
        default=(256, 256), min_length=1, description="width of each hidden layer"
    )
    activation: Literal["relu", "tanh", "silu"] = Field(default="relu", description="of the hidden layers")
    action_embedding: Annotated[Int, Field(ge=0, le=1 << 16)] = Field(
        default=0, description="size of the actions' embeddings; 0: a linear layer over all actions"
    )
    action_head: Literal["product", "layer"] = Field(
        default="product", description="with embeddings: their product with a query, or a hidden layer that sees both"
    )
    action_features: bool = Field(
        default=False, description="with embeddings: they depend on what the game says about each action, if it does"
    )

    precision: Literal["float32", "bfloat16"] = Field(
        default="float32", description="of the hidden layers in training; bfloat16 is fast where the chip has it"
    )
    overlap: bool = Field(
        default=False,
        description="for GPUs: play the next rollout while learning from this one, with a policy one update old",
    )

    epsilon: Share = Field(default=0.05, description="share of random actions in the play of dmc")
    epochs: Positive = Field(default=2, description="passes over the data of a rollout")
    minibatches: Positive = Field(default=8, description="optimiser steps in each pass")
    lr: NonNegative = Field(default=5e-4, description="initial learning rate of Adam")
    lr_end: NonNegative = Field(default=0.0, description="final learning rate")
    lr_schedule: Literal["linear", "cosine", "constant"] = Field(default="linear", description="from lr to lr_end")
    gamma: Share = Field(default=1.0, description="discount from one turn of a player to its next")
    gae_lambda: Share = Field(default=0.95, description="lambda of generalised advantage estimation")
    policy_loss: Literal["clip", "mirror"] = Field(
        default="clip", description="PPO's, or magnetic mirror descent: for equilibria, with a magnet"
    )
    mirror_step: Annotated[Float, Field(gt=0)] = Field(
        default=0.5, description="initial step of mirror descent: by advantages, in scaled reward, to log-probabilities"
    )
    mirror_step_end: Annotated[Float, Field(gt=0)] = Field(
        default=0.02, description="its final step, linear in between: short steps average over the noise of the play"
    )
    merge_turns: bool = Field(
        default=False, description="learn from turns with the same observation and action as one: fast in tiny games"
    )
    clip: NonNegative = Field(default=0.2, description="clipping range of the probability ratio around 1")
    value_clip: NonNegative = Field(
        default=0.0, description="clipping range of value updates, in scaled reward; 0: none"
    )
    value_coef: NonNegative = Field(default=0.5, description="weight of the value loss")
    entropy: NonNegative = Field(default=0.02, description="initial weight of the entropy bonus")
    entropy_end: NonNegative = Field(default=0.002, description="final weight of the entropy bonus, linear in between")
    magnet: NonNegative = Field(default=0.0, description="initial weight of the KL divergence from a reference policy")
    magnet_end: NonNegative = Field(default=0.0, description="its final weight, linear in between")
    magnet_interval: Annotated[Int, Field(ge=0, le=_MOST)] = Field(
        default=50, description="updates after which the reference becomes the policy; 0: it stays the first one"
    )
    magnet_decay: Annotated[Float, Field(ge=0, lt=1)] = Field(
        default=0.0,
        description="above 0: the reference is the moving average of the network, with this decay an update, and is "
        "what is evaluated and plays",
    )
    teacher: str = Field(default="", description="rule policy that the network imitates at first; empty: none")
    teacher_weight: NonNegative = Field(default=1.0, description="initial weight of imitating it")
    teacher_until: Share = Field(default=0.3, description="share of the run after which that weight is 0")
    max_grad_norm: NonNegative = Field(default=0.5, description="gradients are clipped to this norm")
    target_kl: NonNegative = Field(default=0.0, description="KL divergence that ends an update early; 0: never")
    normalise_advantages: bool = Field(default=True, description="normalise advantages in each minibatch")
    reward_scale: NonNegative = Field(
        default=0.0, description="factor of rewards; 0: the one that brings returns to a root mean square of 1"
    )

    pool_share: Share = Field(
        default=0.2, description="share of the games in which one player learns against a past self"
    )
    pool_size: Positive = Field(default=8, le=1 << 10, description="past selves kept")
    pool_interval: Positive = Field(default=10, description="updates between two past selves")
    pool_priority: Annotated[NonNegative, Field(le=20)] = Field(
        default=1.0, description="past selves are drawn by this power of how rarely they lose; 0: all alike"
    )
    exploiter_share: Share = Field(
        default=0.0, description="games of an exploiter, as a share of num_envs on top of them; 0: none"
    )
    exploiter_interval: Positive = Field(
        default=50, description="updates after which the exploiter joins the pool and begins again"
    )
    rule_share: Share = Field(
        default=0.0, description="share of the games in which one player learns against a rule policy"
    )
    rule_opponents: Annotated[tuple[str, ...], BeforeValidator(_entries)] = Field(
        default=(), description="these rule policies; none: all of the game"
    )

    opponent: str = Field(
        default="", description="frozen agent in all other seats; set by `cardenvs exploit`, not by hand"
    )

    eval_interval: Int = Field(
        default=10, ge=0, le=_MOST, description="updates between two evaluations; 0: only at the end"
    )
    eval_deals: Int = Field(default=256, ge=2, le=_MOST_DEALS, description="duplicate deals of an evaluation")
    final_deals: Annotated[Int, Field(ge=0, le=_MOST_DEALS), AfterValidator(_not_one)] = Field(
        default=1000, description="duplicate deals of the final evaluation; 0: none"
    )
    eval_opponents: Annotated[tuple[str, ...], BeforeValidator(_entries)] = Field(
        default=(), description="policies to play; none: random and all rule policies of the game"
    )
    eval_sample: bool = Field(
        default=False, description="evaluate actions sampled from the policy, not the most likely ones"
    )
    nash_conv: bool = Field(default=False, description="compute NashConv at evaluations; only for the smallest games")
    checkpoint_interval: NonNegative = Field(default=30.0, description="seconds between two checkpoints")

    @model_validator(mode="after")
    def _check_method(self) -> Self:
        """Refuse what deep Monte Carlo cannot do. Weights of losses that it has not mean nothing to it."""
        wrong = [name for name, off in _NEEDS_A_POLICY.items() if self.method == "dmc" and getattr(self, name) != off]
        if wrong:
            defaults = " ".join(f"--set {name}={str(_NEEDS_A_POLICY[name]).lower()}" for name in wrong)
            raise ValueError(f"method dmc has no policy for {', '.join(wrong)}; leave that out, or add {defaults}")
        return self

    @property
    def num_exploiter_games(self) -> int:
        """How many games the exploiter plays in."""
        return math.ceil(self.exploiter_share * self.num_envs)

    @classmethod
    def make(cls, values: dict[str, Any], where: str = "settings") -> Self:
        """Return a Config from values by name.

        Args:
            values: by name; texts are read as the setting's type.
            where: the values come from, for errors.

        Raises:
            OptionError: an unknown name (with the nearest known one) or an invalid value.
        """
        try:
            return cls.model_validate(values)
        except ValidationError as error:
            raise OptionError(validation_text(error, cls, where)) from None

    def changed(self, values: dict[str, Any], where: str = "--set") -> Self:
        """This config with some settings changed; raises as `make` does."""
        return self.make({**self.as_dict(), **values}, where)

    def network(self) -> dict[str, Any]:
        """Return the settings of the network by name, as `Network.for_game` takes them."""
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
        raise OptionError(f"{path} must be a mapping of settings, a line `name: value` each")
    return Config.make(values or {}, str(path))


def config_for(game: str) -> Config:
    """Return the tuned config of a game in `configs/`, or the defaults."""
    for path in sorted(CONFIG_FOLDER.glob("*.yaml")):
        config = read_config(path)
        if config.game == game:
            return config
    return Config()


def chosen_config(game: str | None, file: str | None, changes: Sequence[str], options: Sequence[str]) -> Config:
    """Return the settings that the flags of a command ask for.

    Args:
        game: name of a game; None takes that of the file.
        file: YAML settings; None takes those of `config_for`.
        changes, options: NAME=VALUE texts of settings and of options of the game, whose other options stay.

    Deep Monte Carlo on the settings of `config_for` leaves out those that need a policy.

    Raises:
        CardenvsError: no such game, a file that cannot be read, or a setting or option that is not valid.
    """
    config = read_config(file) if file else config_for(get_game(game).name if game else "")
    if options:
        config = config.changed({"options": _with_options(config, get_game(game or config.game), options)}, "--option")
    values = parse_settings(changes)
    if values.get("method") == "dmc" and not file:
        config = config.changed(_NEEDS_A_POLICY)
    return config.changed(values) if values else config


def _with_options(config: Config, game: Game, texts: Sequence[str]) -> dict[str, Any]:
    """Return the game's options in a config, some of them changed by NAME=VALUE texts."""
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


def settings_text() -> str:
    """Return a line for each setting: name, default, meaning."""
    lines = []
    for name, field in Config.model_fields.items():
        default = field.default
        shown = ",".join(map(str, default)) if isinstance(default, tuple) else str(default)
        choices = f" ({', '.join(get_args(field.annotation))})" if get_origin(field.annotation) is Literal else ""
        lines.append(f"{name:<22} {shown:<18} {field.description}{choices}")
    return "\n".join(lines)
