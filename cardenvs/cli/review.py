"""`cardenvs review`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from cardenvs.cli.compiling import compile_for
from cardenvs.cli.exit_codes import EXIT_INTERRUPTED
from cardenvs.cli.files import Outputs, input_file
from cardenvs.cli.progress import ProgressBar
from cardenvs.cli.shared import MAX_SEED, Processes, check_player, escaped, new_console, new_table
from cardenvs.core.errors import ArenaError, require
from cardenvs.core.files import write_json, write_whole

if TYPE_CHECKING:
    from rich.console import Console

    from cardenvs.review.decisions import Review
    from cardenvs.review.many import Findings

_MOST_WORLDS = 100_000
_MOST_ROWS = 1000
_SQLITE = b"SQLite format 3\0"


def review(
    file: Annotated[Path, Argument(callback=input_file, help="A replay file, or a store of games.")],
    player: Annotated[
        int | None, Option(min=0, help="Review this player's decisions, as it saw the game; default: all players.")
    ] = None,
    agent: Annotated[str | None, Option(metavar="NAME", help="Of a store: the agent to review.")] = None,
    by: Annotated[str, Option("--by", metavar="AGENT", help="Who plays out what players might have done.")] = "search",
    worlds: Annotated[
        int, Option(min=10, max=_MOST_WORLDS, help="Worlds in which the play made meets the best other one.")
    ] = 200,
    seed: Annotated[int, Option(min=0, max=MAX_SEED, help="Seed of the worlds.")] = 0,
    with_all_cards: Annotated[
        bool, Option("--with-all-cards", help="Judge by the cards as they lay, not by what players knew.")
    ] = False,
    most: Annotated[int, Option(min=1, max=_MOST_ROWS, help="Most mistakes, or kinds of mistakes, to print.")] = 5,
    games: Annotated[int | None, Option(min=1, help="Of a store: review at most this many games.")] = None,
    processes: Processes = 1,
    html: Annotated[Path | None, Option(metavar="FILE", help="Write the review of a game as a page.")] = None,
    json: Annotated[Path | None, Option(metavar="FILE", help="Write the review as JSON.")] = None,
) -> None:
    """Say what each decision of a recorded game was worth, and what a better one would have gained.

    Each decision is tried in worlds that the player could not tell from the real one: every play, then the best and the
    one that was made, pair by pair. `--by` names who plays out, for all players: `search` (the game's own policy),
    `search:network=zoo:GAME/NAME` (a trained one) or any other agent. A mistake is a play that another beats by more
    than chance explains, if both are followed by that agent's play.

    Of a store, it prints which kinds of mistakes cost an agent most.

    Examples:

    - `cardenvs review game.json`
    - `cardenvs review game.json --player 0 --worlds 1000 --html review.html`
    - `cardenvs review game.json --by search:playout=random --json review.json`
    - `cardenvs review gin.db --agent ppo --games 200 -p 2`
    """
    outputs = Outputs({"--html": html, "--json": json}, used={"FILE": file})
    settings = {"by": by, "worlds": worlds, "seed": seed, "sees_all": with_all_cards}
    with file.open("rb") as opened:
        is_store = opened.read(len(_SQLITE)) == _SQLITE
    if is_store:
        if html is not None or player is not None:
            raise ArenaError(f"{file} is a store: --player and --html are for one game; name an agent by --agent")
        _review_store(file, agent, settings, games, processes, most, outputs, json)
    else:
        if agent is not None or games is not None:
            raise ArenaError(f"{file} is no store: --agent and --games are for stores; name a player by --player")
        _review_game(file, player, settings, most, outputs, html, json)
    outputs.close()


def _review_game(
    file: Path,
    player: int | None,
    settings: dict[str, Any],
    most: int,
    outputs: Outputs,
    html: Path | None,
    json: Path | None,
) -> None:
    from cardenvs.core.replay import Replay
    from cardenvs.review.decisions import document, review_game
    from cardenvs.review.judges import judge_of

    if html is not None:
        for module in ("matplotlib", "jinja2"):
            require(module, "report")
    replay = Replay.load(file)
    check_player(replay, player)
    options = replay.game.make_options(**replay.options)
    compile_for(replay.game, options, [settings["by"]])
    judge = judge_of(settings["by"], replay.game, options, settings["sees_all"])
    with ProgressBar("reviewing", unit="actions", transient=True) as bar:
        found = review_game(
            replay, judge, players=None if player is None else [player], worlds=settings["worlds"],
            seed=settings["seed"], progress=bar.show,
        )  # fmt: skip
    _print_review(new_console(), found, most)
    outputs.write("review", json, lambda path: write_json(path, document(found)))
    if html is not None:
        from cardenvs.review.page import page

        outputs.write("page", html, lambda path: write_whole(path, page(found)))


def _print_review(console: "Console", found: "Review", most: int) -> None:
    from cardenvs.review.story import basis, cut, player_row, turning_points

    console.print(f"[bold]{found.replay.game.title}[/bold], seed {found.replay.setup['seed']}")
    console.print(escaped(basis(found.judge.spec, found.judge.sees_all, found.worlds)))
    table = new_table("player", "return", "accuracy", "mistakes", "cost", "luck and others", right=1)
    for player in found.players:
        table.add_row(*(escaped(text) for text in player_row(found, player).values()))
    console.print(table)
    points = new_table("action", "change", "for", "turning points")
    for point in turning_points(found):
        points.add_row(str(point.ply), f"{point.change:+.3g}", f"player_{point.player}", escaped(point.text))
    console.print(points)
    if not found.mistakes:
        console.print("No clear mistakes.")
        return
    mistakes = new_table("action", "cost", "player", "played", "better")
    for one in found.mistakes[:most]:
        cost = f"{one.loss:.3g} ± {2 * one.error:.2g}"
        mistakes.add_row(str(one.ply), cost, f"player_{one.player}", escaped(cut(one.played)), escaped(cut(one.best)))
    console.print(mistakes)
    if len(found.mistakes) > most:
        console.print(f"{len(found.mistakes) - most} more; see --most, --json and --html")


def _review_store(
    file: Path,
    agent: str | None,
    settings: dict[str, Any],
    games: int | None,
    processes: int,
    most: int,
    outputs: Outputs,
    json: Path | None,
) -> None:
    from cardenvs.arena.store import Store
    from cardenvs.review.many import chosen_agent, games_of, review_many

    with Store(file, read_only=True) as store:
        match, name = chosen_agent(store, agent)
        compile_for(match.game, match.options, [settings["by"]])
        chosen = games_of(store, match, name, games)
    with ProgressBar("reviewing", unit="games", total=len(chosen)) as bar:
        found = review_many(match, name, chosen, **settings, processes=processes, progress=bar.show)
    _print_findings(new_console(), found, most)
    outputs.write("findings", json, lambda path: write_json(path, found.document()))
    if found.games < len(chosen):
        typer.secho(f"Stopped after {found.games} of {len(chosen)} games.", fg="yellow", err=True)
        raise typer.Exit(EXIT_INTERRUPTED)


def _print_findings(console: "Console", found: "Findings", most: int) -> None:
    from cardenvs.core.text import count
    from cardenvs.review.decisions import accuracy
    from cardenvs.review.story import basis, cut, percent

    console.print(
        f"[bold]{escaped(found.agent)}[/bold] in {count(found.games, 'game')} of {found.game.title}: "
        f"{count(found.mistakes, 'mistake')} in {count(len(found.decisions), 'decision')}, "
        f"{found.loss / found.games:.3g} a game; accuracy {percent(accuracy(found.decisions))}"
    )
    console.print(escaped(basis(found.judge, found.sees_all, found.worlds)))
    for kind in found.kinds[:most]:
        worst = kind.worst
        deal, lineup = found.names[worst.game]
        console.print(
            f"{kind.loss / found.games:8.3g} a game, {count(len(kind.examples), 'time')}: {escaped(kind.text)}\n"
            f"         [dim]deal {deal}, lineup {lineup}, action {worst.judged.ply}: "
            f"{escaped(cut(worst.judged.played))} instead of {escaped(cut(worst.judged.best))}, "
            f"{worst.judged.loss:.3g}[/dim]"
        )
