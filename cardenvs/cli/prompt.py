"""`cardenvs prompt`."""

import dataclasses
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from cardenvs.cli.compiling import compile_for
from cardenvs.cli.options import parse_pairs, read_options
from cardenvs.cli.shared import MAX_SEED, GameName, OptionTexts
from cardenvs.core.errors import AgentError
from cardenvs.core.registry import get_game
from cardenvs.core.text import did_you_mean, printable

if TYPE_CHECKING:
    from cardenvs.core.state import State
    from cardenvs.llm.prompt import PromptSettings


def prompt(
    game: GameName,
    seed: Annotated[int, Option(min=0, max=MAX_SEED, help="Seed of the deal and of the earlier actions.")] = 0,
    ply: Annotated[int, Option(min=0, max=10**9, help="Number of actions before the decision.")] = 0,
    player: Annotated[int | None, Option(min=0, help="Fail unless this player is to act.")] = None,
    policy: Annotated[str, Option(help="Policy that plays the earlier actions.")] = "random",
    model: Annotated[str | None, Option(metavar="NAME", help="Use the settings of this model.")] = None,
    setting: Annotated[
        list[str] | None,
        Option(
            "--set",
            metavar="NAME=VALUE",
            help="A setting: candidates, rules, recap, memory, thinking or answer. May be repeated.",
        ),
    ] = None,
    option: OptionTexts = None,
    as_json: Annotated[bool, Option("--json", help="Print the messages as they are sent.")] = False,
) -> None:
    """Print exactly what a language model sees at one decision.

    Settings are candidates, rules, thinking (true or false), recap (a number) and answer (candidate, label or game).

    Examples:

    - `cardenvs prompt leduc_poker_v0 --seed 7 --ply 2`
    - `cardenvs prompt gin_rummy_v0 --ply 5 --set rules=false --set recap=5`
    - `cardenvs prompt texas_holdem_v0 --ply 4 --set answer=game --set candidates=false --json`
    """
    import json

    from cardenvs.agents.base import Turn
    from cardenvs.llm.prompt import write_prompt

    found = get_game(game)
    options = read_options(found, option)
    compile_for(found, options, [policy])
    state = found.new_state(seed=seed, **options.as_dict())
    _play_on(state, ply, policy, seed)
    if player is not None and player != state.current_player:
        raise AgentError(f"after {ply} actions player_{state.current_player} is to act, not player_{player}")
    written = write_prompt(Turn(state, seed), _settings(model, setting))
    if as_json:
        typer.echo(json.dumps(written.messages, indent=1, ensure_ascii=False))
        return
    for message in written.messages:
        typer.secho(f"--- {message['role']} ---", dim=True)
        typer.echo(printable(message["content"]))


def _play_on(state: "State", ply: int, policy: str, seed: int) -> None:
    from cardenvs.core.rng import derived_seed

    for k in range(ply):
        if state.is_terminal:
            break
        state.apply(state.policy_action(policy, derived_seed(seed, "prompt", k)))
    if state.is_terminal:
        raise AgentError(f"with seed {seed} the game is over after {state.ply} actions; choose a smaller --ply")


def _settings(model: str | None, texts: list[str] | None) -> "PromptSettings":
    from cardenvs.llm.prompt import PromptSettings

    if not model and not texts:
        return PromptSettings()
    from cardenvs.llm.config import LLMConfig

    changes: dict[str, Any] = parse_pairs(texts, "--set", "rules=false", AgentError)
    known = [field.name for field in dataclasses.fields(PromptSettings)]
    for name in changes:
        if name not in known:
            raise AgentError(
                f"--set {name}: no such setting of prompts; {did_you_mean(name, known)}they are {', '.join(known)}"
            )
    return LLMConfig.named(model or "first_candidate", **changes).prompt
