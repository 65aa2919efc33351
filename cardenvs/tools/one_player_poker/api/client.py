"""A client of the API.

player = PokerClient("http://127.0.0.1:8000")
game = player.start("practice", "easy")
game = player.discard(game.game_id, [0, 3])
game = player.play(game.game_id, [0, 1, 2, 3, 4])
print(game.state.score_total, game.ai_hint)
"""

import json
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from http.client import HTTPException
from http.cookiejar import CookieJar
from typing import Any, TypeVar
from urllib.parse import quote

from pydantic import BaseModel, ValidationError

from cardenvs.core.errors import CardenvsError
from cardenvs.tools.one_player_poker.api import schema

_MOST_BYTES = 1 << 22
_CHUNK_BYTES = 1 << 16
_Model = TypeVar("_Model", bound=BaseModel)


class PokerError(CardenvsError):
    """The server refused a request or cannot be reached."""

    def __init__(self, status: int, code: str, params: dict[str, Any]) -> None:
        super().__init__(f"{code}: {params.get('reason', params) or status}")
        self.status = status  # HTTP status, 0 without a response
        self.code = code  # error code, such as "INVALID_ACTION"
        self.params = params  # details, such as {"reason": "play_requires_five"}


class PokerClient:
    """Plays games on a server. Keeps the cookie by which the server recognises its games.

    All methods raise PokerError if the server refuses the request or cannot be reached.
    """

    def __init__(self, url: str, timeout: float = 10.0) -> None:
        """Create a client without connecting.

        Args:
            url: address of the server, such as "http://127.0.0.1:8000".
            timeout: seconds to wait for a response, and for its whole body.
        """
        self._url, self._timeout = url.rstrip("/"), timeout
        cookies = urllib.request.HTTPCookieProcessor(CookieJar())
        self._opener = urllib.request.build_opener(cookies, _NoRedirection)

    def tiers(self) -> list[schema.TierInfo]:
        """Return the tiers of difficulty and their targets."""
        return self._ask(schema.TiersResponse, "tiers").tiers

    def start(
        self, mode: schema.Mode, difficulty_tier: str = "medium", seed: int | None = None, *, hints: bool = True,
        jumps: bool = True,
    ) -> schema.GameResponse:  # fmt: skip
        """Start a game. Without a seed, the server draws one."""
        wanted = {"mode": mode, "difficulty_tier": difficulty_tier, "seed": seed}
        wishes = {"hint_request": {"enabled": hints}, "jump_request": {"enabled": jumps}}
        return self._ask(schema.GameResponse, "start", wanted | wishes)

    def play(
        self, game_id: str, positions: Sequence[int], *, hint: bool = True, step_index: int | None = None
    ) -> schema.GameResponse:
        """Play five cards by their positions in the hand, 0 to 6.

        `hint` asks for a hint for the next position, which uses one of a limited budget. With `step_index`, the server
        refuses the action at any other step.
        """
        return self._step(game_id, "PLAY", positions, hint, step_index)

    def discard(
        self, game_id: str, positions: Sequence[int], *, hint: bool = True, step_index: int | None = None
    ) -> schema.GameResponse:
        """Discard cards by their positions in the hand. Arguments as in `play`."""
        return self._step(game_id, "DISCARD", positions, hint, step_index)

    def jump(self, game_id: str, step_index: int, *, hint: bool = True) -> schema.GameResponse:
        """Go to another step of the history."""
        wanted = {"game_id": game_id, "step_index": step_index, "hint_request": {"enabled": hint}}
        return self._ask(schema.GameResponse, "jump", wanted)

    def hint(self, game_id: str) -> schema.GameResponse:
        """Ask for a hint for the present position."""
        return self._ask(schema.GameResponse, "hint", {"game_id": game_id})

    def look(self, game_id: str) -> schema.GameResponse:
        """Return the present state of a game."""
        return self._ask(schema.GameResponse, quote(game_id, safe=""))

    def games(self) -> list[schema.ListedGame]:
        """Return the games started by this client, newest first."""
        return self._ask(schema.ListResponse, "list").games

    def trace(self, game_id: str) -> list[schema.TraceStep]:
        """Return the rule agent's advice at all positions seen. Afterwards, a challenge allows no more jumps."""
        return self._ask(schema.TraceResponse, f"{quote(game_id, safe='')}/ai_trace").steps

    def _step(
        self, game_id: str, kind: str, positions: Sequence[int], hint: bool, step_index: int | None
    ) -> schema.GameResponse:
        action = {"type": kind, "selected_indices": list(positions)}
        wanted = {"game_id": game_id, "action": action, "hint_request": {"enabled": hint}, "step_index": step_index}
        return self._ask(schema.GameResponse, "step", wanted)

    def _ask(self, model: type[_Model], path: str, body: dict[str, Any] | None = None) -> _Model:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self._url}/game/{path}", data, {"content-type": "application/json"})
        try:
            with self._opener.open(request, timeout=self._timeout) as answer:
                return model.model_validate_json(self._body(answer))
        except urllib.error.HTTPError as error:
            raise self._error_of(error) from None
        except (OSError, HTTPException, ValidationError) as error:
            what = "sends something else" if isinstance(error, ValidationError) else "cannot be reached"
            raise PokerError(0, "NO_ANSWER", {"reason": f"the server {what}: {error}"}) from None

    def _error_of(self, error: urllib.error.HTTPError) -> PokerError:
        try:
            found = schema.ErrorResponse.model_validate_json(self._body(error)).error
        except (OSError, HTTPException, ValidationError):
            return PokerError(error.code, "HTTP_ERROR", {})
        return PokerError(error.code, found.code, found.params)

    def _body(self, answer: Any) -> bytes:
        """Read the body of a response, with bounds on its length and time: the server may be any server."""
        body, end = b"", time.monotonic() + self._timeout
        while chunk := answer.read1(_CHUNK_BYTES):
            body += chunk
            if len(body) > _MOST_BYTES or time.monotonic() > end:
                raise OSError("it does not end")
        return body


class _NoRedirection(urllib.request.HTTPRedirectHandler):
    """Follows no redirections, because urllib reads their bodies without a bound."""

    def redirect_request(self, *_: Any) -> None:
        return None
