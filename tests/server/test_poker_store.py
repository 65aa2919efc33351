"""The games that a server keeps: bounds for each address and in all, expiry."""

import time
from dataclasses import replace

import pytest

pytest.importorskip("starlette")

from cardenvs.server.http import client_address
from cardenvs.tools.one_player_poker.api.errors import ApiError
from cardenvs.tools.one_player_poker.api.session import CHALLENGE, OFF, PRACTICE, UNLIMITED, Policy, Session
from cardenvs.tools.one_player_poker.api.settings import PokerSettings
from cardenvs.tools.one_player_poker.api.store import Games

DAY = 86_400
NEW = Session(5, 5, PRACTICE, "easy", None, Policy(UNLIMITED), Policy(UNLIMITED))
SECRET = Session(5, 6, CHALLENGE, "hard", 1150, Policy(OFF), Policy(OFF))


@pytest.fixture
def clock(monkeypatch):
    """The time of the store, which a test sets; it passes by a second with every look."""

    class Clock:
        now = 1e9

        def __call__(self):
            self.now += 1
            return self.now

    made = Clock()
    monkeypatch.setattr(time, "time", made)
    return made


def kept(games, ids):
    def is_there(game_id):
        try:
            return bool(games.find(game_id))
        except ApiError:
            return False

    return [is_there(game_id) for game_id in ids]


def play_out(games, one):
    session = one.session
    for _ in range(4):
        session = session.acted(0)
        one = games.change(one, session, session.state())
    return one


def test_an_address_loses_its_own_idlest_game(clock):
    games = Games(":memory:", PokerSettings(games_per_address=3))
    other = games.add("a", "10.0.0.1", NEW).game_id
    ids = [games.add("b", "10.0.0.2", NEW).game_id for _ in range(3)]
    games.change(games.find(ids[0]), NEW.acted(0), NEW.acted(0).state())
    ids.append(games.add("c", "10.0.0.2", NEW).game_id)
    assert kept(games, ids) == [True, False, True, True]
    assert kept(games, [other]) == [True]


def test_whoever_fills_the_store_loses_games_and_others_can_start(clock):
    """Twenty addresses want all of it; each of the others keeps its few games."""
    games = Games(":memory:", PokerSettings(games=400, games_per_address=10**6))
    honest = [games.add("h", f"192.0.2.{k}", NEW).game_id for k in range(50)]
    for k in range(2000):
        games.add("x", f"10.0.0.{k % 20}", NEW)
        assert games.count() <= 400
    honest += [games.add("h", f"198.51.100.{k}", NEW).game_id for k in range(50)]
    assert all(kept(games, honest))
    assert games.count() <= 400


def test_a_store_full_of_single_games_still_takes_more(clock):
    games = Games(":memory:", PokerSettings(games=20))
    ids = [games.add("h", f"192.0.2.{k}", NEW).game_id for k in range(30)]
    assert games.count() <= 20
    assert kept(games, ids)[-19:] == [True] * 19


def test_games_expire_while_the_server_runs(clock):
    games = Games(":memory:", PokerSettings(unfinished_game_days=7), keep_days=30)
    unfinished = [games.add("a", "10.0.0.1", NEW).game_id for _ in range(30)]
    over = play_out(games, games.add("a", "10.0.0.1", NEW)).game_id
    clock.now += 8 * DAY
    ids = [games.add("a", "10.0.0.1", NEW).game_id for _ in range(3)]
    assert kept(games, unfinished) == [False] * 30
    assert all(kept(games, [over, *ids]))
    clock.now += 23 * DAY
    games.add("a", "10.0.0.1", NEW)
    assert kept(games, [over]) == [False]


def test_unfinished_secret_challenges_are_counted_and_stay(clock):
    games = Games(":memory:", PokerSettings(games_per_address=4))
    ids = [games.add("a", "10.0.0.1", SECRET).game_id for _ in range(2)]
    for _ in range(10):
        games.add("a", "10.0.0.1", NEW)
    assert all(kept(games, ids))
    assert (games.open_challenges("10.0.0.1"), games.open_challenges("10.0.0.2")) == (2, 0)
    assert games.count() == 4
    play_out(games, games.find(ids[0]))
    assert games.open_challenges("10.0.0.1") == 1


def test_a_jump_from_the_end_goes_on():
    games = Games(":memory:")
    one = play_out(games, games.add("a", "", NEW))
    assert (one.is_over, one.score) == (True, int(one.session.state().record.score))
    back = replace(one.session, step=2)
    one = games.change(one, back, back.state())
    assert (one.is_over, games.find(one.game_id)) == (False, one)


@pytest.mark.parametrize(
    ("host", "counted"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ("2001:db8:1:2:ffff::1", "2001:db8:1:2::"),
        ("fe80::1%eth0", "fe80::"),
        ("testclient", "testclient"),
        ("x" * 1000, "x" * 64),
    ],
)
def test_addresses_that_one_client_can_choose_from_count_as_one(host, counted):
    assert client_address({"client": (host, 1)}) == counted


def test_a_client_without_an_address_counts_too():
    assert client_address({"client": None}) == client_address({}) == ""
