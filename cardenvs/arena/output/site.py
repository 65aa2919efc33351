"""Write a board as a static site: HTML pages, plots and replays in one folder, without network access.

index.html          ratings, games, circles, failures
games/NAME.html     one match: results, head to head, by seat, behaviour, replays
replays/...         selected games: pages, players that step through them, and replay files
board.json          the board as JSON; results.csv: the results table
site.json           the names of these files, so that the next site in the folder replaces them and nothing else
"""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cardenvs.arena.match import Match
from cardenvs.arena.output import page as pages
from cardenvs.arena.output.files import write_board_json, write_csv
from cardenvs.arena.output.tables import OVERALL_NOTE, circle_text, failure_rows, rating_rows
from cardenvs.arena.records import GameRecord
from cardenvs.arena.results.document import Document
from cardenvs.arena.results.statistics import complete_deals
from cardenvs.arena.store import Store
from cardenvs.arena.verify import replay_of
from cardenvs.core.errors import ArenaError, require
from cardenvs.core.events import OMNISCIENT
from cardenvs.core.files import FilePath, write_whole
from cardenvs.core.replay import Replay

_MARK = "site.json"  # a folder with this file is a site and may be overwritten
_PLACES = re.compile(r"(games|replays)/[^/\\]+\.(html|json)")  # of files that a site has besides those at its top
_MOST_KINDS = 8  # kinds of actions with their own colour in a plot
_MOST_FIRST, _MOST_LARGE, _MOST_FAILED = 6, 6, 8  # replays per match, by reason


def write_site(store: Store, board: Document, folder: FilePath) -> Path:
    """Write the site of a board, replacing an older one in the folder. Returns the path of index.html.

    Raises:
        MissingExtraError: matplotlib or jinja2 is not installed.
        ArenaError: the folder contains something other than a site.
    """
    root = Path(folder)
    check_folder(root)
    for old in _written(root):
        (root / old).unlink(missing_ok=True)
    for part in ("games", "replays"):
        (root / part).mkdir(parents=True, exist_ok=True)
    foreign = _files(root)
    write_board_json(board, root / "board.json")
    write_csv(store, board, root / "results.csv")
    site = _Site(store, board, root)
    for game in board["games"]:
        site.write_game(game)
    site.write_index()
    files = sorted(_files(root) - foreign)
    write_whole(root / _MARK, json.dumps({"format": "cardenvs-site", "files": files}, indent=1) + "\n")
    return root / "index.html"


def _files(root: Path) -> set[str]:
    """Return the files of a folder that could be pages or replays of a site."""
    return {path.relative_to(root).as_posix() for part in ("games", "replays") for path in (root / part).glob("*")}


def _written(root: Path) -> list[str]:
    """Return the pages and replays of the site in a folder.

    Raises:
        ArenaError: the list is damaged.
    """
    if not (root / _MARK).is_file():
        return []
    try:
        files = json.loads((root / _MARK).read_bytes())["files"]
        return [file for file in files if _PLACES.fullmatch(file)]
    except (ValueError, KeyError, TypeError):
        raise ArenaError(f"{root / _MARK} is damaged; choose another folder, or remove this one") from None


def check_folder(root: Path) -> None:
    """Check before play starts that a site can be written to a folder.

    Raises:
        MissingExtraError: matplotlib or jinja2 is not installed.
        ArenaError: `root` is not a folder, or contains something other than a site.
    """
    pages.check_page_extra()
    if root.exists() and not root.is_dir():
        raise ArenaError(f"cannot write a site to {root}: it is not a folder")
    if root.is_dir() and any(root.iterdir()) and not (root / _MARK).is_file():
        raise ArenaError(f"{root} is not empty and does not contain a site; choose another folder")


class _Site:
    def __init__(self, store: Store, board: Document, root: Path) -> None:
        self._store, self._board, self._root = store, board, root
        self._slugs = _slugs([game["title"] for game in board["games"]])
        names = list(dict.fromkeys(agent["name"] for game in board["games"] for agent in game["summary"]["agents"]))
        self._colours = {name: pages.colour_of(number) for number, name in enumerate(names)}

    # -- the front page -----------------------------------------------------------------------------------------

    def write_index(self) -> None:
        board, games = self._board, self._board["games"]
        experiment = next((e for e in reversed(self._store.experiments()) if e.name == board["name"]), None)
        classes, failures = failure_rows([behaviour for game in games for behaviour in game["behaviour"]])
        page = pages.render(
            "index.html",
            board=board,
            description="" if experiment is None else experiment.config.get("description", ""),
            overall=[
                {**row, "by_game": [_in_game(game, row["name"]) for game in games]}
                for row in self._rating_rows(board["overall"])
            ],
            cards=[self._card(game) for game in games],
            num_agents=len({row["agent"] for game in games for row in game["summary"]["leaderboard"]}),
            num_games=sum(game["summary"]["games"] for game in games),
            num_deals=sum(game["summary"]["deals"] for game in games),
            overall_note=OVERALL_NOTE,
            ratings_svg=self._ratings_svg(board["overall"]),
            circles=[
                {"slug": self._slugs[game["title"]], "title": game["title"], "text": circle_text(circle)}
                for game in games
                for circle in game["circles"]
            ],
            failures={"classes": classes, "rows": [{"name": name, "counts": counts} for name, counts in failures]},
            digest=self._store.digest()[:16],
            config="" if experiment is None else _yaml(experiment.config),
        )
        write_whole(self._root / "index.html", page)

    def _card(self, game: Document) -> dict[str, Any]:
        summary = game["summary"]
        best = summary["leaderboard"][0]
        return {
            "slug": self._slugs[game["title"]], "title": game["title"], "deals": summary["deals"],
            "games": summary["games"], "best": best["agent"], "mean": f"{best['mean']['mean']:+.3f}",
            "unit": summary["unit"], "colour": self._colours[best["agent"]],
        }  # fmt: skip

    def _rating_rows(self, ratings: Sequence[Document]) -> list[dict[str, Any]]:
        return [{**row, "colour": self._colours[row["name"]]} for row in rating_rows(ratings)]

    def _ratings_svg(self, ratings: Sequence[Document]) -> str:
        rows = [
            (
                rating["agent"], rating["rating"], None if rating["anchored"] else rating["low"], rating["high"],
                self._colours[rating["agent"]],
            )
            for rating in ratings
        ]  # fmt: skip
        return pages.dots_svg(rows, "rating") if rows else ""

    # -- a match ------------------------------------------------------------------------------------------------

    def write_game(self, game: Document) -> None:
        slug, summary = self._slugs[game["title"]], game["summary"]
        match = self._store.match(summary["match"])
        ranking = [row["agent"] for row in summary["leaderboard"]]
        by_agent = {behaviour["agent"]: behaviour for behaviour in game["behaviour"]}
        behaviours = [by_agent[name] for name in ranking]
        players = range(match.options.num_players)
        context = pages.match_context(summary)
        context["title"] = game["title"]
        page = pages.render(
            "game.html",
            **context,
            board_name=self._board["name"],
            plies=f"{game['mean_plies']:.1f}",
            circles=[circle_text(circle) for circle in game["circles"]],
            ratings=self._rating_rows(game["ratings"]),
            ratings_svg=self._ratings_svg(game["ratings"]),
            players=players,
            seats=_seats(game["seats"], ranking, players),
            sampled=game["sampled_games"],
            shares_svg=pages.shares_svg(_kinds(behaviours)),
            behaviour=[_behaviour_row(behaviour) for behaviour in behaviours],
            replays=[self._write_replay(game["title"], slug, match, record) for record in _chosen(self._store, match)],
        )
        write_whole(self._root / "games" / f"{slug}.html", page)

    def _write_replay(self, title: str, slug: str, match: Match, record: GameRecord) -> dict[str, Any]:
        file = f"{slug}-{record.deal}-{record.lineup}"
        replay = replay_of(match, record)
        replay.save(self._root / "replays" / f"{file}.json")
        page = pages.render(
            "replay.html",
            board_name=self._board["name"],
            title=title,
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


def _in_game(game: Document, name: str) -> str:
    return next((f"{rating['rating']:.0f}" for rating in game["ratings"] if rating["agent"] == name), "·")


def _yaml(config: dict[str, Any]) -> str:
    return str(require("yaml", "arena").safe_dump(config, sort_keys=False, allow_unicode=True))


def _seats(seats: Sequence[Document], ranking: Sequence[str], players: Sequence[int]) -> list[dict[str, Any]]:
    most = max(abs(seat["mean"]["mean"]) for seat in seats)
    found = {(seat["agent"], seat["player"]): seat["mean"] for seat in seats}
    return [
        {"name": name, "cells": [pages.heat_cell(found.get((name, player)), most) for player in players]}
        for name in ranking
    ]


def _kinds(behaviours: Sequence[Document]) -> list[tuple[str, dict[str, float]]]:
    """Return each agent's share of each kind of action, with rare kinds combined as "other"."""
    totals: dict[str, int] = {}
    for behaviour in behaviours:
        for kind, count in behaviour["kinds"].items():
            totals[kind] = totals.get(kind, 0) + count
    often = sorted(totals, key=lambda kind: -totals[kind])
    shown = often if len(often) <= _MOST_KINDS else often[: _MOST_KINDS - 1]
    rows = []
    for behaviour in behaviours:
        whole = max(1, sum(behaviour["kinds"].values()))
        shares = {kind: behaviour["kinds"].get(kind, 0) / whole for kind in shown}
        if len(shown) < len(often):
            shares["other"] = shares.get("other", 0.0) + max(0.0, 1 - sum(shares.values()))
        rows.append((behaviour["agent"], shares))
    return rows


def _behaviour_row(behaviour: Document) -> dict[str, str]:
    return {
        "name": behaviour["agent"],
        "decisions": str(behaviour["decisions"]),
        "ms": f"{behaviour['decision_ms']:.2f}",
        "choices": f"{behaviour['mean_choices']:.1f}",
        "only_one": f"{100 * behaviour['only_one_choice']:.0f}%",
        "failures": ", ".join(f"{kind} {count}" for kind, count in behaviour["failures"].items()) or "-",
        "forced": str(behaviour["outcomes"].get("forced", 0)),
        "forfeits": str(behaviour["outcomes"].get("forfeit", 0)),
    }


def _chosen(store: Store, match: Match) -> list[GameRecord]:
    """Return the games to show: of the first deal, with the largest results, and with failures."""
    games = [game for deal in complete_deals(match, store.results(match.id)) for game in deal]
    wanted = [(games[0].deal, lineup) for lineup in range(min(_MOST_FIRST, len(match.lineups)))]
    large = sorted((-max(map(abs, game.returns)), game.deal, game.lineup) for game in games)
    wanted += [(deal, lineup) for _, deal, lineup in large[:_MOST_LARGE]]
    wanted += [(game.deal, game.lineup) for game in games if any(game.failures)][:_MOST_FAILED]
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
