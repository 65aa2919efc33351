"""A seat by the Model Context Protocol, played with the client of the official SDK."""

import asyncio
import random
import re
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from typer.testing import CliRunner

from cardenvs.agents.base import Turn
from cardenvs.agents.specs import make_agent
from cardenvs.arena.store import Store
from cardenvs.arena.verify import verify
from cardenvs.cli import app
from cardenvs.core.errors import AgentError, AgentFailureError, FormatError
from cardenvs.core.registry import get_game
from cardenvs.mcp import session as sessions
from cardenvs.mcp.seat import ClientSeat
from cardenvs.mcp.session import Appointment, RefusedError, Session

KUHN, LEDUC = get_game("kuhn_poker_v0"), get_game("leduc_poker_v0")
GIN = get_game("gin_rummy_v0")
HIDDEN = re.compile(r"seed|deck_key", re.IGNORECASE)


@pytest.fixture
def opened():
    """A function that opens sessions, which are closed at the end."""
    made = []

    def open_session(**settings):
        made.append(Session(**settings))
        return made[-1]

    yield open_session
    for one in made:
        one.close()


def appointment(game, deals, opponents=("random",), seed=1, **options):
    found = get_game(game)
    return Appointment(found, found.make_options(**options), opponents, deals, seed)


def play_on(session, text, choose=lambda numbers: numbers[0], most=2000):
    """Play until no move is asked for; return all that was told."""
    told = [text]
    for _ in range(most):
        numbers = [int(number) for number in re.findall(r"^(\d+)\. ", text.partition("`play` one of")[2], re.MULTILINE)]
        if not numbers:
            return told
        text = session.play(str(choose(numbers)))
        told.append(text)
    raise AssertionError("the game does not end")


# ---------------------------------------------------------------------------------------------------------------
# With the client of the SDK


async def whole_game(client, game, **arguments):
    """Play one game at random; return the last answer."""
    rng = random.Random(1)

    async def call(tool, **values):
        answer = await client.call_tool(tool, values)
        assert not answer.is_error, answer.content
        return answer.content[0].text

    text = await call("start_game", game=game, **arguments)
    while "`play` one of" in text:
        assert not HIDDEN.search(text)
        moves = (await call("list_moves")).splitlines()
        text = await call("play", move=rng.choice(moves).partition(" ")[2])
    assert "is over" in text
    assert (await call("recap")).count("\n") > 1
    return text


@pytest.mark.parametrize(
    ("game", "arguments"),
    [
        ("kuhn_poker_v0", {"opponent": "search"}),
        ("leduc_poker_v0", {"options": {"num_players": 3}, "seat": 2}),
        ("gin_rummy_v0", {}),
        ("crazy_eights_v0", {"opponent": "random"}),
        ("hanabi_v0", {}),
    ],
)
def test_a_client_plays_whole_games(game, arguments, opened):
    mcp = pytest.importorskip("mcp")
    from cardenvs.mcp.server import make_server

    async def main():
        async with mcp.Client(make_server(opened())) as client:
            names = {tool.name for tool in (await client.list_tools()).tools}
            assert names == {
                "list_games", "rules", "start_game", "look", "list_moves", "play", "recap", "facts", "resign",
            }  # fmt: skip
            listed = (await client.call_tool("list_games", {})).structured_content["result"]
            assert game in [one["name"] for one in listed]
            assert "##" in (await client.call_tool("rules", {"game": game})).content[0].text
            return await whole_game(client, game, **arguments)

    assert "Results in" in asyncio.run(main())


def test_the_program_serves_on_its_standard_streams(tmp_path):
    mcp = pytest.importorskip("mcp")
    from mcp.client.stdio import StdioServerParameters, stdio_client

    store = tmp_path / "games.db"
    words = ["-m", "cardenvs", "mcp", "kuhn_poker", "--against", "random", "--deals", "3", "--store", str(store)]
    server = StdioServerParameters(command=sys.executable, args=[*words, "--seed", "5", "--name", "visitor"])

    async def main():
        async with mcp.Client(stdio_client(server, errlog=sys.__stderr__)) as client:
            assert "start_game" not in {tool.name for tool in (await client.list_tools()).tools}
            text = (await client.call_tool("look", {})).content[0].text
            while "`play` one of" in text:
                text = (await client.call_tool("play", {"move": "1"})).content[0].text
            return text

    assert asyncio.run(main()).endswith("All games of the match are over.")
    check_stored(store, games=3)
    done = CliRunner().invoke(app, ["arena", "report", str(store)])
    assert done.exit_code == 0
    assert "mcp:visitor" in done.output


def test_refusals_reach_the_client_and_crashes_stay_here(opened, monkeypatch):
    mcp = pytest.importorskip("mcp")
    from cardenvs.mcp.server import make_server

    session = opened()

    async def main():
        async with mcp.Client(make_server(session)) as client:

            async def refused(tool, **values):
                answer = await client.call_tool(tool, values)
                assert answer.is_error
                return answer.content[0].text

            assert "No game has begun" in await refused("look")
            assert "did you mean 'kuhn_poker_v0'" in await refused("start_game", game="kuhn_pocker_v0")
            assert "There is no opponent 'python:os:getcwd'" in await refused(
                "start_game", game="kuhn_poker", opponent="python:os:getcwd"
            )
            assert "num_players" in await refused("start_game", game="kuhn_poker", options={"num_players": 99})
            assert "seats of this game are 0 to 1" in await refused("start_game", game="kuhn_poker", seat=2)
            await client.call_tool("start_game", {"game": "kuhn_poker"})
            assert "no legal action is called 'fly'" in await refused("play", move="fly")
            assert "Your game is not over" in await refused("start_game", game="leduc_poker")
            monkeypatch.setattr(session, "recap", lambda: 1 / 0)
            assert await refused("recap") == "Error executing tool recap"

    asyncio.run(main())


def test_of_games_that_begin_at_once_one_is_played(opened):
    """Assistants call tools side by side."""
    session = opened()
    with ThreadPoolExecutor(6) as threads:
        begun = [threads.submit(session.start, "kuhn_poker_v0") for _ in range(6)]
    refused = [one.exception() for one in begun if one.exception() is not None]
    assert [str(error)[:24] for error in refused] == ["Your game is not over. F"] * 5
    with ThreadPoolExecutor(2) as threads:
        told = list(threads.map(lambda _: session.resign() if session._is_playing else session.look(), range(2)))
    assert sum(text.count("is over. You were") for text in told) == 1


# ---------------------------------------------------------------------------------------------------------------
# Matches


def check_stored(path, games):
    """Check that a store has so many games, which pass verification; return the client's returns."""
    with Store(path) as store:
        assert verify(store) == (games, [])
        matches = [store.match(name) for name in store.match_ids()]
        seats = {match.id: [spec.startswith("mcp:") for spec in match.specs].index(True) for match in matches}
        return [record.returns[seats[match.id]] for match in matches for record in store.records(match.id)]


def test_every_deal_of_a_match_is_played_from_one_seat(opened, tmp_path):
    path = tmp_path / "games.db"
    session = opened(name="me", appointment=appointment("kuhn_poker_v0", 5), store=path)
    told = "\n".join(play_on(session, session.look()))
    assert re.findall(r"game (\d), is over", told) == list("12345")
    assert {"You were player_0", "You were player_1"} == set(re.findall(r"You were player_\d", told))
    session.close()
    check_stored(path, games=5)
    with Store(path) as store:
        matches = [store.match(name) for name in store.match_ids()]
    seats = {match.specs.index("mcp:me"): match.deals for match in matches}
    seeds = [match.seed for match in matches]
    assert seats == {0: 3, 1: 2}
    assert len(set(map(str, seeds))) == 2


@pytest.mark.parametrize("how", ["resign", "leave"])
def test_who_resigns_or_leaves_has_lost(how, opened, tmp_path):
    path = tmp_path / "games.db"
    session = opened(name="me", appointment=appointment("leduc_poker_v0", 4), store=path)
    text = session.look()
    if how == "resign":
        while "`play` one of" in text:
            text = session.resign()
    session.close()
    won = check_stored(path, games=4 if how == "resign" else 1)
    assert won == [LEDUC.returns(LEDUC.make_options()).low] * len(won)


def test_a_decision_that_takes_too_long_forfeits_the_game(opened, tmp_path):
    path = tmp_path / "games.db"
    session = opened(name="me", appointment=appointment("kuhn_poker_v0", 1), store=path, seconds=0.05)
    session.look()
    session._thread.join()
    assert check_stored(path, games=1)[0] < 0
    assert "All games of the match are over" in session.look()
    with pytest.raises(RefusedError, match="not your turn"):
        session.play("1")


def test_a_match_goes_on_where_it_was_left(opened, tmp_path):
    path = tmp_path / "games.db"
    first = opened(name="me", appointment=appointment("kuhn_poker_v0", 4), store=path)
    first.look()
    first.close()
    check_stored(path, games=1)
    second = opened(name="me", appointment=appointment("kuhn_poker_v0", 4), store=path, resume=True)
    play_on(second, second.look())
    second.close()
    check_stored(path, games=4)


def test_a_match_that_the_store_has_already_is_refused_in_words(opened, tmp_path):
    path = tmp_path / "games.db"
    for _ in range(2):
        session = opened(name="me", appointment=appointment("kuhn_poker_v0", 1), store=path)
        text = play_on(session, session.look())[-1]
        session.close()
    assert "The match cannot go on: the store already has 1 games of this match" in text


# ---------------------------------------------------------------------------------------------------------------
# What the client is told


def test_twins_are_told_the_same(opened):
    session = opened()
    session.start("kuhn_poker_v0")
    for deck, other in (("K Q J", "K J Q"), ("J Q K", "J K Q")):
        told = []
        for cards in (deck, other):
            state = KUHN.new_state(seed=1, deck=cards)
            session._seat.current.events = state.events(0)
            session._seat.current.told = 0
            told.append(session._told_turn(Turn(state, 3)))
        assert told[0] == told[1]
        assert "You are dealt" in told[0] or "you are dealt" in told[0]
    assert told[0] != session._told_turn(Turn(KUHN.new_state(seed=1, deck="K Q J"), 3))


def test_many_moves_are_listed_in_parts(opened, monkeypatch):
    monkeypatch.setattr(sessions, "MOVES_SHOWN", 2)
    monkeypatch.setattr(sessions, "_MOST_MOVES", 3)
    session = opened(appointment=appointment("bridge_v0", 1, ("heuristic",)))
    text = session.look()
    assert re.search(r"\.\.\. \d+ more; `list_moves` has them all", text)
    listed = session.moves().splitlines()
    assert len(listed) == 4
    assert listed[-1].endswith("go on with first=4")
    assert session.moves(first=4).startswith("4. ")
    assert all("NT" in line for line in session.moves(contains="nt").splitlines()[:3])
    assert session.moves(contains="nothing like it").startswith("None of the ")


def test_a_move_may_be_json_in_the_form_of_the_game(opened):
    session = opened()
    text = session.start("texas_holdem_v0", opponent="random", options={"num_players": 2, "format": "cash"})
    amount = int(re.findall(r"^\d+\. (?:raise to|bet) (\d+)", text, re.MULTILINE)[0]) + 1
    kind = "raise" if "raise to" in text else "bet"
    assert 'Or as JSON: {"action": "fold"}' in text
    with pytest.raises(FormatError, match="whole number of chips"):
        session.play(f'{{"action": "{kind}", "amount": "all"}}')
    with pytest.raises(RefusedError, match="cannot be read"):
        session.play("{" * 10_000)
    session.play(f'{{"action": "{kind}", "amount": {amount}}}')
    assert str(amount) in session.recap()


def test_clients_choose_among_agents_that_read_no_files():
    for allowed in ("random", "search", "ismcts", "zoo:gin_rummy_v0/ppo"):
        sessions._check_opponent(allowed, GIN)
    for refused in (
        "zoo:katko_v0/ppo",
        "search:simulations=1000000000",
        "ppo:runs/latest.pt",
        "llm:mini",
        "mcp:other",
        "",
    ):
        with pytest.raises(RefusedError, match="There is no opponent"):
            sessions._check_opponent(refused, GIN)


def test_a_seat_without_its_session_says_so():
    with pytest.raises(AgentError, match="mcp:nobody is a client of `cardenvs mcp`"):
        make_agent("mcp:nobody", KUHN, KUHN.make_options())


def test_a_seat_waits_for_its_client():
    seat = ClientSeat(seconds=0.01).at(KUHN, KUHN.make_options())
    seat.take_seat(0)
    seat.reset(0)
    with pytest.raises(AgentFailureError, match=r"no move came in 0.01 seconds"):
        seat.act(Turn(KUHN.new_state(seed=1), 0))
    threading.Timer(0.05, seat.leave).start()
    seat._seconds = None
    with pytest.raises(AgentFailureError, match="the client has left"):
        seat.act(Turn(KUHN.new_state(seed=1), 0))


def test_a_play_of_several_actions_is_made_to_its_end_also_where_a_step_is_forced():
    seat = ClientSeat().at(KUHN, KUHN.make_options())
    seat.reset(0)
    seat._planned = [1, 0]
    turn = Turn(KUHN.new_state(seed=1), 0)
    turn.legal_actions = [1]  # the first step is the only legal action
    assert seat.act(turn) == 1
    assert seat._planned == [0]


def test_options_need_a_game():
    done = CliRunner().invoke(app, ["mcp", "--against", "random"])
    assert done.exit_code != 0
    assert "belong to a match: name its GAME first" in done.output
    done = CliRunner().invoke(app, ["mcp", "bridge", "--against", "random,random"])
    assert "--against takes one agent, or 3; got 2" in done.output
