"""`cardenvs arena`: experiments, a file a command."""

import typer

from cardenvs.cli.arena.list import list_command
from cardenvs.cli.arena.plan import plan_command
from cardenvs.cli.arena.replay import replay_command
from cardenvs.cli.arena.report import report_command
from cardenvs.cli.arena.run import run_command
from cardenvs.cli.arena.schema import schema_command

arena_app = typer.Typer(
    no_args_is_help=True, rich_markup_mode="markdown",
    help="Experiments: several games, many agents, ratings, a leaderboard site.\n\n"
    "Example: `cardenvs arena run configs/arena/small_poker.yaml --html site`",
)  # fmt: skip
arena_app.command("run")(run_command)
arena_app.command("plan")(plan_command)
arena_app.command("report")(report_command)
arena_app.command("list")(list_command)
arena_app.command("replay")(replay_command)
arena_app.command("schema")(schema_command)
