"""Pages of recorded games: drawn elsewhere, for those who wait, and not for ever."""

import asyncio
import json
import time
from dataclasses import replace
from random import Random

import pytest
from served import client

from cardenvs.core.errors import FormatError
from cardenvs.core.registry import get_game
from cardenvs.core.replay import Replay
from cardenvs.server import app as app_module
from cardenvs.server import drawing
from cardenvs.server.drawing import Drawings, Reviews
from cardenvs.server.settings import Limits
from cardenvs.server.table import RefusedError

JSON = {"content-type": "application/json"}


def replay_text(game="kuhn_poker_v0", most=10_000, **options):
    state, random = get_game(game).new_state(seed=1, **options), Random(1)
    while not state.is_terminal and len(state.actions) < most:
        state.apply(random.choice(state.legal_actions()))
    return Replay.of(state).text()


def job(text):
    return {"text": text, "notes": {}}


@pytest.fixture(scope="module")
def long_game():
    """A game of a few kilobytes that takes seconds to draw."""
    return replay_text("gin_rummy_v0", 2000, match_target=100)


def drawn(limits, *jobs):
    """Return what drawing comes to, all jobs at once; each is (client, job)."""

    async def draw():
        drawings = Drawings(replace(Limits(), **limits))
        try:
            pages = [drawings.page(one, client) for client, one in jobs]
            return await asyncio.gather(*pages, return_exceptions=True)
        finally:
            await drawings.stop()

    return asyncio.run(draw())


def test_a_page_shows_the_game_and_the_next_one_is_drawn_by_the_same_process():
    pages = drawn({"drawings": 1}, *[("a", job(replay_text()))] * 3)
    assert pages[0] == pages[1] == pages[2] == Replay.parse(replay_text()).page(back="/")


def test_a_wrong_replay_leaves_the_process_as_it_was():
    wrong, right = drawn({"drawings": 1}, ("a", job("{}")), ("a", job(replay_text())))
    assert isinstance(wrong, FormatError)
    assert "not a cardenvs replay" in str(wrong)
    assert "<svg" in right


def test_drawing_is_bounded_in_time_and_the_next_page_is_drawn(long_game):
    late, right = drawn({"drawings": 1, "drawing_seconds": 1.0}, ("a", job(long_game)), ("a", job(replay_text())))
    assert isinstance(late, FormatError)
    assert "takes more than 1 seconds" in str(late)
    assert "<svg" in right


def test_pages_that_wait_are_bounded_for_each_client_and_for_all():
    text = replay_text()
    found = drawn({"drawings": 1}, *[("a", job(text))] * 6, ("b", job(text)))
    assert [isinstance(one, RefusedError) for one in found] == [False] * 4 + [True] * 2 + [False]
    found = drawn({"drawings": 1, "drawings_waiting": 2}, *[(name, job(text)) for name in "abc"])
    assert [isinstance(one, RefusedError) for one in found] == [False, False, True]


def test_a_flood_of_replays_is_slowed_down():
    with client(limits={"drawings_per_minute": 2}) as server:
        codes = [server.post("/api/replays", content=replay_text(), headers=JSON).status_code for _ in range(4)]
    assert codes == [201, 201, 429, 429]


def reviewed(limits, *texts, client="a"):
    async def review():
        reviews = Reviews(replace(Limits(), review_worlds=10, **limits))
        try:
            return [await _outcome(reviews.page(text, client)) for text in texts]
        finally:
            await reviews.stop()

    return asyncio.run(review())


async def _outcome(page):
    try:
        return await page
    except (FormatError, RefusedError) as error:
        return error


def test_a_review_is_made_once_and_others_are_bounded():
    one, two = replay_text(), replay_text("leduc_poker_v0")
    first, again, other, refused = reviewed({"reviews_per_minute": 2}, one, one, two, replay_text("durak_v0"))
    assert first is again
    assert "Review: Kuhn poker" in first
    assert "Review: Leduc poker" in other
    assert isinstance(refused, RefusedError)
    assert str(refused) == "at most 2 reviews a minute; wait a moment"


def test_a_review_is_bounded_in_time(long_game):
    (late,) = reviewed({"review_seconds": 1.0}, long_game)
    assert isinstance(late, FormatError)
    assert str(late) == "the game is too long: this takes more than 1 seconds"


def test_nobody_draws_for_a_client_that_has_left(long_game, monkeypatch):
    """The client leaves as soon as it has sent a replay."""
    ended = []
    end = drawing._ended

    async def noting(process):
        ended.append(process)
        await end(process)

    async def left(request):
        await asyncio.sleep(0.5)

    monkeypatch.setattr(drawing, "_ended", noting)
    monkeypatch.setattr(app_module, "_left", left)
    with client(limits={"drawings": 1}) as server:
        assert server.post("/api/replays", content=replay_text("kuhn_poker_v0"), headers=JSON).status_code in (201, 499)
        answer = server.post("/api/replays", content=long_game, headers=JSON)
        assert answer.status_code == 499
        deadline = time.monotonic() + 20
        while not ended:
            assert time.monotonic() < deadline
            time.sleep(0.05)


def test_the_lobby_answers_while_pages_are_drawn(long_game):
    """In the same thread of Python, the drawing would hold it up."""

    async def race():
        drawings = Drawings(Limits())
        work = asyncio.create_task(drawings.page(job(long_game), "a"))
        longest, before = 0.0, time.monotonic()
        while not work.done() and time.monotonic() - before < 3.0:
            started = time.monotonic()
            await asyncio.sleep(0.01)
            longest = max(longest, time.monotonic() - started)
        work.cancel()
        await drawings.stop()
        return longest

    assert asyncio.run(race()) < 1.0


def test_replays_that_are_no_text_are_refused():
    with client() as server:
        answer = server.post("/api/replays", content=b"\xff\xfe" + json.dumps({}).encode(), headers=JSON)
        assert answer.status_code == 400
        assert "UTF-8" in answer.json()["error"]["message"]
