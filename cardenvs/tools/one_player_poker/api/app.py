"""The API of one-player poker.

GET  /game                      the page
GET  /game/tiers                tiers and their targets
POST /game/start                a new game
POST /game/step                 an action
POST /game/jump                 go to another step of the history
POST /game/hint                 a hint for the present position
GET  /game/list                 the client's games
GET  /game/GAME_ID              the present state of a game
GET  /game/GAME_ID/ai_trace     what the rule agent would have done
GET  /game/openapi.json         the schema of the API
"""

import json
import logging
import secrets
import time
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cardenvs import __version__
from cardenvs.core.state import State
from cardenvs.games.one_player_poker.rules import HAND_SIZE, POINTS
from cardenvs.kits.poker_hands import CATEGORIES
from cardenvs.server.http import bounded, check_post, client_address, failure_handlers
from cardenvs.server.rate import Rate
from cardenvs.tools.one_player_poker.api import schema
from cardenvs.tools.one_player_poker.api.advice import POLICY, hint, trace
from cardenvs.tools.one_player_poker.api.errors import ApiError
from cardenvs.tools.one_player_poker.api.pools import Pools, deck_seed, fresh_seed
from cardenvs.tools.one_player_poker.api.session import (
    ACTIONS,
    CHALLENGE,
    OFF,
    PLAY,
    PRACTICE,
    Policy,
    Session,
    checked_action,
    hand_texts,
    state_json,
)  # fmt: skip
from cardenvs.tools.one_player_poker.api.settings import PokerSettings
from cardenvs.tools.one_player_poker.api.store import Games, Kept

_log = logging.getLogger("cardenvs.tools.one_player_poker.api")
_COOKIE = "cardenvs_client"
_COOKIE_DAYS = 365
_DAY = 86_400
_MOST_LISTED = 100
_CATEGORY_KEYS = [category.upper().replace(" ", "_") for category in CATEGORIES]
_HTTP_CODES = {
    400: "BAD_JSON", 403: "OTHER_SITE", 404: "NOT_FOUND", 405: "METHOD_NOT_ALLOWED", 413: "BODY_TOO_LARGE",
    415: "UNSUPPORTED_MEDIA_TYPE", 429: "TOO_MANY_REQUESTS",
}  # fmt: skip


def make_game_app(games: Games, pools: Pools, settings: PokerSettings, body_bytes: int = 1 << 16) -> FastAPI:
    """Return the ASGI application of the API; its paths begin with /game, and bodies have at most `body_bytes`."""
    app = FastAPI(
        title="One-player poker",
        summary="Seven cards, four plays of five, ten discards. The server deals, scores and keeps every game.",
        version=__version__,
        openapi_url="/game/openapi.json",
        docs_url=None,  # the documentation pages load scripts from other hosts
        redoc_url=None,
        redirect_slashes=False,
        exception_handlers={
            ApiError: _refused, HTTPException: _http_error, RequestValidationError: _bad_request,
            **failure_handlers(_failed),
        },
        middleware=[Middleware(_Guard, requests_per_second=settings.requests_per_second)],
    )  # fmt: skip
    app.router.route_class = _checked_route(body_bytes)
    api = _Api(games, pools, settings)
    for method, path, call, model, errors in (
        ("GET", "/game/tiers", api.tiers, schema.TiersResponse, ()),
        ("POST", "/game/start", api.start, schema.GameResponse, ()),
        ("POST", "/game/step", api.step, schema.GameResponse, (404, 409)),
        ("POST", "/game/jump", api.jump, schema.GameResponse, (403, 404, 409)),
        ("POST", "/game/hint", api.give_hint, schema.GameResponse, (403, 404, 409)),
        ("GET", "/game/list", api.list_games, schema.ListResponse, ()),
        ("GET", "/game/{game_id}", api.look, schema.GameResponse, (404,)),
        ("GET", "/game/{game_id}/ai_trace", api.ai_trace, schema.TraceResponse, (403, 404, 409)),
    ):
        usual = (400, 403, 413, 415, 422, 429, 503) if method == "POST" else (429, 503)
        responses: dict[int | str, dict[str, Any]] = {200: {"model": model}}
        responses |= {status: {"model": schema.ErrorResponse} for status in sorted({*usual, *errors})}
        app.add_api_route(path, call, methods=[method], responses=responses, response_class=JSONResponse)
        if method == "POST":  # otherwise GET /game/start would look for a game with the id "start"
            app.add_api_route(path, _only_post, methods=["GET"], include_in_schema=False)
    described = app.openapi()  # FastAPI caches it
    described["components"]["schemas"]["StartRequest"]["properties"]["difficulty_tier"]["enum"] = pools.tiers
    return app


class _Api:
    """The handlers. None awaits between reading and writing a game, so concurrent requests cannot both apply."""

    def __init__(self, games: Games, pools: Pools, settings: PokerSettings) -> None:
        self._games, self._pools, self._settings = games, pools, settings
        self._starts = Rate(settings.new_games_per_minute)
        self._is_ready = False

    async def _ready(self) -> None:
        """Load the game's code in a thread, since it may have to be compiled."""
        if not self._is_ready:
            await run_in_threadpool(_warm_up)
            self._is_ready = True

    async def tiers(self) -> Response:
        """The tiers and the score that each asks for in a challenge."""
        found = self._pools.manifest.tiers
        return JSONResponse(
            {"tiers": [{"difficulty_tier": name, "target_score": tier.target_score} for name, tier in found.items()]}
        )

    async def start(self, wanted: schema.StartRequest, request: Request) -> Response:
        """Start a new game."""
        await self._ready()
        pools, mode, tier = self._pools, wanted.mode, wanted.difficulty_tier
        if tier not in pools.tiers:
            raise ApiError(422, "INVALID_REQUEST", field="difficulty_tier", reason="unknown_tier", known=pools.tiers)
        is_prize = mode == CHALLENGE and bool(pools.key)
        if wanted.seed is not None and is_prize:
            raise ApiError(422, "INVALID_REQUEST", field="seed", reason="challenges_draw_their_seed")
        address = client_address(request.scope)
        if not self._starts.allows(address):
            raise ApiError(429, "TOO_MANY_REQUESTS", reason="new_games", per_minute=self._settings.new_games_per_minute)
        most = self._settings.open_challenges
        if is_prize and self._games.open_challenges(address) >= most:
            raise ApiError(429, "TOO_MANY_REQUESTS", reason="unfinished_challenges", challenges=most)
        if wanted.seed is not None:
            seed = wanted.seed
        else:
            seed = fresh_seed(pools, tier) if is_prize else pools.draw(mode, tier)
        hints, jumps = pools.policies(mode, tier, wanted.hint_request.enabled, wanted.jump_request.enabled)
        session = Session(
            seed, deck_seed(pools.key, mode, seed), mode, tier, pools.target(mode, tier), hint=hints, jump=jumps
        )
        client = request.cookies.get(_COOKIE, "")
        is_new = not 0 < len(client) <= 64
        client = secrets.token_urlsafe(24) if is_new else client
        kept = self._games.add(client, address, session)
        told = {} if kept.shown_seed is None else {"seed": seed}
        answer = self._answer(kept, [_event("info", "game.started", **told)])
        if is_new:
            answer.set_cookie(
                _COOKIE, client, max_age=_COOKIE_DAYS * _DAY, path="/game", httponly=True, samesite="strict",
                secure=request.url.scheme == "https",
            )  # fmt: skip
        return answer

    async def step(self, wanted: schema.StepRequest) -> Response:
        """Apply one action."""
        await self._ready()
        kept = self._games.find(wanted.game_id)
        session = kept.session
        if wanted.step_index is not None and wanted.step_index != session.step:
            raise ApiError(409, "STALE_STEP", reason="the_game_stands_elsewhere", step_index=session.step)
        state = session.state()
        action = checked_action(state, wanted.action.type, wanted.action.selected_indices)
        before = hand_texts(state)
        state.apply(action)
        return self._changed(
            kept, session.acted(action), state, _events_of(session, state, before, action), wanted.hint_request.enabled
        )

    async def jump(self, wanted: schema.JumpRequest) -> Response:
        """Go to a step of the history, by replaying the game up to there."""
        await self._ready()
        kept = self._games.find(wanted.game_id)
        session = kept.session.jumped(wanted.step_index)
        events = [_event("info", "game.jumped", step_index=session.step)]
        return self._changed(kept, session, session.state(), events, wanted.hint_request.enabled)

    async def give_hint(self, wanted: schema.HintRequest) -> Response:
        """Tell what the rule agent would do; uses one hint of a limited budget."""
        await self._ready()
        kept = self._games.find(wanted.game_id)
        state = kept.session.state()
        if state.is_terminal:
            raise ApiError(409, "GAME_ENDED", reason="no_plays_remaining")
        kept.session.hint.check("HINT_NOT_ALLOWED")
        return self._changed(kept, kept.session, state, [], True)

    async def list_games(self, request: Request) -> Response:
        """The games that this client began, as its cookie tells; the newest 100."""
        await self._ready()
        client = request.cookies.get(_COOKIE)
        found = self._games.of_client(client, _MOST_LISTED) if client else []
        return JSONResponse({"games": [_listed(kept) for kept in found]})

    async def look(self, game_id: str) -> Response:
        """A game as it stands."""
        await self._ready()
        return self._answer(self._games.find(game_id), [])

    async def ai_trace(self, game_id: str) -> Response:
        """The rule agent's advice in every position that the player has seen.

        In a challenge it is there once the game is over, and no jump leads back from then on.
        """
        await self._ready()
        kept = self._games.find(game_id)
        session = kept.session
        if session.mode == CHALLENGE and not session.is_revealed:
            state = session.state()
            if not state.is_terminal:
                raise ApiError(403, "TRACE_NOT_AVAILABLE", reason="challenge_not_over")
            self._games.change(kept, replace(session, is_revealed=True), state)
        made = self._pools.traces.get((session.mode, session.seed), [])
        return JSONResponse({"game_id": game_id, "policy": POLICY, "steps": trace(session, made)})

    def _changed(self, kept: Kept, session: Session, state: State, events: list[Any], with_hint: bool) -> Response:
        """Write a changed session. Return the response, with a hint if one is wanted and allowed."""
        advice = None
        if with_hint and session.hint.allows and not state.is_terminal:
            session, advice = replace(session, hint=session.hint.spent()), hint(state)
        return self._answer(self._games.change(kept, session, state), events, state, advice)

    def _answer(self, kept: Kept, events: list[Any], state: State | None = None, advice: Any = None) -> JSONResponse:
        session = kept.session
        answer = {
            **_identity(kept),
            **session.hint.fields("hint"),
            **session.jump.fields("jump"),
            "target_score": session.target,
            "step_index": session.step,
            "history_len": len(session.history),
            "state": state_json(session.state() if state is None else state),
            "events": events,
        }
        return JSONResponse(answer if advice is None else {**answer, "ai_hint": advice})


def _warm_up() -> None:
    session = Session(0, 0, PRACTICE, "", None, Policy(OFF), Policy(OFF), history=(0,), step=1)
    state_json(session.state())
    hint(session.state())


def _event(kind: str, key: str, **params: Any) -> dict[str, Any]:
    return {"type": kind, "message_key": key, "params": params}


def _events_of(session: Session, state: State, before: list[str], action: int) -> list[dict[str, Any]]:
    """Return the events of an action, from the hand before it and the state after it."""
    kind, positions = ACTIONS[action]
    cards, drawn = [before[k] for k in positions], hand_texts(state)[HAND_SIZE - len(positions) :]
    record = state.record
    if kind != PLAY:
        left = int(record.discards_left)
        return [_event("discard", "cards.discarded", cards=cards, drawn=drawn, d_remaining=left)]
    category = int(record.categories[int(record.num_played) - 1])
    total = int(record.score)
    scored = _event(
        "score", "play.scored", category=_CATEGORY_KEYS[category], points=int(POINTS[category]), cards=cards,
        drawn=drawn, score_total=total,
    )  # fmt: skip
    if not state.is_terminal:
        return [scored]
    events = [scored, _event("info", "game.ended", score_total=total)]
    if session.target is not None:
        key = "game.passed" if total >= session.target else "game.failed"
        events.append(_event("result", key, score_total=total, target_score=session.target))
    return events


def _identity(kept: Kept) -> dict[str, Any]:
    session = kept.session
    return {
        "game_id": kept.game_id, "seed": kept.shown_seed, "mode": session.mode, "difficulty_tier": session.tier,
    }  # fmt: skip


def _listed(kept: Kept) -> dict[str, Any]:
    session = kept.session
    return {
        **_identity(kept),
        "target_score": session.target,
        "step_index": session.step,
        "history_len": len(session.history),
        "score_total": kept.score,
        "is_over": kept.is_over,
        "begun": kept.begun,
    }


# -- errors -------------------------------------------------------------------------------------------------------


async def _only_post() -> Response:
    raise HTTPException(405, headers={"Allow": "POST"})


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, ApiError)
    return JSONResponse(error.body(), error.status)


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    code = _HTTP_CODES.get(error.status_code, "HTTP_ERROR")
    return JSONResponse(ApiError(error.status_code, code).body(), error.status_code, error.headers)


async def _bad_request(request: Request, error: Exception) -> Response:
    """Report the first fault of a request without quoting the request."""
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    if first["type"] == "json_invalid":
        return JSONResponse(ApiError(400, "BAD_JSON").body(), 400)
    where = ".".join(str(part) for part in first["loc"][1:] if isinstance(part, int) or part.isidentifier())
    return JSONResponse(ApiError(422, "INVALID_REQUEST", field=where[:100], reason=first["type"]).body(), 422)


def _failed(status: int) -> Response:
    if status == 503:
        return JSONResponse(ApiError(503, "NOT_KEPT", reason="the_server_cannot_write").body(), 503)
    return JSONResponse(ApiError(status, "INTERNAL_ERROR").body(), status)


# -- checks before a request is read ------------------------------------------------------------------------------


def _checked_route(most: int) -> type[APIRoute]:
    """Return a class of routes that check a POST request before FastAPI reads its body of up to `most` bytes."""

    class CheckedRoute(APIRoute):
        def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
            handle = super().get_route_handler()

            async def checked(request: Request) -> Response:
                if request.method == "POST":
                    check_post(request.headers, most)
                return await handle(Request(request.scope, bounded(request.receive, most)))

            return checked

    return CheckedRoute


class _Guard:
    """Bounds how often each client sends requests, and logs every request."""

    def __init__(self, app: ASGIApp, requests_per_second: float) -> None:
        self._app = app
        self._rate = Rate(60 * requests_per_second, 4 * requests_per_second)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        begun, status = time.perf_counter(), 500

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        allowed = self._rate.allows(client_address(scope))
        app = self._app if allowed else JSONResponse(ApiError(429, _HTTP_CODES[429]).body(), 429)
        try:
            await app(scope, receive, noting)
        finally:
            if _log.isEnabledFor(logging.INFO):
                _log.info(_line(scope, status, time.perf_counter() - begun))


def _line(scope: Scope, status: int, seconds: float) -> str:
    """Return the log line of a request: JSON without ids, cookies, addresses or bodies."""
    route = getattr(scope.get("route"), "path", "")
    fields = {"method": scope["method"], "route": route, "status": status, "ms": round(1000 * seconds, 3)}
    return json.dumps(fields)
