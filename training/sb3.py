"""Train MaskablePPO of sb3-contrib, with its own settings or with those of cardenvs, and measure the result.

    OMP_WAIT_POLICY=PASSIVE python training/sb3.py gin_rummy_v0 --steps 500_000
    OMP_WAIT_POLICY=PASSIVE python training/sb3.py gin_rummy_v0 --steps 500_000 --settings own

It prints the mean return and the share of games won against the opponents, the learner in each seat in turn.
"""

import os
import sys
import time
from typing import Annotated, Any, Literal

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # before torch is imported

import numpy as np
import typer
from sb3_contrib import MaskablePPO

from cardenvs.envs.sb3 import SeatVecEnv, defaults


def evaluate(model: MaskablePPO, game: str, opponents: str, games: int, seed: int) -> list[float]:
    """Return the learner's returns in at least `games` games against `opponents`."""
    env = SeatVecEnv(game, 64, seat="rotate", opponents=opponents, seed=seed)
    observation: Any = env.reset()
    returns: list[float] = []
    while len(returns) < games:
        actions, _ = model.predict(observation, action_masks=env.action_masks(), deterministic=False)
        observation, *_ = env.step(actions)
        returns += env.take_returns()
    return returns


def main(
    game: Annotated[str, typer.Argument(help="The game.")],
    steps: Annotated[str, typer.Option(help="Steps of the learner, such as 500_000.")] = "200_000",
    settings: Annotated[Literal["cardenvs", "own"], typer.Option(help="Whose settings.")] = "cardenvs",
    opponents: Annotated[str, typer.Option(help="The policy in the other seats.")] = "random",
    games: Annotated[int, typer.Option(help="Games of the evaluation.")] = 2000,
    seed: Annotated[int, typer.Option(help="Of training and evaluation.")] = 0,
) -> None:
    """Train MaskablePPO and print what it reaches."""
    env = SeatVecEnv(game, 64, seat="rotate", opponents=opponents, seed=seed)
    chosen = defaults(game) if settings == "cardenvs" else {}
    model = MaskablePPO("MlpPolicy", env, seed=seed, device="cpu", **chosen)
    started = time.perf_counter()
    model.learn(int(steps.replace("_", "")), progress_bar=sys.stderr.isatty())
    seconds = time.perf_counter() - started
    returns = np.array(evaluate(model, game, opponents, games, seed + 1))
    half = 1.96 * returns.std(ddof=1) / np.sqrt(len(returns))
    typer.echo(
        f"{game}, {settings} settings, {steps} steps in {seconds:.0f} s: mean return "
        f"{returns.mean():+.3f} ± {half:.3f} against {opponents}, "
        f"{100 * (returns > 0).mean():.1f}% of {len(returns)} games won"
    )


if __name__ == "__main__":
    typer.run(main)
