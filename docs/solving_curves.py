"""`python -m docs.solving_curves`: NashConv by iterations, for each method on Kuhn and Leduc poker, as a picture.

Writes docs/pictures/solving.svg. Takes about a minute.
"""

import json
import tempfile
from pathlib import Path

from matplotlib.figure import Figure

from cardenvs.core.registry import get_game
from cardenvs.training.cfr import METHODS, Run
from cardenvs.training.curves import COLOURS, GRID, TEXT, save

PICTURE = Path(__file__).parent / "pictures" / "solving.svg"
ITERATIONS = {**dict.fromkeys(METHODS, 10_000), "mccfr": 300_000}


def curve(game: str, method: str) -> tuple[list[int], list[float]]:
    """Return the iterations after which a run evaluated its policy, and NashConv there."""
    found = get_game(game)
    with tempfile.TemporaryDirectory() as folder:
        run = Run.begin(found, found.make_options().as_dict(), method, Path(folder) / "run")
        for _ in run.go(ITERATIONS[method]):
            pass
        lines = [json.loads(line) for line in run.folder.metrics.read_text().splitlines()]
    return [line["iterations"] for line in lines], [line["nash_conv"] for line in lines]


def main() -> None:
    """Solve, and write the picture."""
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    for axes, game in zip(figure.subplots(1, 2, sharey=True), ("kuhn_poker_v0", "leduc_poker_v0"), strict=True):
        for method, colour in zip(ITERATIONS, COLOURS, strict=False):
            iterations, nash_conv = curve(game, method)
            axes.loglog(iterations, nash_conv, color=colour, lw=1.6, label=method)
            print(f"{game} {method}: NashConv {nash_conv[-1]:.2g} after {iterations[-1]:,} iterations")
        axes.set_title(get_game(game).title, color=TEXT)
        axes.set_xlabel("iterations", color=TEXT)
        axes.grid(color=GRID, lw=0.8)
        axes.tick_params(color=GRID, labelcolor=TEXT, which="both")
        for spine in axes.spines.values():
            spine.set_visible(False)
    figure.axes[0].set_ylabel("NashConv, chips a deal", color=TEXT)
    figure.axes[1].legend(frameon=False, labelcolor=TEXT)
    save(figure, PICTURE)
    print(f"picture: {PICTURE}")


if __name__ == "__main__":
    main()
