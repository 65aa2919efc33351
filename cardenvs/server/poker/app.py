"""The API of one-player poker.

GET  /game                      the page
GET  /game/tiers                tiers and their targets
POST /game/start                a new game
POST /game/step                 an action
POST /game/jump                 to another step of the history
POST /game/hint                 a hint for the position as it is
GET  /game/list                 the client's games, for one that lost an id
GET  /game/GAME_ID              a game as it stands
GET  /game/GAME_ID/ai_trace     what the rule agent would have done
GET  /game/openapi.json         the schema of all this
"""

import json
import logging
import secrets
import sqlite3
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cardenvs import __version__
from cardenvs.core.state import State
from cardenvs.games.one_player_poker.categories import CATEGORIES
from cardenvs.games.one_player_poker.rules import POINTS
from cardenvs.server.address import client_address, is_other_site
from cardenvs.server.poker import schema
from cardenvs.server.poker.advice import POLICY, hint, trace
from cardenvs.server.poker.errors import ApiError
from cardenvs.server.poker.pools import Pools
from cardenvs.server.poker.prizes import fresh_seed
from cardenvs.server.poker.session import (
    CHALLENGE,
    HAND_SIZE,
    OFF,
    PLAY,
    POSITIONS,
    PRACTICE,
    Policy,
    Session,
    checked_action,
    hand_texts,
    state_json,
)  # fmt: skip
from cardenvs.server.poker.store import Games, Kept
from cardenvs.server.rate import Rate
from cardenvs.server.settings import Limits

_log = logging.getLogger("cardenvs.server.poker")
_COOKIE = "cardenvs_client"
_COOKIE_DAYS = 365
_DAY = 86_400
_MOST_LISTED = 100
_POSTED = {f"/game/{name}" for name in ("start", "step", "jump", "hint")}
_CATEGORY_KEYS = [category.upper().replace(" ", "_") for category in CATEGORIES]
_HTTP_CODES = {
    400: "BAD_JSON", 403: "OTHER_SITE", 404: "NOT_FOUND", 405: "METHOD_NOT_ALLOWED", 413: "BODY_TOO_LARGE",
    415: "UNSUPPORTED_MEDIA_TYPE", 429: "TOO_MANY_REQUESTS",
}  # fmt: skip


def make_game_app(games: Games, pools: Pools, limits: Limits) -> FastAPI:
    """Return the ASGI application of the API; its paths begin with /game."""
    app = FastAPI(
        title="One-player poker",
        summary="Seven cards, four plays of five, ten discards. The server deals, scores and keeps every game.",
        version=__version__,
        openapi_url="/game/openapi.json",
        docs_url=None,  # they load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
        exception_handlers={
            ApiError: _refused, HTTPException: _http_error, RequestValidationError: _bad_request,
            sqlite3.Error: _not_kept, Exception: _broken,
        },
        middleware=[Middleware(_Guard, limits=limits)],
    )  # fmt: skip
    api = _Api(games, pools, limits)
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
        if method == "POST":  # else "start" and the like would be taken for the id of a game
            app.add_api_route(path, _only_post, methods=["GET"], include_in_schema=False)
    described = app.openapi()  # kept by FastAPI
    described["components"]["schemas"]["StartRequest"]["properties"]["difficulty_tier"]["enum"] = pools.tiers
    return app


class _Api:
    """The calls. Each runs without a pause between reading and keeping a game, so that two never both apply."""

    def __init__(self, games: Games, pools: Pools, limits: Limits) -> None:
        self._games, self._pools, self._limits = games, pools, limits
        self._starts = Rate(limits.new_games_per_minute)
        self._is_ready = False

    async def _ready(self) -> None:
        """Load the game's code, off the event loop: without a cache it has to be compiled."""
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
        address = client_address(request.scope.get("client"))
        if not self._starts.allows(address):
            raise ApiError(429, "TOO_MANY_REQUESTS", reason="new_games", per_minute=self._limits.new_games_per_minute)
        most = self._limits.open_challenges
        if is_prize and self._games.open_challenges(address) >= most:
            raise ApiError(429, "TOO_MANY_REQUESTS", reason="unfinished_challenges", challenges=most)
        if wanted.seed is not None:
            seed = wanted.seed
        else:
            seed = fresh_seed(pools, tier) if is_prize else pools.draw(mode, tier)
        hints, jumps = pools.policies(mode, tier, wanted.hint_request.enabled, wanted.jump_request.enabled)
        session = Session(
            seed, pools.deck_seed(mode, seed), mode, tier, pools.target(mode, tier), hint=hints, jump=jumps
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
        """Keep a changed session, and answer with it and perhaps a hint."""
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
    """Return the events of an action: `before` is the hand before it, `state` the position after it."""
    kind, positions = POSITIONS[action]
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
    score = int(session.state().record.score) if kept.score is None else kept.score
    return {
        **_identity(kept),
        "target_score": session.target,
        "step_index": session.step,
        "history_len": len(session.history),
        "score_total": score,
        "is_over": kept.is_over,
        "begun": kept.begun,
    }


# ---------------------------------------------------------------------------------------------------------------
# Errors


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
    """Tell the first thing that is wrong with a request, and never what it contained."""
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    if first["type"] == "json_invalid":
        return JSONResponse(ApiError(400, "BAD_JSON").body(), 400)
    where = ".".join(str(part) for part in first["loc"][1:] if isinstance(part, int) or part.isidentifier())
    return JSONResponse(ApiError(422, "INVALID_REQUEST", field=where[:100], reason=first["type"]).body(), 422)


async def _not_kept(request: Request, error: Exception) -> Response:
    _log.error("the file of games cannot be used: %s", error)
    return JSONResponse(ApiError(503, "NOT_KEPT", reason="the_server_cannot_write").body(), 503)


async def _broken(request: Request, error: Exception) -> Response:
    _log.exception("a request failed")
    return JSONResponse(ApiError(500, "INTERNAL_ERROR").body(), 500)


# ---------------------------------------------------------------------------------------------------------------
# What is refused before it is read


class _Guard:
    """Bounds rate and size of requests, refuses those of other sites' pages, and logs all."""

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self._app, self._most = app, limits.body_bytes
        self._rate = Rate(60 * limits.game_requests_per_second, 4 * limits.game_requests_per_second)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        begun, status = time.perf_counter(), 500

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._checked(scope, receive, noting)
        finally:
            if _log.isEnabledFor(logging.INFO):
                _log.info(_line(scope, status, time.perf_counter() - begun))

    async def _checked(self, scope: Scope, receive: Receive, send: Send) -> None:
        error = self._refusal(scope)
        if error is not None:
            await JSONResponse(ApiError(error, _HTTP_CODES[error]).body(), error)(scope, receive, send)
            return
        await self._app(scope, _bounded(receive, self._most), send)

    def _refusal(self, scope: Scope) -> int | None:
        """Return the status with which a request is refused unread, or None."""
        if not self._rate.allows(client_address(scope.get("client"))):
            return 429
        if scope["method"] != "POST" or scope["path"] not in _POSTED:
            return None
        headers = Headers(scope=scope)
        if is_other_site(headers.get("origin"), headers.get("host")):
            return 403
        if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            return 415
        length = headers.get("content-length", "")
        return 413 if length.isascii() and length.isdigit() and int(length[:20]) > self._most else None


def _bounded(receive: Receive, most: int) -> Callable[[], Any]:
    """Return `receive` for a body of so many bytes."""
    read = 0

    async def bounded() -> Message:
        nonlocal read
        message = await receive()
        read += len(message.get("body", b""))
        if read > most:
            raise HTTPException(413)
        return message

    return bounded


def _line(scope: Scope, status: int, seconds: float) -> str:
    """Return a line of the log: JSON without ids, cookies, addresses or bodies."""
    route = getattr(scope.get("route"), "path", "")
    fields = {"method": scope["method"], "route": route, "status": status, "ms": round(1000 * seconds, 3)}
    return json.dumps(fields)
