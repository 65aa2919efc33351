"""Agents by name, as on a command line.

A spec is one of these:

    random                                      a legal action, uniformly
    heuristic                                   any name in game.policies
    search                                      flat Monte Carlo; see cardenvs.agents.search
    search:simulations=1000,playout=random      parameters: simulations, seconds, playout, depth
    ppo:PATH                                    a policy trained by `cardenvs train`, its likeliest action
    ppo:PATH,sample=true                        the same, drawing from the policy
    python:MODULE:FACTORY                       your own: FACTORY(game, options) returns an Agent
    llm:NAME                                    a language model of llm.yaml; see docs/llm.md
    llm:NAME,temperature=1                      the same with other settings
    process:COMMAND                             a program that speaks JSON lines; see cardenvs.agents.process

Agents of the kinds python, llm and process are *guests*: what they get must say nothing about the deal. `python:` and
`process:` agents run in processes of their own.

A name in a list of agents ends at a comma that no `name=value` follows.
"""

import hashlib
import importlib
import os
import re
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cardenvs.agents.base import Agent
from cardenvs.agents.policy import PolicyAgent
from cardenvs.agents.search import SearchAgent
from cardenvs.core.errors import AgentError, CardenvsError, require
from cardenvs.core.game import Game
from cardenvs.core.options import Options
from cardenvs.core.text import did_you_mean

GUESTS = ("python", "llm", "process")
_PARAMETER = re.compile(r"\s*[A-Za-z_]\w*=")


def _truth(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError(text)
    return text.lower() == "true"


_Reader = Callable[[str], Any]
_SEARCH_PARAMETERS: dict[str, _Reader] = {"simulations": int, "seconds": float, "playout": str, "depth": int}
_PPO_PARAMETERS: dict[str, _Reader] = {"sample": _truth}
_WHAT: dict[_Reader, str] = {int: "an integer", float: "a number", _truth: "true or false"}


def split_specs(text: str) -> list[str]:
    """The specs in a list separated by commas. A part that reads `name=value` belongs to the spec before it.

    Raises:
        AgentError: nothing is listed, or two commas stand together.
    """
    specs: list[str] = []
    for part in text.split(","):
        if specs and _PARAMETER.match(part):
            specs[-1] += f",{part.strip()}"
        else:
            specs.append(part.strip())
    if not all(specs):
        raise AgentError(f"a list of agents is separated by single commas, as in random,search; got {text!r}")
    return specs


def is_guest(spec: str) -> bool:
    """Whether a spec is of an agent that cardenvs does not bring along."""
    return spec.partition(":")[0] in GUESTS


def make_agent(spec: str, game: Game, options: Options) -> Agent:
    """The agent of a spec (see above). Its `name` is the spec. Close an agent with a process when it is done.

    Args:
        spec: as on the command line.
        game, options: what it is to play.

    Raises:
        AgentError: no such kind of agent, a wrong parameter, or something that is no agent.
        PolicyNotFoundError: the game has no such playout policy.
        MissingExtraError: it needs an optional dependency that is not installed.
    """
    if spec.partition(":")[0] == "python":
        from cardenvs.agents.process import ProcessAgent

        process = ProcessAgent.of_spec(spec, game, options)
        process.start()
        return process
    return load_agent(spec, game, options)


def load_agent(spec: str, game: Game, options: Options) -> Agent:
    """The same, but a `python:` agent is loaded into this process, where it can reach all that there is.

    Raises:
        AgentError, PolicyNotFoundError, MissingExtraError: as make_agent.
    """
    kind, _, argument = spec.partition(":")
    if kind in _KINDS:
        agent = _KINDS[kind](argument, game, options)
    elif kind in game.engine.policy_names():
        if argument:
            raise AgentError(f"{kind!r} takes no parameters; got {spec!r}")
        agent = PolicyAgent(game, kind)
    else:
        raise AgentError(_unknown(kind, game))
    agent.name = spec
    return agent


def agent_fingerprint(spec: str) -> str:
    """What a spec stands for beyond its text: the hash of the file it names or of a model's conditions, else nothing.

    Raises:
        AgentError: the file cannot be read.
    """
    kind, _, argument = spec.partition(":")
    if kind == "llm":
        return importlib.import_module("cardenvs.llm.agent").config_of(argument).fingerprint()
    if kind != "ppo":
        return ""
    path, _ = _checkpoint(argument)
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def agent_conditions(spec: str, game: Game, options: Options) -> dict[str, Any]:
    """All that may bear on an agent's results beyond its spec, as JSON values without secrets; {} for most agents.

    Raises:
        AgentError, MissingExtraError: the agent cannot be made.
    """
    if spec.partition(":")[0] != "llm":
        return {}
    return make_agent(spec, game, options).conditions()  # type: ignore[attr-defined]


def _unknown(kind: str, game: Game) -> str:
    known = [*game.engine.policy_names(), *_KINDS]
    hint = did_you_mean(kind, known)
    forms = ", ".join(
        [*game.engine.policy_names(), "search", "ppo:PATH", "llm:NAME", "python:MODULE:FACTORY", "process:COMMAND"]
    )
    return f"no agent {kind!r} for {game.name}; {hint}agents are: {forms}"


def _make_search(argument: str, game: Game, options: Options) -> Agent:
    return SearchAgent(game, **_parameters("search", argument, _SEARCH_PARAMETERS))


def _parameters(kind: str, text: str, known: dict[str, _Reader]) -> dict[str, Any]:
    """The values in "name=value,name=value", each read by `known[name]`."""
    values = {}
    for part in text.split(",") if text else ():
        name, equals, value = part.partition("=")
        name = name.strip()
        if not equals or name not in known:
            hint = did_you_mean(name, known)
            raise AgentError(f"{kind} has no parameter {part.strip()!r}; {hint}it takes {'=..., '.join(known)}=...")
        try:
            values[name] = known[name](value.strip())
        except ValueError:
            raise AgentError(f"{kind} takes {_WHAT[known[name]]} for {name}; got {value!r}") from None
    return values


def _make_ppo(argument: str, game: Game, options: Options) -> Agent:
    path, parameters = _checkpoint(argument)
    values = _parameters("ppo", parameters, _PPO_PARAMETERS)
    require("torch", "train")
    return importlib.import_module("cardenvs.agents.ppo").load_agent(path, game, options, **values)


def checkpoint_of(argument: str) -> str:
    """The path in what follows `ppo:`."""
    return _split_checkpoint(argument)[0]


def _split_checkpoint(argument: str) -> tuple[str, str]:
    name, *rest = argument.split(",")
    while rest and not _PARAMETER.match(rest[0]):  # a comma in the path
        name += f",{rest.pop(0)}"
    if not name:
        raise AgentError("ppo needs the path of a checkpoint, as in ppo:runs/latest.pt")
    return name, ",".join(rest)


def _checkpoint(argument: str) -> tuple[Path, str]:
    """The file of a ppo agent, and its parameters."""
    name, rest = _split_checkpoint(argument)
    path = Path(name)
    if not path.is_file():
        raise AgentError(f"ppo: there is no file {name!r}")
    return path, rest


def _make_python(argument: str, game: Game, options: Options) -> Agent:
    module_name, _, factory_name = argument.partition(":")
    if not module_name or not factory_name:
        raise AgentError(f"python agents are written python:MODULE:FACTORY; got 'python:{argument}'")
    if os.getcwd() not in sys.path and "" not in sys.path:
        sys.path.insert(0, os.getcwd())  # a console script does not look in the folder it is run from
    try:
        agent = getattr(importlib.import_module(module_name), factory_name)(game, options)
    except (ImportError, AttributeError, CardenvsError) as error:
        raise AgentError(f"cannot load agent 'python:{argument}': {error}") from error
    except (Exception, SystemExit) as error:  # whatever the module or its factory raises
        raise AgentError(f"cannot load agent 'python:{argument}': {raised_text(error)}") from error
    missing = [method for method in ("act", "reset") if not callable(getattr(agent, method, None))]
    if missing:
        raise AgentError(f"'python:{argument}' gave {agent!r}, which is no agent: it lacks {' and '.join(missing)}")
    return agent


def raised_text(error: BaseException) -> str:
    """What an agent raised, and where, in a line."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    return " ".join(f"{type(error).__name__}: {error}".split()) + where


def _make_process(argument: str, game: Game, options: Options) -> Agent:
    from cardenvs.agents.process import ProcessAgent

    return ProcessAgent.of_command(argument, game, options, name=f"process:{argument}")


def _make_llm(argument: str, game: Game, options: Options) -> Agent:
    return importlib.import_module("cardenvs.llm.agent").make(argument, game, options)


_KINDS: dict[str, Callable[[str, Game, Options], Agent]] = {
    "search": _make_search,
    "ppo": _make_ppo,
    "python": _make_python,
    "llm": _make_llm,
    "process": _make_process,
}
