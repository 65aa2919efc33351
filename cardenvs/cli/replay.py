"""`cardenvs replay`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from cardenvs.cli.files import Outputs, input_file
from cardenvs.cli.shared import check_player, escaped, new_console, step_through
from cardenvs.core.errors import ArenaError, require
from cardenvs.core.files import write_whole

if TYPE_CHECKING:
    from rich.console import Console

    from cardenvs.core.replay import Replay


def replay(
    file: Annotated[Path, Argument(callback=input_file, help="A replay file.")],
    player: Annotated[int | None, Option(min=0, help="Show what this player saw; default: everything.")] = None,
    at: Annotated[int | None, Option(metavar="K", help="Show only the position after K actions.")] = None,
    step: Annotated[bool, Option("--step", help="Step through the game.")] = False,
    html: Annotated[Path | None, Option(metavar="FILE", help="Write a page that plays the game.")] = None,
    gif: Annotated[Path | None, Option(metavar="FILE", help="Write an animation of the game.")] = None,
    svg: Annotated[
        Path | None, Option(metavar="FILE", help="Write a picture of the position of --at, or the last one.")
    ] = None,
    verify: Annotated[bool, Option("--verify", help="Only check that the game reproduces its record.")] = False,
) -> None:
    """Show a recorded game. It is replayed first, and a damaged or edited file is refused.

    Examples:

    - `cardenvs replay game.json`
    - `cardenvs replay game.json --player 0 --step`
    - `cardenvs replay game.json --verify`
    - `cardenvs replay game.json --html game.html`
    - `cardenvs replay game.json --player 1 --at 12 --svg position.svg`
    """
    from cardenvs.core.replay import Replay

    for path, ending in ((gif, ".gif"), (svg, ".svg")):
        if path is not None and path.suffix.lower() != ending:
            raise ArenaError(f"--{ending[1:]} writes a picture in that format; {path} should end in {ending}")
    outputs = Outputs({"--html": html, "--gif": gif, "--svg": svg}, used={"FILE": file})
    loaded = Replay.load(file)
    if verify:
        typer.echo(
            f"{file}: {len(loaded.actions)} actions of {loaded.game.name} play to the recorded events and returns"
        )
        return
    if at is not None and not 0 <= at <= len(loaded.actions):
        raise ArenaError(f"--at {at} is out of range: {file} has positions 0 to {len(loaded.actions)}")
    shown = _Shown(new_console(), loaded, player)
    if html or gif or svg:
        shown.write(outputs, html, gif, svg, at)
        outputs.close()
        return
    shown.heading()
    if at is not None:
        shown.position(at)
    elif step:
        step_through(shown.position, len(loaded.actions))
    else:
        shown.events()
        shown.position(len(loaded.actions))


class _Shown:
    """A replay as one viewer saw it, on a console."""

    def __init__(self, console: "Console", replay: "Replay", player: int | None) -> None:
        from cardenvs.core.events import OMNISCIENT

        self._console, self._replay = console, replay
        check_player(replay, player)
        self._viewer = OMNISCIENT if player is None else player

    def write(self, outputs: "Outputs", html: Path | None, gif: Path | None, svg: Path | None, at: int | None) -> None:
        """Write the wanted files."""
        from cardenvs.pictures import draw_svg

        if gif is not None:
            for module in ("resvg_py", "font_hanken_grotesk", "PIL"):
                require(module, "pictures")
        replay, viewer = self._replay, self._viewer
        if html is not None:
            outputs.write("page", html, lambda path: write_whole(path, replay.page(viewer)))
        if gif is not None:
            from cardenvs.pictures.raster import gif as animation

            pictures = [draw_svg(frame.view) for frame in replay.frames(viewer)]
            outputs.write("animation", gif, lambda path: write_whole(path, animation(pictures, 640, 900)))
        if svg is not None:
            view = replay.state_at(len(replay.actions) if at is None else at).view(viewer)
            outputs.write("picture", svg, lambda path: write_whole(path, draw_svg(view)))

    def heading(self) -> None:
        replay = self._replay
        names = ", ".join(f"player_{p} {escaped(name)}" for p, name in enumerate(replay.players))
        options = replay.game.make_options(**replay.options).changed()
        changed = "".join(f" {name}={value}" for name, value in options.items())
        self._console.print(f"[bold]{replay.game.title}[/bold]{escaped(changed)}, seed {replay.setup['seed']}: {names}")

    def events(self) -> None:
        """Print what happened, with the number of each action before its consequences."""
        state, printed = self._replay.state_at(0), 0
        for ply in range(len(self._replay.actions) + 1):
            if ply:
                state.apply(self._replay.actions[ply - 1])
            recap = state.recap(self._viewer)
            for number, sentence in enumerate(recap[printed:]):
                self._console.print(f"[dim]{ply if number == 0 else '':>4}[/dim] {escaped(sentence)}")
            printed = len(recap)

    def position(self, k: int) -> None:
        """Print the table after `k` actions."""
        from rich.panel import Panel
        from rich.text import Text

        state = self._replay.state_at(k)
        last = state.recap(self._viewer)[-1:]
        turn = f"returns {state.returns}" if state.is_terminal else f"player_{state.current_player} to act"
        title = f"{k} of {len(self._replay.actions)} actions, {turn}"
        self._console.print(
            Panel(Text.from_ansi(state.render(self._viewer, colour=True)), title=title, title_align="left")
        )
        for sentence in last:
            self._console.print(f"[dim]{escaped(sentence)}[/dim]")
