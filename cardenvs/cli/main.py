"""The program `cardenvs`: its commands, and commands of single games."""

from typing import Annotated, Any

import typer
from typer import Option

from cardenvs.cli.arena import arena_app
from cardenvs.cli.bench import bench
from cardenvs.cli.clone import clone
from cardenvs.cli.curves import curves
from cardenvs.cli.doctor import doctor
from cardenvs.cli.evaluate import evaluate
from cardenvs.cli.exploit import exploit
from cardenvs.cli.games import games
from cardenvs.cli.info import info
from cardenvs.cli.llm_stub import llm_stub
from cardenvs.cli.match import match
from cardenvs.cli.mcp import mcp
from cardenvs.cli.new_game import new_game
from cardenvs.cli.play import play
from cardenvs.cli.plugins import game_commands, load_group
from cardenvs.cli.prompt import prompt
from cardenvs.cli.replay import replay
from cardenvs.cli.review import review
from cardenvs.cli.scenario import scenario_app
from cardenvs.cli.serve import ServeCommand, serve
from cardenvs.cli.simulate import simulate
from cardenvs.cli.site import site
from cardenvs.cli.solve import exploitability, solve
from cardenvs.cli.streams import check_arguments, clean_errors, run_safely
from cardenvs.cli.submit import submit_app
from cardenvs.cli.train import train
from cardenvs.cli.trajectories import trajectories
from cardenvs.cli.transcript import transcript_app
from cardenvs.cli.verify import verify
from cardenvs.cli.warmup import warmup
from cardenvs.cli.zoo import zoo_app


class _Commands(typer.core.TyperGroup):
    """The commands below, then the commands of single games."""

    def main(self, *args: Any, **options: Any) -> Any:
        return run_safely(lambda: super(_Commands, self).main(*args, **options))

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        with clean_errors():
            check_arguments(args)
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: Any) -> Any:
        with clean_errors():
            return super().invoke(ctx)

    def list_commands(self, ctx: Any) -> list[str]:
        own = super().list_commands(ctx)
        return [*own, *(name for name in game_commands() if name not in own)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        own = super().get_command(ctx, cmd_name)
        return load_group(cmd_name) if own is None and cmd_name in game_commands() else own


app = typer.Typer(
    cls=_Commands, no_args_is_help=True, rich_markup_mode="markdown", pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Card games for reinforcement learning: play them, compare agents on the same deals, train, replay.",
)  # fmt: skip


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"cardenvs {version('cardenvs')}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Options before the command."""


for command in (
    games, info, play, match, simulate, evaluate, verify, trajectories, train, clone, curves, solve, exploitability,
    exploit, replay, review, serve, site, mcp, prompt, llm_stub, warmup, doctor, new_game,
):  # fmt: skip
    app.command(cls=ServeCommand if command is serve else None)(command)
# Everything after `bench` goes to the benchmarks.
app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})(
    bench
)  # passes its arguments on
for name, group in (
    ("arena", arena_app), ("scenario", scenario_app), ("submit", submit_app), ("transcript", transcript_app),
    ("zoo", zoo_app),
):  # fmt: skip
    app.add_typer(group, name=name)
