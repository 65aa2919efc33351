"""Measure what scores 0 and 100 of a protocol are: the results of random play and of the reference player.

    python -m baselines.anchors                     # all games, in cardenvs/arena/evaluation/protocol_1.toml
    python -m baselines.anchors --games uno_v0

Both play in the agent's place, four times as many deals as in the full size, with another seed. Where all players of a
game together always get the same, the reference player gets its share of that against itself, and nothing is measured.
A released protocol keeps its figures; run this for a new one.
"""

import argparse
import re
from collections.abc import Sequence
from pathlib import Path

from cardenvs.agents.seeds import MatchSeed
from cardenvs.arena.evaluation.protocol import NEWEST, Task, protocol_file, read_protocol
from cardenvs.arena.results.statistics import Estimate
from cardenvs.arena.run import run_match

_SEED = 20_261_128
_TIMES_FULL = 4


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=lambda text: text.split(","), default=[], metavar="A,B", help="default: all")
    parser.add_argument("--processes", "-p", type=int, default=1)
    given = parser.parse_args(arguments)
    path = protocol_file(NEWEST)
    for task in read_protocol().tasks:
        if given.games and task.game not in given.games:
            continue
        random, best = measured(task, "random", given.processes), reference_result(task, given.processes)
        print(f"{task.game}: random {_text(random)}, {task.reference} {_text(best)}", flush=True)
        write(path, task.game, random.mean, best.mean)


def reference_result(task: Task, processes: int = 1) -> Estimate:
    """Return the result of the reference player against itself, exactly where the sum of returns is fixed."""
    game, options = task.resolved()
    returns = game.returns(options)
    if returns.total is None or returns.cooperative or options.num_players == 1:
        return measured(task, task.reference, processes)
    share = returns.result_factor * returns.total / options.num_players
    return Estimate(share, share, share, 0)


def measured(task: Task, agent: str, processes: int = 1) -> Estimate:
    """Return the result of an agent in the place of the one that is evaluated."""
    match = task.match(agent, _TIMES_FULL * task.deals["full"], MatchSeed.of(_SEED), None)
    return run_match(match, processes=processes).standings[0].mean


def write(path: Path, game: str, random: float, best: float) -> None:
    """Write the two figures of a game into the file of a protocol."""
    head, found, rest = path.read_text(encoding="utf-8").partition(f"[games.{game}]\n")
    section, blank, after = rest.partition("\n\n")
    section = re.sub(r"(?m)^random = .*$", f"random = {random:.6g}", section)
    section = re.sub(r"(?m)^best = .*$", f"best = {best:.6g}", section)
    path.write_text(head + found + section + blank + after, encoding="utf-8")


def _text(estimate: Estimate) -> str:
    return f"{estimate.mean:.6g} ± {(estimate.high - estimate.low) / 2:.2g}"


if __name__ == "__main__":
    main()
