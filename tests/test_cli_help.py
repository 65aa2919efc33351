"""The examples of every --help are right up to their options: commands, options and their values, games and agents."""

import inspect
import re
import shlex
from pathlib import Path
from typing import get_type_hints

import pytest
import typer
from typer.models import OptionInfo

from cardenvs.agents.kinds import find_kind
from cardenvs.agents.specs import split_specs
from cardenvs.cli import app
from cardenvs.cli.options import read_options
from cardenvs.core.registry import get_game
from cardenvs.training.cfr import METHODS
from cardenvs.training.cfr.run import MCCFR
from cardenvs.training.config import chosen_config
from cardenvs.training.seeds import parse_seeds

_EXAMPLE = re.compile(r"`((?:[A-Z_]+=\S+ )*(?:torchrun [^`]*-m cardenvs\.cli|cardenvs) [^`]+)`")
REPOSITORY = Path(__file__).parents[1]
_BY_ITSELF = {"bench"}  # passes its options on


def _commands(group, path=()):
    context = typer.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if hasattr(command, "list_commands"):
            yield from _commands(command, (*path, name))
        else:
            yield (*path, name), command


def _examples():
    for path, command in _commands(typer.main.get_command(app)):
        for line in (command.help or "").splitlines():
            for text in _EXAMPLE.findall(line) if line.lstrip().startswith(("- `", "Example: `")) else ():
                yield pytest.param(text, id=f"{' '.join(path)}: {text}")


def _parsed(words):
    """(command, values by parameter) of the words after `cardenvs`."""
    group = typer.main.get_command(app)
    while hasattr(group, "list_commands"):
        found = group.get_command(typer.Context(group), words[0])
        assert found is not None, f"there is no command {words[0]}"
        group, words = found, words[1:]
    context = group.make_context(group.name, list(words), resilient_parsing=False)
    return group.name, context.params


@pytest.fixture
def no_files(monkeypatch, tmp_path):
    """Files of examples need not be there, but for those that typer looks for."""
    monkeypatch.chdir(tmp_path)
    for path in ("match/timeline.jsonl", "matches/*", "site.phhs"):
        Path(path).parent.mkdir(exist_ok=True)
        Path(path).touch()
    for module in ("cardenvs.cli.files", "cardenvs.core.files"):
        monkeypatch.setattr(f"{module}.check_input", lambda path: None)


@pytest.mark.parametrize("text", list(_examples()))
@pytest.mark.usefixtures("no_files")
def test_an_example_is_right_up_to_its_options(text):
    words = shlex.split(re.split(r" (?:>|\||&&) ", text)[0])
    words = words[words.index("cardenvs") + 1 :]
    if words[0] in _BY_ITSELF:
        return
    _, values = _parsed(words)
    game = values.get("game")
    if isinstance(game, str) and words[0] != "new-game":
        found = get_game(game)
        if values.get("option"):
            read_options(found, values["option"], players=values.get("players"))
        for spec in _specs(values):
            assert find_kind(spec.partition(":")[0]) or spec in found.engine.policy_names(), spec
    if "changes" in values:
        file = values["config"] and str(REPOSITORY / values["config"])
        chosen_config(values["game"], file, values["changes"] or (), values.get("option") or ())
    if words[0] == "solve":
        assert values["method"] in (None, *METHODS, MCCFR)
    if words[0] == "train" and values["seeds"]:
        assert parse_seeds(values["seeds"])


def _specs(values):
    """The agents of an example; `clone` names them as a store does."""
    agents = values.get("agents")
    specs = split_specs(agents) if isinstance(agents, str) else list(agents or ())
    agent = values.get("agent")
    return [*specs, *([agent] if isinstance(agent, str) else ())]


def test_options_named_like_their_metavar_give_their_name():
    """Some versions of typer take the metavar for the name: `metavar="SEED"` of `seed` makes an option --SEED."""
    looked_at = 0
    for path, command in _commands(typer.main.get_command(app)):
        hints = get_type_hints(inspect.unwrap(command.callback), include_extras=True)
        for name, hint in hints.items():
            for option in (one for one in getattr(hint, "__metadata__", ()) if isinstance(one, OptionInfo)):
                looked_at += 1
                given = [one for one in (option.default, *(option.param_decls or ())) if str(one).startswith("-")]
                assert given or (option.metavar or "").lower() != name, (path, name)
    assert looked_at > 200
