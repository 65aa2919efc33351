"""`cardenvs evaluate`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from cardenvs.cli.compiling import compile_for
from cardenvs.cli.files import Outputs
from cardenvs.cli.progress import ProgressBar
from cardenvs.cli.shared import BatchSize, GamesStore, Processes, new_console, stopped_early
from cardenvs.core.errors import AgentError, ArenaError, CardenvsError

if TYPE_CHECKING:
    from cardenvs.agents.seeds import MatchSeed
    from cardenvs.arena.evaluation import Protocol, Task
    from cardenvs.arena.match import Match
    from cardenvs.arena.store import Store

Played = list[tuple["Task", "Match"]]


def evaluate(
    agent: Annotated[str, Argument(metavar="AGENT", help="An agent; {game} in it stands for each game's name.")],
    size: Annotated[str, Option(metavar="tiny|full", help="How many games and deals.")] = "tiny",
    games: Annotated[
        str | None, Option(metavar="A,B,...", help="Only these games; by default all of the size.")
    ] = None,
    secret: Annotated[
        bool, Option("--secret", help="Draw secret deals, for boards; by default the protocol's public ones.")
    ] = False,
    processes: Processes = 1,
    batch: BatchSize = 64,
    store: GamesStore = None,
    resume: Annotated[bool, Option("--resume", help="Play the rest of an evaluation in the store.")] = False,
    json: Annotated[Path | None, Option(metavar="FILE", help="Write the card of the result, as JSON.")] = None,
    html: Annotated[Path | None, Option(metavar="FILE", help="Write the result as one HTML page.")] = None,
) -> None:
    """Evaluate an agent on the suite: a score per game, on which random play has 0 and a reference player 100.

    The protocol is fixed: games, options, opponents, deals and limits, with a version. The agent takes one side or seat
    in every place, and the reference player the others; in cooperative games and games for one it is alone. It has
    30 seconds for a decision and three tries, then it forfeits.

    `tiny` takes minutes, and suits language models and CI. An agent that cannot play a game is listed with the reason.

    Check a card and its games with `cardenvs verify STORE --card FILE`.

    Examples:

    - `cardenvs evaluate search:simulations=50`
    - `cardenvs evaluate zoo:{game} --size full -p 2 --store zoo.db --json zoo.json --html zoo.html`
    - `cardenvs evaluate python:my_agents:make --games leduc_poker,hearts`
    """
    from cardenvs.agents.seeds import MatchSeed
    from cardenvs.arena.evaluation import evaluation_card, evaluation_of, read_protocol
    from cardenvs.arena.output.evaluation import print_evaluation, write_evaluation_page
    from cardenvs.arena.store import Store
    from cardenvs.core.files import write_json

    outputs = Outputs({"--json": json, "--html": html}, used={"--store": store})
    if html is not None:
        from cardenvs.arena.output.page import check_page_extra

        check_page_extra()
    if resume and store is None:
        raise ArenaError("--resume needs the --store of the games to resume")
    protocol = read_protocol()
    tasks = protocol.chosen(size, [name.strip() for name in games.split(",")] if games else ())
    with Store(store) as opened:
        seed = MatchSeed.of(None if secret else protocol.seed)
        played, not_played = _matches(protocol, tasks, agent, size, seed)
        played = [(task, opened.seeded(match, resume)) for task, match in played]
        interrupted = _run([match for _, match in played], opened, resume, processes, batch)
        found = evaluation_of(protocol, size, agent, played, not_played, opened)
        card = evaluation_card(found, opened.digest([game.match.id for game in found.games]))
    print_evaluation(card, new_console())
    if found.games:
        outputs.write("JSON", json, lambda path: write_json(path, card))
        outputs.write("page", html, lambda path: write_evaluation_page(card, path))
    if interrupted:
        raise stopped_early(store)
    outputs.close()


def _matches(
    protocol: "Protocol", tasks: "list[Task]", agent: str, size: str, seed: "MatchSeed"
) -> tuple[Played, dict[str, str]]:
    """Return the matches of the games that the agent can play, and for the others the reason why not.

    Raises:
        AgentError: it can play none of them.
    """
    from cardenvs.arena.play import close_agent

    played: Played = []
    not_played: dict[str, str] = {}
    with ProgressBar("preparing", unit="games", total=len(tasks), transient=True) as bar:
        for number, task in enumerate(tasks):
            bar.show(number, title=f"preparing {task.game}")
            try:
                match = task.match(agent, task.deals[size], seed, protocol.limits)
                close_agent(match.entries[0].make(match.game, match.options))
            except CardenvsError as error:
                not_played[task.game] = str(error)
            else:
                compile_for(match.game, match.options, match.specs)
                played.append((task, match))
    if not played:
        game, reason = next(iter(not_played.items()))
        raise AgentError(f"{agent} cannot play any of the {len(tasks)} games; {game}: {reason}")
    return played, not_played


def _run(matches: "list[Match]", store: "Store", resume: bool, processes: int, batch: int) -> bool:
    """Play under a progress bar. Returns whether it was interrupted."""
    from cardenvs.arena.run import run

    with ProgressBar("evaluating", unit="games", total=sum(match.num_games for match in matches)) as bar:
        try:
            run(matches, store, resume=resume, processes=processes, batch=batch, progress=bar.show)
        except KeyboardInterrupt:
            return True
    return False
