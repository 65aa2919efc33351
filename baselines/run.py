"""Train a policy for every game, and compare it with random, rule and search agents on the same deals.

What is finished stays in --work, so a run that was stopped goes on where it was. The results of a game are written to
--out/GAME.json, with a picture of the learning curves; `python -m docs.generate` makes docs/results.md from them.
"""

import datetime
import hashlib
import json
import os
import platform
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from baselines.plan import Baseline, file_name, game_of, read_plan
from cardenvs.agents.checkpoint_file import read_checkpoint, write_weights
from cardenvs.arena.experiment import Experiment
from cardenvs.arena.results.board import board_of
from cardenvs.arena.results.document import board_document, board_file
from cardenvs.arena.store import Store
from cardenvs.cli.arena import run_with_progress
from cardenvs.cli.exit_codes import EXIT_INTERRUPTED
from cardenvs.cli.shared import join_cluster
from cardenvs.cli.streams import clean_errors
from cardenvs.core.errors import OptionError
from cardenvs.core.files import write_whole
from cardenvs.core.game import Game
from cardenvs.core.registry import get_game
from cardenvs.training.config import CONFIG_FOLDER, Config, config_for, read_config
from cardenvs.training.curves import draw_curves
from cardenvs.training.exploit import exact_gain, measure, response_config, verdict
from cardenvs.training.folder import CHECKPOINT, EVALUATION_FILE, METRICS_FILE, RunFolder
from cardenvs.training.limits import Limits
from cardenvs.training.ppo import resume, train
from cardenvs.training.ppo.begin import shaped_like
from cardenvs.training.ppo.opponents import make_opponent
from cardenvs.training.remote import RemoteRun, train_on_ray
from cardenvs.training.seeds import has_begun

RESULTS = Path(__file__).resolve().parents[1] / "docs" / "results"
WORK, WORK_SMALL = Path("runs/baselines"), Path("runs/baselines-small")
OUT_SMALL = WORK_SMALL / "results"
TRAINED = "ppo"  # the name of the trained policy on a board
_SEED = 0  # of the deals of all boards
_POINTS = 60  # of a learning curve, at most
_LEAST_DEALS = 500  # for the gain of a response, whose games are quick
_MANY_DEALS = 100_000  # the same in games so small that it can be checked against the exact gain

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command(help=__doc__, epilog="Example: `python -m baselines.run --games gin_rummy_v0 --processes 2`")
def main(
    games: Annotated[str, typer.Option(help="Names, separated by commas; default: all of the plan.")] = "",
    small: Annotated[bool, typer.Option("--small", help="A short form of a few games, in minutes.")] = False,
    work: Annotated[
        Path | None, typer.Option(help=f"Folder of runs and stores; default: {WORK}, or {WORK_SMALL} with --small.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help=f"Folder of the results; default: docs/results, or {OUT_SMALL} with --small.")
    ] = None,
    processes: Annotated[int, typer.Option("--processes", "-p", min=1, help="Processes that play the boards.")] = 1,
    threads: Annotated[int, typer.Option(min=0, help="Threads of training; 0: one per core.")] = 0,
    ray: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT", help="Train and play on this Ray cluster, which has --work as a shared folder."
        ),
    ] = None,
) -> None:
    """Work through the plan."""
    with clean_errors():
        plan = read_plan(small=small, games=[name.strip() for name in games.split(",") if name.strip()])
        work = work or (WORK_SMALL if small else WORK)
        out = out or (OUT_SMALL if small else RESULTS)
        for folder in (work, out):
            folder.mkdir(parents=True, exist_ok=True)
        backend = "local" if ray is None else "ray"
        join_cluster(backend, ray)
        if ray is not None:
            train_on_ray(unfinished_runs(plan, work), threads or 1)
        for name, baseline in plan.items():
            try:
                result = baseline_of(game_of(name), baseline, work / file_name(name), processes, threads, backend)
            except KeyboardInterrupt:
                sys.stderr.write("Stopped. To resume: the same command\n")
                raise typer.Exit(EXIT_INTERRUPTED) from None
            changed = f"{' --small' if small else ''}{f' --threads {threads}' if threads else ''}"
            result["command"] = f"python -m baselines.run --games {name}{changed}"
            write_whole(out / f"{file_name(name)}.json", json.dumps(result, indent=1) + "\n")
            draw_results(result, out / f"{file_name(name)}.svg")


def baseline_of(
    game: Game, baseline: Baseline, folder: Path, processes: int, threads: int = 0, backend: str = "local"
) -> dict[str, Any]:
    """Train, play, and return the results of a game as JSON values.

    Raises:
        KeyboardInterrupt: Ctrl-C; what is finished has been kept.
    """
    folder.mkdir(exist_ok=True)
    runs = [trained(game, baseline, folder / f"seed-{seed}", seed, threads) for seed in seeds_of(game, baseline)]
    runs = [run for run in runs if run is not None]
    weights = folder / f"{TRAINED}.safetensors"
    chosen = best_seed(game, runs) if runs else None
    if chosen is not None:
        write_weights(read_checkpoint(folder / f"seed-{chosen}" / CHECKPOINT), weights)
    spec = f"ppo:{weights}{_sampling(settings_of(game, baseline))}" if runs else None
    board = played(game, baseline, folder, spec, processes, backend)
    return {
        "game": game.name,
        "options": baseline.options,
        "board": board,
        "runs": runs,
        "chosen": chosen,
        "response": exploited(game, baseline, spec, weights, folder, threads),
        "hardware": hardware(),
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
    }


def _sampling(config: Config) -> str:
    """Return the parameters of an agent that plays as the policy was evaluated."""
    threshold = f",threshold={config.eval_threshold}" if config.eval_threshold else ""
    return f",sample=true{threshold}" if config.eval_sample else ""


def trained(game: Game, baseline: Baseline, folder: Path, seed: int, threads: int) -> dict[str, Any] | None:
    """Train a policy, or go on, and return its final scores and learning curve; None: the plan has no training."""
    if baseline.steps is None:
        return None
    config = run_config(game, baseline, seed)
    if not is_finished(folder, config, baseline.steps):
        if (folder / CHECKPOINT).exists():
            resume(folder / CHECKPOINT, threads=threads)
        else:
            init = beginning(game, baseline, folder, seed, threads)
            train(game, config, out=folder, total_steps=baseline.steps, init=init, threads=threads)
    evaluation = json.loads((folder / EVALUATION_FILE).read_text(encoding="utf-8"))
    return {**evaluation, "curve": learning_curve(folder / METRICS_FILE)}


def beginning(game: Game, baseline: Baseline, folder: Path, seed: int, threads: int) -> Path | None:
    """Finish the run that this one continues, and return its checkpoint; None if it starts from random weights."""
    if baseline.begin is None:
        return None
    first = folder.with_name(f"{folder.name}-begin")
    trained(game, baseline.model_copy(update={**dict(baseline.begin), "begin": None}), first, seed, threads)
    return first / CHECKPOINT


def best_seed(game: Game, runs: list[dict[str, Any]]) -> int:
    """Return the seed of the run that plays: with the least NashConv, else the best against the default opponent."""
    if all(run["nash_conv"] is not None for run in runs):
        return min(runs, key=lambda run: run["nash_conv"])["seed"]
    return max(runs, key=lambda run: run["scores"].get(game.default_opponent, run["scores"]["random"])["mean"])["seed"]


def run_config(game: Game, baseline: Baseline, seed: int) -> Config:
    """Return the settings of a run of the plan. What its policies read (`outcomes`) is for the settings to say."""
    settings = settings_of(game, baseline)
    return settings.changed({"seed": seed, "options": settings.options | baseline.options})


def is_finished(folder: Path, config: Config, steps: int) -> bool:
    """Return whether the folder holds such a run, and whether it is over.

    Raises:
        OptionError: it holds a run with other settings, or for another number of steps.
    """
    if not has_begun(RunFolder(folder), config):
        return False
    planned = read_checkpoint(folder / CHECKPOINT)["training"]["total_steps"]
    if planned != steps:
        raise OptionError(
            f"{folder} holds a run for {planned or 0:,.0f} steps, not {steps:,}; choose another --work, or remove it"
        )
    return (folder / EVALUATION_FILE).exists()


def unfinished_runs(plan: dict[str, Baseline], work: Path) -> list[RemoteRun]:
    """Return the unfinished runs, without those that continue an earlier one: these are trained here."""
    return [
        RemoteRun(game_of(name).name, config, RunFolder(folder), Limits(baseline.steps))
        for name, baseline in plan.items()
        if baseline.steps is not None and baseline.begin is None
        for seed in seeds_of(game_of(name), baseline)
        for folder in [work / file_name(name) / f"seed-{seed}"]
        for config in [run_config(game_of(name), baseline, seed)]
        if not is_finished(folder, config, baseline.steps)
    ]


def seeds_of(game: Game, baseline: Baseline) -> range:
    """Return the seeds of the runs of a game: that of the settings, and those after it."""
    first = settings_of(game, baseline).seed
    return range(first, first + baseline.seeds)


def settings_of(game: Game, baseline: Baseline) -> Config:
    """Return the settings of training: those of the plan's file, or of the game."""
    return read_config(CONFIG_FOLDER / baseline.config) if baseline.config else config_for(game.name)


def learning_curve(metrics: Path) -> list[dict[str, float]]:
    """Return the evaluations of a run, thinned out evenly: steps, and mean and half interval by opponent."""
    rows = [json.loads(line) for line in metrics.read_text(encoding="utf-8").splitlines()]
    found = [
        {"steps": row["steps"]} | {key.removeprefix("eval/"): row[key] for key in row if key.startswith("eval/")}
        for row in rows
        if any(key.startswith("eval/") for key in row)
    ]
    stride = max(1, -(-len(found) // _POINTS))
    return found[::-1][::stride][::-1]  # with the last one


def exploited(
    game: Game, baseline: Baseline, spec: str | None, weights: Path, folder: Path, threads: int
) -> dict[str, Any] | None:
    """Train a response to the trained policy, or go on, and return what it gains; None: the plan has none.

    The response begins as the policy itself, and has a folder for each policy.
    """
    if baseline.response is None or spec is None:
        return None
    config = run_config(game, baseline, 1)
    options = game.make_options(**config.options)
    opponent = make_opponent(spec, game, options)
    config = shaped_like(response_config(config, spec, opponent), read_checkpoint(weights))
    how: dict[str, Any] = {"total_steps": baseline.response, "threads": threads, "opponent": opponent}
    folder = folder / f"response-{hashlib.sha256(weights.read_bytes()).hexdigest()[:12]}"
    path = folder / CHECKPOINT
    if has_begun(RunFolder(folder), config):
        resume(path, **how)
    else:
        train(game, config, out=folder, init=weights, overwrite=True, **how)
    exact = exact_gain(game, options, spec)
    deals = max(baseline.deals, _LEAST_DEALS if exact is None else _MANY_DEALS)
    gains = measure(path, opponent, deals, config.seed, options=options)
    said = verdict(gains, game.returns(options), baseline.response, exact)
    return {"steps": baseline.response, **gains.as_dict(), "verdict": said}


def played(
    game: Game, baseline: Baseline, folder: Path, spec: str | None, processes: int, backend: str = "local"
) -> dict[str, Any]:
    """Play the board of a game, or what its store lacks, and return it as JSON values.

    `spec` is that of the trained policy, if there is one.
    """
    agents = [{"name": name, "spec": name} for name in ("random", *game.policies, *baseline.agents)]
    if spec is not None:
        agents.append({"name": TRAINED, "spec": spec})
    anchor = "random"
    if baseline.pairs:  # who sits opposite is a partner
        anchor = game.default_opponent
        pair = [agents[-1], {"name": anchor, "spec": anchor}]
        agents = [*pair, *({**agent, "name": f"{agent['name']}, partner"} for agent in pair)]
    experiment = Experiment.of(
        {
            "name": game.title, "seed": _SEED, "deals": baseline.deals, "agents": agents,
            "games": [{"game": game.name, "options": baseline.options}], "anchors": {anchor: 1000},
            "guard": {"on_failure": "stop"},
        }
    )  # fmt: skip
    with Store(folder / "board.db") as store:
        if run_with_progress(experiment, store, True, processes, 64, backend) is None:
            raise KeyboardInterrupt
        board = board_file(board_document(board_of(store, experiment.stored)))
        return {**board, "digest": store.digest()}


def draw_results(result: dict[str, Any], out: Path) -> None:
    """Draw the learning curves of a game's runs, if there are any: against each opponent, and NashConv."""
    game = get_game(result["game"])
    factor = game.returns(game.make_options(**result["options"])).result_factor
    points = [point for run in result["runs"] for point in run["curve"]]
    names = dict.fromkeys(name for point in points for name in point if f"{name}_half" in point)
    labels = {name: f"against {name}" for name in names}
    what = "mean return"
    if any("nash_conv" in point for point in points):
        labels["nash_conv"] = "NashConv"
        what += " and NashConv"
    curves = {
        label: [
            {point["steps"]: factor * point[name] for point in run["curve"] if name in point} for run in result["runs"]
        ]
        for name, label in labels.items()
    }
    if curves:
        draw_curves(curves, f"{what}, {result['board']['games'][0]['summary']['unit']}", out)


def hardware() -> str:
    """Return the machine in a few words."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{cores} cores, {_processor()}"


def _processor() -> str:
    """Return the name of the processor, from Linux where it says so."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


if __name__ == "__main__":
    app()
