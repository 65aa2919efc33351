"""Agents of the kind `zoo`: trained policies that ship with cardenvs, by name.

    zoo:GAME/NAME
    zoo:GAME        where the game has one policy

The folder `cardenvs/zoo` has two files for each policy: its weights, NAME.safetensors, and its card, NAME.md, which
says how it was trained, how strong it is, and what it does badly. A card may begin with parameters, as in a spec,
between two lines of dashes; the policy plays with them unless its spec says otherwise.
"""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

from cardenvs.agents.base import Agent
from cardenvs.agents.checkpoint import PARAMETERS, load_network
from cardenvs.agents.kinds import AgentKind
from cardenvs.agents.parameters import file_fingerprint, read_parameters
from cardenvs.agents.plain_policy import PlainPolicy
from cardenvs.core.errors import AgentError
from cardenvs.core.game import Game
from cardenvs.core.options import Options
from cardenvs.core.text import did_you_mean

FOLDER = Path(__file__).resolve().parents[1] / "zoo"
_SUFFIX = ".safetensors"
_DASHES = "---\n"


def zoo_names() -> list[str]:
    """Return the names of all policies, sorted, as in "some_game_v0/ppo"."""
    return sorted(path.relative_to(FOLDER).with_suffix("").as_posix() for path in FOLDER.glob(f"*/*{_SUFFIX}"))


def weights_file(name: str) -> Path:
    """Return the file with the weights of a policy. Raises AgentError if the zoo has no policy of that name."""
    names = zoo_names()
    if name not in names:  # names never become paths
        hint = did_you_mean(name, names)
        raise AgentError(f"the zoo has no policy {name!r}; {hint}`cardenvs zoo list` lists all")
    return FOLDER / f"{name}{_SUFFIX}"


def card(name: str) -> str:
    """Return the card of a policy, Markdown.

    Raises:
        AgentError: the zoo has no policy of that name.
    """
    return _card(name)[1]


def parameters_of(name: str) -> dict[str, Any]:
    """Return the parameters with which a policy plays unless its spec says otherwise.

    Raises:
        AgentError: the zoo has no policy of that name.
    """
    return read_parameters("zoo", _card(name)[0].strip(), PARAMETERS)


def _card(name: str) -> tuple[str, str]:
    """Return the parameters of a card and its text."""
    text = weights_file(name).with_suffix(".md").read_text(encoding="utf-8")
    if not text.startswith(_DASHES):
        return "", text
    parameters, _, text = text.removeprefix(_DASHES).partition(_DASHES)
    return parameters, text


def policy_name(name: str) -> str:
    """Return the name of a policy, which may be given as its game where that has one.

    Raises:
        AgentError: no name is given, or the game has several policies.
    """
    if not name:
        raise AgentError("zoo needs the name of a policy, as in zoo:GAME/ppo; `cardenvs zoo list` lists all")
    of_game = [one for one in zoo_names() if one.startswith(f"{name}/")]
    if len(of_game) > 1:
        raise AgentError(f"the zoo has {len(of_game)} policies of {name}: {', '.join(of_game)}; name one of them")
    return of_game[0] if of_game else name


def _split(argument: str) -> tuple[str, str]:
    name, _, parameters = argument.partition(",")
    return policy_name(name), parameters


def _make(argument: str, game: Game, options: Options) -> Agent:
    name, parameters = _split(argument)
    chosen = parameters_of(name) | read_parameters("zoo", parameters, PARAMETERS)
    if find_spec("torch") is None:
        return PlainPolicy(weights_file(name), game, options, **chosen)
    return load_network(weights_file(name), game, options, **chosen)


def _conditions(argument: str, game: Game, options: Options) -> dict[str, Any]:
    """Return the card's parameters that the spec leaves open: another card would give other results."""
    name, parameters = _split(argument)
    return {key: value for key, value in parameters_of(name).items() if f"{key}=" not in parameters}


def _fingerprint(argument: str) -> str:
    return file_fingerprint(weights_file(_split(argument)[0]))


ZOO = AgentKind(
    "zoo",
    "zoo:GAME/NAME",
    "a trained policy that ships with cardenvs, in the way of its card; `cardenvs zoo list` lists them, and "
    "`sample=true` or `sample=false` chooses between its probabilities and its most likely action; `threshold` is "
    "that of `ppo`",
    _make,
    _fingerprint,
    _conditions,
    guest=False,
    isolation="none",
)
