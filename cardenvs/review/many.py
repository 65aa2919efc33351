"""Reviews of an agent's games in a store: which kinds of mistakes cost it most."""

import functools
import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any

from cardenvs.arena.match import Match
from cardenvs.arena.records import GameRecord
from cardenvs.arena.store import Store
from cardenvs.arena.verify import replay_of
from cardenvs.arena.workers import prepare_worker
from cardenvs.core.errors import ArenaError
from cardenvs.core.game import Game
from cardenvs.core.replay import Replay
from cardenvs.review.decisions import Judged, accuracy, review_game
from cardenvs.review.judges import judge_of
from cardenvs.review.kinds import Kind, kinds_of_mistakes


@dataclass(frozen=True)
class Chosen:
    """A game to review: its deal and lineup in the store, the game, and the players whom the agent played."""

    deal: int
    lineup: int
    replay: Replay
    players: tuple[int, ...]


@dataclass(frozen=True)
class Findings:
    """What an agent's reviewed games show.

    Attributes:
        agent: its name.
        game: the Game.
        names: (deal, lineup) of each game.
        judged: the decisions of each game.
        judge, sees_all, worlds, seed: by whom and how they were judged; see `Judge` and `Review`.
    """

    agent: str
    game: Game
    names: tuple[tuple[int, int], ...]
    judged: tuple[tuple[Judged, ...], ...]
    judge: str
    sees_all: bool
    worlds: int
    seed: int

    @property
    def games(self) -> int:
        """Number of games."""
        return len(self.names)

    @functools.cached_property
    def decisions(self) -> list[Judged]:
        """All decisions with a choice."""
        return [one for game in self.judged for one in game]

    @property
    def mistakes(self) -> int:
        """Number of mistakes."""
        return sum(one.is_mistake for one in self.decisions)

    @property
    def loss(self) -> float:
        """What all mistakes cost, in returns."""
        return sum(one.loss for one in self.decisions)

    @functools.cached_property
    def kinds(self) -> list[Kind]:
        """The kinds of mistakes, those that cost most first."""
        mistakes = ((k, one) for k, game in enumerate(self.judged) for one in game if one.is_mistake)
        return kinds_of_mistakes(self.game, mistakes)

    def document(self) -> dict[str, Any]:
        """Return the findings as JSON values."""
        return {
            "format": "cardenvs-review-of-many", "format_version": 1, "agent": self.agent, "game": self.game.name,
            "games": self.games, "decisions": len(self.decisions), "mistakes": self.mistakes, "loss": self.loss,
            "accuracy": accuracy(self.decisions), "judge": self.judge, "with_all_cards": self.sees_all,
            "worlds": self.worlds, "seed": self.seed,
            "kinds": [
                {
                    "phase": kind.phase, "played": kind.played, "better": kind.better, "loss": kind.loss,
                    "mistakes": [
                        {
                            "deal": self.names[one.game][0], "lineup": self.names[one.game][1], "ply": one.judged.ply,
                            "player": one.judged.player, "played": one.judged.played, "best": one.judged.best,
                            "loss": one.judged.loss, "error": one.judged.error,
                        }
                        for one in kind.examples
                    ],
                }
                for kind in self.kinds
            ],
        }  # fmt: skip


def chosen_agent(store: Store, agent: str | None) -> tuple[Match, str]:
    """Return the match and the name of the agent to review.

    Raises:
        ArenaError: the store has no such agent, or several matches or agents to choose from.
    """
    found = [(match, name) for match in map(store.match, store.match_ids()) for name in match.names]
    fitting = [(match, name) for match, name in found if agent in (None, name)]
    names = ", ".join(dict.fromkeys(name for _, name in found)) or "none"
    if not fitting:
        raise ArenaError(f"the store has no agent {agent!r}; its agents are: {names}")
    if len(fitting) > 1:
        if agent is None:
            raise ArenaError(f"name the agent to review by --agent: {names}")
        titles = ", ".join(match.game.name for match, _ in fitting)
        raise ArenaError(f"{agent!r} plays in {len(fitting)} matches of the store ({titles}); review one match a store")
    return fitting[0]


def games_of(store: Store, match: Match, agent: str, most: int | None) -> list[Chosen]:
    """Return the finished games of an agent, at most `most`: the first ones.

    Raises:
        ArenaError: there are none.
    """
    number = match.names.index(agent)
    games: list[Chosen] = []
    for record in store.records(match.id):
        if most is not None and len(games) == most:
            break
        if number in record.seating:
            games.append(_chosen(match, record, number))
    if not games:
        raise ArenaError(f"the store has no finished game of {agent!r}")
    return games


def _chosen(match: Match, record: GameRecord, number: int) -> Chosen:
    players = tuple(player for player, seated in enumerate(record.seating) if seated == number)
    return Chosen(record.deal, record.lineup, replay_of(match, record), players)


def review_many(
    match: Match,
    agent: str,
    games: Sequence[Chosen],
    *,
    by: str,
    worlds: int,
    seed: int,
    sees_all: bool = False,
    processes: int = 1,
    progress: Callable[[int], None] = lambda done: None,
) -> Findings:
    """Review an agent's decisions in some games. After Ctrl-C, the findings are those of the games reviewed by then.

    Args:
        match, agent, games: see `chosen_agent` and `games_of`.
        by, sees_all: see `cardenvs.review.judges.judge_of`.
        worlds, seed: see `cardenvs.review.decisions.review_game`.
        processes: number of processes.
        progress: called with the number of games reviewed.
    """
    review_one = functools.partial(_judged, by=by, worlds=worlds, seed=seed, sees_all=sees_all)
    judged: list[tuple[Judged, ...]] = []
    try:
        for one in _in_processes(review_one, games, processes):
            judged.append(one)
            progress(len(judged))
    except KeyboardInterrupt:
        if not judged:
            raise
    names = tuple((game.deal, game.lineup) for game in games[: len(judged)])
    return Findings(agent, match.game, names, tuple(judged), by, sees_all, worlds, seed)


def _in_processes(
    review_one: Callable[[Chosen], tuple[Judged, ...]], games: Sequence[Chosen], processes: int
) -> Iterator[tuple[Judged, ...]]:
    if processes == 1:
        yield from map(review_one, games)
        return
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(processes, mp_context=context, initializer=_prepare_process)
    try:
        yield from pool.map(review_one, games)
    finally:
        pool.shutdown(cancel_futures=True)


def _prepare_process() -> None:
    prepare_worker()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which reports what is done


def _judged(game: Chosen, *, by: str, worlds: int, seed: int, sees_all: bool) -> tuple[Judged, ...]:
    replay = game.replay
    judge = judge_of(by, replay.game, replay.game.make_options(**replay.options), sees_all)
    return review_game(replay, judge, players=game.players, worlds=worlds, seed=seed).decisions
