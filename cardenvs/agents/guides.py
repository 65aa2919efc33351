"""Networks that guide other agents: the parameter `network`, a file of `cardenvs train` or a policy of the zoo."""

from pathlib import Path
from typing import TYPE_CHECKING

from cardenvs.agents.checkpoint import load_network
from cardenvs.agents.parameters import file_fingerprint
from cardenvs.agents.zoo import parameters_of, policy_name, weights_file
from cardenvs.core.errors import AgentError
from cardenvs.core.game import Game
from cardenvs.core.options import Options

if TYPE_CHECKING:
    from cardenvs.agents.ppo import PPOAgent

_ZOO = "zoo:"


def parameter_of(parameter: str, argument: str) -> str:
    """Return the value of a parameter among those of an agent, or ""."""
    for part in argument.split(","):
        name, equals, value = part.partition("=")
        if equals and name.strip() == parameter:
            return value.strip()
    return ""


def load_guide(kind: str, network: str, game: Game, options: Options) -> "PPOAgent":
    """Return the agent of a network, named by its path or as zoo:GAME/NAME.

    Raises:
        AgentError: there is no such file or policy.
        MissingExtraError: torch is not installed.
        FormatError, OSError: as for `cardenvs.agents.ppo.load_agent`.
    """
    if network.startswith(_ZOO):
        name = policy_name(network.removeprefix(_ZOO))
        return load_network(weights_file(name), game, options, **parameters_of(name))
    return load_network(_file(kind, network), game, options)


def guide_fingerprint(kind: str, argument: str) -> str:
    """Return the fingerprint of an agent that may have a network: that of the file, or ""."""
    network = parameter_of("network", argument)
    if not network:
        return ""
    if network.startswith(_ZOO):
        return file_fingerprint(weights_file(policy_name(network.removeprefix(_ZOO))))
    return file_fingerprint(_file(kind, network))


def _file(kind: str, path: str) -> Path:
    if "\0" in path or not Path(path).is_file():
        raise AgentError(f"{kind}: there is no network {path!r}")
    return Path(path)
