"""One client's session: the matches that it plays, and what it is told."""

import json
import logging
import secrets
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cardenvs.agents.base import Turn
from cardenvs.agents.guarded.limits import AgentLimits
from cardenvs.agents.terminal import choice, offered
from cardenvs.agents.zoo import zoo_names
from cardenvs.arena.match import Match
from cardenvs.arena.run import run
from cardenvs.arena.schedule import FIXED
from cardenvs.arena.store import Store
from cardenvs.core.errors import AgentError, ArenaError, CardenvsError
from cardenvs.core.game import Game
from cardenvs.core.options import Options
from cardenvs.core.registry import get_game, list_games
from cardenvs.core.text import did_you_mean
from cardenvs.core.view import Candidate
from cardenvs.mcp.seat import ClientSeat, SeatedGame, register, unregister

_log = logging.getLogger("cardenvs.mcp")

MOVES_SHOWN = 40  # moves in one answer; `list_moves` has the others
_MOST_MOVES = 200
_MOST_LINES = 60  # events in one answer
_ANSWER_WITHIN = 25.0  # seconds; clients give up after some time
_SEARCHES = ("search", "ismcts")


class RefusedError(CardenvsError):
    """A request that cannot be granted; the message is for the client."""


class _LeftError(Exception):
    """The client has left, so no further game begins."""


@dataclass(frozen=True)
class Appointment:
    """A match that the operator has arranged: the client plays its games in order, and cannot start others."""

    game: Game
    options: Options
    opponents: tuple[str, ...]  # specs; repeated in turn if there are more seats
    deals: int
    seed: int | None = None

    def matches(self, name: str, limits: AgentLimits) -> list[Match]:
        """Return a match for each seat, with deals of its own, so that the client never sees the same cards twice.

        Raises:
            AgentError, ArenaError, MissingExtraError: an opponent cannot be made.
        """
        players = self.options.num_players
        found = []
        for seat in range(players):
            deals = self.deals // players + (seat < self.deals % players)
            if deals:
                seed = None if self.seed is None else self.seed + seat
                found.append(_match(self.game, self.options, name, seat, self.opponents, deals, seed, limits))
        return found


def _match(
    game: Game,
    options: Options,
    name: str,
    seat: int,
    opponents: Sequence[str],
    deals: int,
    seed: int | None,
    limits: AgentLimits,
) -> Match:
    others = [opponents[k % len(opponents)] for k in range(options.num_players - 1)]
    specs = [*others[:seat], f"mcp:{name}", *others[seat:]]
    return Match.make(game, options, specs, deals, seed, schedule=FIXED, guard=limits)


class Session:
    """The games of one client. Its methods may be called from any thread, also at the same time."""

    def __init__(
        self,
        *,
        name: str = "client",
        appointment: Appointment | None = None,
        store: Path | None = None,
        resume: bool = False,
        seconds: float | None = None,
    ) -> None:
        """Open a session.

        Args:
            name: name of the client in results.
            appointment: the match to play; None: the client starts single games of its choice.
            store: path of an SQLite file for the games; None keeps none.
            resume: go on with the appointment that the store has games of.
            seconds: time for a decision, after which the game is forfeited; None: no limit.
        """
        self._store, self._resume, self._appointment = store, resume, appointment
        self._limits = AgentLimits(time_limit=seconds, tries=1)
        self._spec = f"{name}-{secrets.token_hex(4)}" if appointment is None else name
        self._seat = ClientSeat(seconds)
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()  # held while a game begins and while results are taken
        self._failure = ""  # why the match could not be played
        register(self._spec, self._seat)
        if appointment is not None:
            self._play(appointment.matches(self._spec, self._limits))

    @property
    def is_appointed(self) -> bool:
        """Whether the operator has chosen what is played."""
        return self._appointment is not None

    def close(self) -> None:
        """End the session: the game in progress is forfeited, and no other begins."""
        self._seat.leave()
        if self._thread is not None:
            self._thread.join()
        unregister(self._spec)

    # -- what is played -----------------------------------------------------------------------------------------

    def games(self) -> list[dict[str, Any]]:
        """Return the games that there are, as JSON values."""
        found = []
        for game in map(get_game, list_games()):
            options = game.make_options()
            found.append({"name": game.name, "title": game.title, "players": options.num_players})
        return found

    def rules(self, name: str) -> str:
        """Return the rules of a game, Markdown.

        Raises:
            GameNotFoundError: there is no such game.
        """
        return get_game(name).rules_text

    def start(self, name: str, opponent: str = "", options: dict[str, Any] | None = None, seat: int = 0) -> str:
        """Start a game, and return what `look` does.

        Args:
            name: name of the game.
            opponent: who has the other seats; "" is the game's usual opponent.
            options: options of the game.
            seat: the client's player, from 0.

        Raises:
            RefusedError: the operator has arranged a match, a game is in progress, or an argument is wrong.
            CardenvsError: there is no such game, or an option is wrong.
        """
        if self.is_appointed:
            raise RefusedError("This session has its match already; `look` shows the game.")
        game = get_game(name)
        checked = game.make_options(**(options or {}))
        opponent = opponent or game.default_opponent
        _check_opponent(opponent, game)
        if not 0 <= seat < checked.num_players:
            raise RefusedError(f"The seats of this game are 0 to {checked.num_players - 1}; got {seat}.")
        match = _match(game, checked, self._spec, seat, (opponent,), 1, None, self._limits)
        with self._lock:
            if self._is_playing:
                raise RefusedError("Your game is not over. Finish it, or `resign` first.")
            self._play([match])
        return self.look()

    def _play(self, matches: list[Match]) -> None:
        self._failure = ""
        self._thread = threading.Thread(target=self._run, args=(matches,), daemon=True)
        self._thread.start()

    def _run(self, matches: list[Match]) -> None:
        """Play matches; runs in a thread of its own."""
        try:
            with Store(self._store) as store:
                run(matches, store, resume=self._resume, each=self._after_a_game)
        except _LeftError:
            pass
        except (AgentError, ArenaError) as error:
            self._failure = str(error)
        except Exception:  # the client is told that it failed, and the operator why
            _log.exception("a match failed")
            self._failure = "The game broke off by an error of the server."
        finally:
            self._seat.wake()

    def _after_a_game(self, *_: Any) -> None:
        if self._seat.is_closed:
            raise _LeftError

    @property
    def _is_playing(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    # -- what the client is told --------------------------------------------------------------------------------

    def look(self) -> str:
        """Return the table, what has happened, and the moves, after waiting for the client's turn for a while."""
        self._wait_for_turn()
        parts = [self._told_result(game) for game in self._taken_finished()]
        turn = self._seat.asked(self._told_turn)
        if turn is not None:
            parts.append(turn)
        elif self._is_playing:
            parts.append("The others are thinking; `look` again.")
        else:
            parts.append(self._told_end())
        return "\n\n".join(parts)

    def moves(self, contains: str = "", first: int = 1) -> str:
        """Return the legal moves whose label contains a text, up to 200 from number `first` on.

        Raises:
            RefusedError: it is not the client's turn.
        """
        self._wait_for_turn()
        found = self._seat.asked(lambda turn: [(k, one.label) for k, one in enumerate(offered(turn), 1)])
        if found is None:
            raise _not_your_turn()
        wanted = [(k, label) for k, label in found if contains.casefold() in label.casefold() and k >= first]
        shown = [f"{k}. {label}" for k, label in wanted[:_MOST_MOVES]]
        if len(wanted) > len(shown):
            shown.append(f"... {len(wanted) - len(shown)} more; go on with first={wanted[len(shown)][0]}")
        return "\n".join(shown) or f"None of the {len(found)} moves contains {contains!r}."

    def play(self, move: str) -> str:
        """Make a move, by its label or number, and return what `look` does afterwards.

        Raises:
            RefusedError: there is no such move, or it is not the client's turn.
        """
        self._wait_for_turn()
        if not self._seat.choose(lambda turn, offers: _chosen(turn, offers, move)):
            raise _not_your_turn()
        return self.look()

    def recap(self) -> str:
        """Return all that the client has seen of the current or latest game, a line an event."""
        return "\n".join(self._current().lines()) or "Nothing has happened yet."

    def facts(self) -> dict[str, Any]:
        """Return what a careful player would have deduced at the client's turn, as JSON values.

        Raises:
            RefusedError: it is not the client's turn.
        """
        self._check_begun()
        found = self._seat.asked(lambda turn: turn.facts)
        if found is None:
            raise _not_your_turn()
        return found

    def resign(self) -> str:
        """Forfeit the game, which costs as much as the worst result that was still possible; then as `look`.

        Raises:
            RefusedError: no game is in progress.
        """
        if not self._is_playing:
            raise RefusedError("There is no game to resign.")
        self._seat.resign()
        return self.look()

    def _wait_for_turn(self) -> None:
        """Wait until the client is to move or all games are over, but not for long."""
        self._check_begun()
        self._seat.wait(_ANSWER_WITHIN, lambda: not self._is_playing)

    def _check_begun(self) -> None:
        if self._thread is None:
            raise RefusedError("No game has begun. `list_games` names the games, and `start_game` starts one.")

    def _current(self) -> SeatedGame:
        self._check_begun()
        if self._seat.current is None:
            raise RefusedError("The game is about to begin; `look` at it.")
        return self._seat.current

    def _taken_finished(self) -> list[SeatedGame]:
        with self._lock:
            taken = list(self._seat.finished)
            del self._seat.finished[: len(taken)]
            return taken

    def _told_turn(self, turn: Turn) -> str:
        game = self._seat.current
        assert game is not None
        offers = [one.label for one in offered(turn)]
        moves = [f"{k}. {label}" for k, label in enumerate(offers[:MOVES_SHOWN], 1)]
        if len(offers) > len(moves):
            moves.append(f"... {len(offers) - len(moves)} more; `list_moves` has them all")
        return "\n\n".join(
            [
                f"{game.game.title}, game {game.number}. You are player_{turn.player}.",
                *_news(game),
                turn.render(),
                f"{turn.prompt} `play` one of {len(offers)} moves, by its words or number:\n" + "\n".join(moves),
                *([f"Or as JSON: {form}"] if (form := turn.game.view.answer_form()) else []),
            ]
        )

    def _told_result(self, game: SeatedGame) -> str:
        assert game.returns is not None
        returns = game.game.returns(game.options)
        results = [f"player_{p} {returns.result_factor * one:+g}" for p, one in enumerate(game.returns)]
        return "\n\n".join(
            [
                f"{game.game.title}, game {game.number}, is over. You were player_{game.player}.",
                *_news(game),
                f"Results in {returns.result_unit_label}: {', '.join(results)}.",
            ]
        )

    def _told_end(self) -> str:
        if self._failure:
            return f"The match cannot go on: {self._failure}"
        return "All games of the match are over." if self.is_appointed else "`start_game` starts another one."


def _not_your_turn() -> RefusedError:
    return RefusedError("It is not your turn; `look` shows what has happened.")


def _news(game: SeatedGame) -> list[str]:
    """Return a paragraph with what the client has not been told yet, if anything."""
    lines = game.lines(game.told)
    game.told = len(game.events)
    if not lines:
        return []
    shown = [f"- {line}" for line in lines[-_MOST_LINES:]]
    if len(lines) > len(shown):
        shown.insert(0, f"- ... {len(lines) - len(shown)} earlier events; `recap` has them")
    return ["Since you last looked:\n" + "\n".join(shown)]


def _chosen(turn: Turn, offers: list[Candidate], move: str) -> tuple[int, ...]:
    """Return the actions of a move: its number or words, or JSON in the game's own form.

    Raises:
        RefusedError: there is no such move.
    """
    text = " ".join(move.split())
    if text.startswith("{"):
        return turn.actions_from_answer(_read_object(text))
    try:
        return offers[choice(text, [one.label for one in offers], range(len(offers)), turn.game.view.label_key)].actions
    except ValueError as error:
        raise RefusedError(str(error)) from None


def _read_object(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise RefusedError("The move begins like JSON, but cannot be read as such.") from None
    if not isinstance(found, dict):
        raise RefusedError("The move has to be a JSON object, in the form that `look` shows.")
    return found


def _check_opponent(opponent: str, game: Game) -> None:
    """Check that a client may choose an opponent: nothing that reads a file, calls an address or never ends.

    Raises:
        RefusedError: it may not.
    """
    zoo = [f"zoo:{name}" for name in zoo_names() if name.startswith(f"{game.name}/")]
    allowed = [*game.engine.policy_names(), *_SEARCHES, *zoo]
    if opponent not in allowed:
        hint = did_you_mean(opponent, allowed)
        raise RefusedError(f"There is no opponent {opponent[:80]!r} here; {hint}there are {', '.join(allowed)}.")
