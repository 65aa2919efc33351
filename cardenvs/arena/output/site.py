"""Write a board as a static site: HTML pages, plots and replays in one folder, without network access.

index.html          ratings, games, circles, failures
games/NAME.html     one match: results, head to head, by seat, behaviour, replays
replays/...         selected games: pages, players that step through them, and replay files
board.json          the board as JSON; results.csv: the results table
"""

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cardenvs.arena.match import Match
from cardenvs.arena.output.export import write_board_json, write_csv
from cardenvs.arena.output.page import (
    check_page_extra,
    colour_of,
    dots_svg,
    heat_cell,
    match_context,
    render,
    shares_svg,
)
from cardenvs.arena.output.report import ranking_order
from cardenvs.arena.output.terminal import OVERALL_NOTE, circle_text, held_text, rating_interval
from cardenvs.arena.records import GameRecord
from cardenvs.arena.results.board import Behaviour, Board, GameBoard
from cardenvs.arena.results.ratings import Rating, ranks
from cardenvs.arena.store import Store
from cardenvs.arena.verify import replay_of
from cardenvs.core.errors import ArenaError, require
from cardenvs.core.events import OMNISCIENT
from cardenvs.core.files import write_whole
from cardenvs.core.replay import Replay

_MARK = "board.json"  # a folder with this file is a site, so it may be overwritten
_MOST_KINDS = 8  # kinds of actions with their own colour in a plot
_MOST_FIRST, _MOST_LARGE, _MOST_FAILED = 6, 6, 8  # replays per match


def write_site(store: Store, board: Board, folder: str | Path) -> Path:
    """Write the site of a board, replacing an older one in the folder.

    Returns:
        Path of index.html.

    Raises:
        MissingExtraError: matplotlib or jinja2 is not installed.
        ArenaError: the folder contains something other than a site.
    """
    root = Path(folder)
    check_folder(root)
    for part in ("games", "replays"):
        (root / part).mkdir(parents=True, exist_ok=True)
        for old in (root / part).iterdir():
            if old.suffix in (".html", ".json"):
                old.unlink()
    write_board_json(board, root / _MARK)
    write_csv(store, board, root / "results.csv")
    site = _Site(store, board, root)
    for game in board.games:
        site.write_game(game)
    site.write_index()
    return root / "index.html"


def check_folder(root: Path) -> None:
    """Check before play starts that a site can be written to a folder.

    Raises:
        MissingExtraError: matplotlib or jinja2 is not installed.
        ArenaError: `root` is not a folder, or contains something other than a site.
    """
    check_page_extra()
    if root.exists() and not root.is_dir():
        raise ArenaError(f"cannot write a site to {root}: it is not a folder")
    if root.is_dir() and any(root.iterdir()) and not (root / _MARK).is_file():
        raise ArenaError(f"{root} is not empty and does not contain a site; choose another folder")


class _Site:
    def __init__(self, store: Store, board: Board, root: Path) -> None:
        self._store, self._board, self._root = store, board, root
        self._slugs = _slugs([game.title for game in board.games])
        names = list(dict.fromkeys(name for game in board.games for name in game.match.names))
        self._colours = {name: colour_of(number) for number, name in enumerate(names)}

    # -- the front page -----------------------------------------------------------------------------------------

    def write_index(self) -> None:
        board = self._board
        experiment = next((e for e in reversed(self._store.experiments()) if e.name == board.name), None)
        page = render(
            "index.html",
            board=board,
            description="" if experiment is None else experiment.config.get("description", ""),
            overall=[
                {**row, "by_game": [_in_game(game, row["name"]) for game in board.games]}
                for row in self._rating_rows(board.overall)
            ],
            cards=[self._card(game) for game in board.games],
            num_games=sum(game.summary.games for game in board.games),
            num_deals=sum(len(game.summary.deals) for game in board.games),
            held=held_text(board),
            overall_note=OVERALL_NOTE,
            ratings_svg=self._ratings_svg(board.overall),
            circles=[
                {"slug": self._slugs[game.title], "title": game.title, "text": circle_text(game, circle)}
                for game in board.games
                for circle in game.circles
            ],
            failures=_failures(board),
            digest=self._store.digest()[:16],
            config="" if experiment is None else _yaml(experiment.config),
        )
        write_whole(self._root / "index.html", page)

    def _card(self, game: GameBoard) -> dict[str, Any]:
        best = game.summary.ranking[0]
        returns = game.match.game.returns(game.match.options)
        return {
            "slug": self._slugs[game.title], "title": game.title, "deals": len(game.summary.deals),
            "games": game.summary.games, "best": best.name, "mean": f"{best.mean.mean:+.3f}",
            "unit": returns.result_unit_label,
            "colour": self._colours[best.name],
        }  # fmt: skip

    def _rating_rows(self, ratings: Sequence[Rating]) -> list[dict[str, Any]]:
        return [
            {
                "rank": str(rank),
                "name": rating.name,
                "colour": self._colours[rating.name],
                "anchored": rating.anchored,
                "rating": f"{rating.rating:.0f}",
                "interval": rating_interval(rating),
                "games": str(rating.games),
            }
            for rank, rating in zip(ranks(ratings), ratings, strict=True)
        ]

    def _ratings_svg(self, ratings: Sequence[Rating]) -> str:
        rows = [
            (
                rating.name, rating.rating, -math.inf if rating.anchored else rating.low, rating.high,
                self._colours[rating.name],
            )
            for rating in ratings
        ]  # fmt: skip
        return dots_svg(rows, "rating")

    # -- a match ------------------------------------------------------------------------------------------------

    def write_game(self, game: GameBoard) -> None:
        slug = self._slugs[game.title]
        match = game.match
        behaviours = [game.behaviours[agent] for agent in ranking_order(game.summary)]
        context = match_context(game.summary)
        context["title"] = game.title
        page = render(
            "game.html",
            **context,
            board_name=self._board.name,
            plies=f"{game.plies:.1f}",
            circles=[circle_text(game, circle) for circle in game.circles],
            ratings=self._rating_rows(game.ratings),
            ratings_svg=self._ratings_svg(game.ratings),
            players=range(match.options.num_players),
            seats=_seats(game),
            sampled=game.sampled,
            shares_svg=shares_svg(_kinds(behaviours)),
            behaviour=[_behaviour_row(behaviour) for behaviour in behaviours],
            replays=[self._write_replay(game, slug, record) for record in _chosen(self._store, game)],
        )
        write_whole(self._root / "games" / f"{slug}.html", page)

    def _write_replay(self, game: GameBoard, slug: str, record: GameRecord) -> dict[str, Any]:
        file = f"{slug}-{record.deal}-{record.lineup}"
        replay = replay_of(game.match, record)
        replay.save(self._root / "replays" / f"{file}.json")
        page = render(
            "replay.html",
            board_name=self._board.name,
            title=game.title,
            slug=slug,
            file=file,
            deal=record.deal,
            lineup=record.lineup,
            seed=record.seed,
            players=[
                {"name": name, "returns": f"{mine:+g}"}
                for name, mine in zip(replay.players, replay.returns, strict=True)
            ],
            notes=_notes(record),
            lines=_lines(replay),
        )
        player = replay.page(notes={note["ply"]: note for note in record.notes})
        write_whole(self._root / "replays" / f"{file}-player.html", player)
        write_whole(self._root / "replays" / f"{file}.html", page)
        return {
            "file": file,
            "deal": record.deal,
            "lineup": record.lineup,
            "players": ", ".join(replay.players),
            "returns": ", ".join(f"{mine:+g}" for mine in replay.returns),
            "plies": len(replay.actions),
        }


def _slugs(titles: Sequence[str]) -> dict[str, str]:
    """Return a different file name for each title."""
    found: dict[str, str] = {}
    for title in titles:
        slug = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:60] or "game"
        while slug in found.values():
            slug += "-2"
        found[title] = slug
    return found


def _in_game(game: GameBoard, name: str) -> str:
    return next((f"{rating.rating:.0f}" for rating in game.ratings if rating.name == name), "·")


def _failures(board: Board) -> dict[str, Any]:
    """Return the failures of each agent over all matches."""
    behaviours = [behaviour for game in board.games for behaviour in game.behaviours]
    classes = sorted({kind for behaviour in behaviours for kind in behaviour.failures})
    rows = []
    for name in dict.fromkeys(behaviour.name for behaviour in behaviours):
        mine = [behaviour for behaviour in behaviours if behaviour.name == name]
        counts = [sum(b.failures.get(kind, 0) for b in mine) for kind in classes]
        counts += [sum(b.outcomes.get(kind, 0) for b in mine) for kind in ("forced", "forfeit")]
        if any(counts):
            rows.append({"name": name, "counts": [*counts, sum(b.decisions for b in mine)]})
    return {"classes": classes, "rows": rows}


def _yaml(config: dict[str, Any]) -> str:
    return require("yaml", "arena").safe_dump(config, sort_keys=False, allow_unicode=True)


def _seats(game: GameBoard) -> list[dict[str, Any]]:
    most = max(abs(found.mean) for found in game.seats.values())
    players = range(game.match.options.num_players)
    return [
        {
            "name": game.match.names[agent],
            "cells": [
                heat_cell(game.seats[agent, player], most) if (agent, player) in game.seats else None
                for player in players
            ],
        }
        for agent in ranking_order(game.summary)
    ]


def _kinds(behaviours: Sequence[Behaviour]) -> list[tuple[str, dict[str, float]]]:
    """Return each agent's share of each kind of action, with rare kinds combined as "other"."""
    totals: dict[str, int] = {}
    for behaviour in behaviours:
        for kind, count in behaviour.kinds.items():
            totals[kind] = totals.get(kind, 0) + count
    often = sorted(totals, key=lambda kind: -totals[kind])
    shown = often if len(often) <= _MOST_KINDS else often[: _MOST_KINDS - 1]
    rows = []
    for behaviour in behaviours:
        whole = max(1, sum(behaviour.kinds.values()))
        shares = {kind: behaviour.kinds.get(kind, 0) / whole for kind in shown}
        if len(shown) < len(often):
            shares["other"] = shares.get("other", 0.0) + max(0.0, 1 - sum(shares.values()))
        rows.append((behaviour.name, shares))
    return rows


def _behaviour_row(behaviour: Behaviour) -> dict[str, str]:
    return {
        "name": behaviour.name,
        "decisions": str(behaviour.decisions),
        "ms": f"{1000 * behaviour.decision_seconds:.2f}",
        "choices": f"{behaviour.choices:.1f}",
        "only_one": f"{100 * behaviour.only_one:.0f}%",
        "failures": ", ".join(f"{kind} {count}" for kind, count in behaviour.failures.items()) or "-",
        "forced": str(behaviour.outcomes.get("forced", 0)),
        "forfeits": str(behaviour.outcomes.get("forfeit", 0)),
    }


def _chosen(store: Store, game: GameBoard) -> list[GameRecord]:
    """Return the games to show: of the first deal, with the largest results, and with failures."""
    match: Match = game.match
    deals = set(game.summary.deals)
    large: list[tuple[float, int, int]] = []
    failed: list[tuple[int, int]] = []
    for record in store.results(match.id):
        if record.deal in deals:
            large.append((-max(map(abs, record.returns)), record.deal, record.lineup))
            if any(record.failures):
                failed.append((record.deal, record.lineup))
    wanted = [(game.summary.deals[0], lineup) for lineup in range(min(_MOST_FIRST, len(match.lineups)))]
    wanted += [(deal, lineup) for _, deal, lineup in sorted(large)[:_MOST_LARGE]]
    wanted += failed[:_MOST_FAILED]
    return [store.game(match.id, deal, lineup) for deal, lineup in dict.fromkeys(wanted)]


def _notes(record: GameRecord) -> list[dict[str, Any]]:
    """Return a line of text for each failure of a game."""
    found = []
    for note in record.notes:
        for failure in note["failures"]:
            text = f"{failure['kind']}: {failure['message']}"
            found.append({"ply": note["ply"], "player": note["player"], "text": text})
        if note["outcome"] != "ok":
            text = "the player forfeits" if note["outcome"] == "forfeit" else "the forced action is played"
            found.append({"ply": note["ply"], "player": note["player"], "text": text})
    return found


def _lines(replay: Replay) -> list[dict[str, Any]]:
    """Return the text of each action's events, with the number of actions played."""
    state, shown, lines = replay.state_at(0), 0, []
    for ply in range(len(replay.actions) + 1):
        if ply:
            state.apply(replay.actions[ply - 1])
        recap = state.recap(OMNISCIENT)
        lines.append({"ply": str(ply), "text": " ".join(recap[shown:])})
        shown = len(recap)
    return lines
