"""What must work in any installation, run by its own interpreter: `python tests/smoke.py`. No pytest, no extras.

The help of every command, an environment step by step, a batch, a match, and `cardenvs doctor`.
"""

import subprocess
import sys
from collections.abc import Iterator

import numpy as np
import typer
from pettingzoo.test import api_test
from typer.testing import CliRunner

import cardenvs
from cardenvs.cli import app

GAME = "kuhn_poker_v0"


def commands(command, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The arguments that reach each command and each group."""
    yield path
    context = command.context_class(command)
    for name in command.list_commands(context) if hasattr(command, "list_commands") else ():
        yield from commands(command.get_command(context, name), (*path, name))


def run(*arguments: str) -> str:
    done = subprocess.run([sys.executable, "-m", "cardenvs", *arguments], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"cardenvs {' '.join(arguments)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def main() -> None:
    paths = list(commands(typer.main.get_command(app)))
    for path in paths:  # in this process: each would start for a second or two in its own
        shown = CliRunner().invoke(app, [*path, "--help"])
        assert shown.exit_code == 0, (path, shown.output)
        assert "Usage" in shown.output, path
    assert "Usage" in run("--help")
    assert len(paths) > 20, paths
    api_test(cardenvs.make(GAME), num_cycles=100)
    batch = cardenvs.make_vec(GAME, num_envs=8)
    observation = batch.reset(seed=1)
    for _ in range(20):
        observation = batch.step(np.array([np.flatnonzero(mask)[-1] for mask in observation.action_mask]))
    assert observation.action_mask.any(axis=1).all()
    assert "random" in run("match", GAME, "--agents", "random,random", "--deals", "5", "--seed", "1")
    print(run("doctor"))
    print(f"{len(paths)} commands, an environment, a batch and a match work")


if __name__ == "__main__":
    main()
