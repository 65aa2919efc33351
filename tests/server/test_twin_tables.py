"""Twin worlds: what crosses a socket depends only on what its viewer may know."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from served import client, open_table
from starlette.testclient import TestClient

from cardenvs.core.registry import get_game


def recorded(
    server: TestClient,
    game: str,
    deck: str,
    moves: Iterator[tuple[int, str]],
    watchers: tuple[str, ...],
    **options: Any,
) -> dict[str, list[str]]:
    """Play a game of people, and return every message that each watcher's socket got.

    Under "late WATCHER": every earlier position that somebody gets who comes with the same link after the last move.
    """
    num_players = options.get("num_players", 2)
    table = open_table(server, game, ["person"] * num_players, deck=deck, options=options)
    links = {f"player_{p}": seat["link"] for p, seat in enumerate(table["seats"])} | {"spectator": table["watch"]}
    got: dict[str, list[str]] = {who: [] for who in watchers}
    with Sockets(server, links) as sockets:
        turns = {who: _next_position(sockets[who], got.get(who)) for who in links}
        for player, label in moves:
            who = f"player_{player}"
            message = {"do": "act", "turn": turns[who], "intents": [{"action": label}]}
            sockets[who].send_json(message)
            for other in links:
                turns[other] = _next_position(sockets[other], got.get(other), turns[other])
    return got | {f"late {who}": _everything_past(server, links[who]) for who in watchers}


def _everything_past(server: TestClient, link: str) -> list[str]:
    with server.websocket_connect(f"/ws/{link}") as socket:
        found = []
        for event in range(1, socket.receive_json()["events"] + 1):
            socket.send_json({"do": "past", "event": event})
            found.append(socket.receive_text())
            assert found[-1].startswith('{"type": "past"'), found[-1]
        return found


class Sockets:
    """All sockets of a table, opened one after the other."""

    def __init__(self, server: TestClient, links: dict[str, str]) -> None:
        self._server, self._links = server, links

    def __enter__(self) -> dict[str, Any]:
        self._open = {who: self._server.websocket_connect(f"/ws/{link}") for who, link in self._links.items()}
        return {who: socket.__enter__() for who, socket in self._open.items()}

    def __exit__(self, *raised: object) -> None:
        for socket in self._open.values():
            socket.__exit__(*raised)


def _next_position(socket: Any, got: list[str] | None, after: int = 0) -> int:
    """Read until the view has changed, and return its turn."""
    while True:
        message = socket.receive_json()
        assert message["type"] == "position", message
        if got is not None and message["turn"] > after:
            got.append(repr(message))
        if message["turn"] > after:
            return message["turn"]


def gin_decks() -> tuple[str, str, list[tuple[int, str]]]:
    """Two deals that differ in a card of player_0 and the last of the stock, and moves that fit both."""
    game = get_game("gin_rummy_v0")
    deck = np.random.default_rng(3).permutation(52).tolist()
    state = game.new_state(seed=1, deck=deck)
    owner, other = 1 - state.current_player, state.current_player
    moves = [(other, "pass"), (owner, "pass"), (other, "draw stock")]
    for player, label in moves:
        assert player == state.current_player
        state.apply(state.action_from_label(label))
    thrown = next(label for label in map(state.action_label, state.legal_actions()) if label.startswith("discard"))
    state.apply(state.action_from_label(thrown))
    moves += [(other, thrown), (owner, "draw stock")]
    state.apply(state.action_from_label("draw stock"))
    labels = [label for label in map(state.action_label, state.legal_actions()) if label.startswith("discard")]
    held = state.view(owner)["piles"]
    hand = next(pile for pile in held if pile["id"] == f"hand.{owner}")
    discarded = labels[0].split()[-1]
    swapped = next(game.view.parse_token(token["text"]) for token in hand["tokens"] if token["text"] != discarded)
    last = deck[-1]
    twin = [last if card == swapped else swapped if card == last else card for card in deck]
    moves.append((owner, labels[0]))
    return game.deck_text(deck), game.deck_text(twin), moves


@pytest.mark.parametrize("watcher", ["player_0", "spectator"])
@pytest.mark.parametrize("line", [("bet", "fold"), ("pass", "bet", "fold")])
def test_kuhn_poker(same_secrets, watcher, line):
    worlds = []
    for deck in ("Q J K", "Q K J") if watcher == "player_0" else ("Q J K", "J K Q"):
        same_secrets()
        with client() as server:
            worlds.append(recorded(server, "kuhn_poker_v0", deck, _in_turn(line), (watcher,)))
    assert worlds[0] == worlds[1]
    assert len(worlds[0][watcher]) == len(line)


def _in_turn(labels: tuple[str, ...]) -> Iterator[tuple[int, str]]:
    """All moves but the last, after which the game is over and anybody may see everything."""
    for k, label in enumerate(labels[:-1]):
        yield k % 2, label


@pytest.mark.parametrize("watcher", ["opponent", "spectator"])
def test_gin_rummy(same_secrets, watcher):
    first, second, moves = gin_decks()
    who = f"player_{moves[0][0]}" if watcher == "opponent" else watcher
    worlds = []
    for deck in (first, second):
        same_secrets()
        with client() as server:
            worlds.append(recorded(server, "gin_rummy_v0", deck, iter(moves), (who,)))
    assert worlds[0] == worlds[1]
    assert len(worlds[0][who]) == len(moves) + 1
    assert len(worlds[0][f"late {who}"]) > 2 * len(moves)


def test_whoever_holds_the_cards_that_differ_sees_it_in_the_past(same_secrets):
    first, second, moves = gin_decks()
    owner = f"player_{1 - moves[0][0]}"
    worlds = []
    for deck in (first, second):
        same_secrets()
        with client() as server:
            worlds.append(recorded(server, "gin_rummy_v0", deck, iter(moves), (owner,))[f"late {owner}"])
    assert worlds[0] != worlds[1]


def test_refusals_say_nothing_of_the_other_hand(same_secrets):
    said = []
    for deck in ("Q J K", "Q K J"):
        same_secrets()
        with client() as server:
            table = open_table(server, "kuhn_poker_v0", ["person", "person"], deck=deck)
            mine: list[str] = []
            with server.websocket_connect(f"/ws/{table['seats'][0]['link']}") as socket:
                turn = socket.receive_json()["turn"]
                for message in (
                    {"do": "act", "turn": turn, "intents": [{"action": "raise"}]},
                    {"do": "act", "turn": turn, "intents": [{"move": {"card": "0" * 12}}]},
                    {"do": "undo", "turn": turn},
                    {"do": "watch", "viewer": 1},
                    {"do": "watch", "viewer": "everything"},
                    {"do": "plays", "turn": turn},
                    {"do": "hint", "turn": turn, "agent": "search"},
                ):
                    socket.send_json(message)
                    mine.append(socket.receive_text())
            said.append(mine)
    assert said[0] == said[1]


def drawing_decks() -> list[str]:
    """Two deals of gin rummy that differ in the card that is drawn first, and in the last of the stock."""
    game = get_game("gin_rummy_v0")
    deck = np.random.default_rng(3).permutation(52).tolist()
    state = game.new_state(seed=1, deck=deck)
    for label in ("pass", "pass", "draw stock"):
        state.apply(state.action_from_label(label))
    drawn = state.events(state.current_player)[-1].token
    twin = [deck[-1] if card == drawn else drawn if card == deck[-1] else card for card in deck]
    return [game.deck_text(deck), game.deck_text(twin)]


def test_a_play_does_not_go_on_past_a_card_that_is_drawn(same_secrets):
    """Otherwise the refusal of what follows would tell the card, and nothing would have been done for it."""
    said = []
    for deck in drawing_decks():
        same_secrets()
        with client() as server:
            table = open_table(server, "gin_rummy_v0", ["person", "person"], deck=deck)
            links = [seat["link"] for seat in table["seats"]]
            for _ in range(2):
                _pass(server, links)
            mine = []
            for link in links:
                with server.websocket_connect(f"/ws/{link}") as socket:
                    seen = socket.receive_json()
                    if seen["current"] != seen["seat"]:
                        continue
                    for then in ("x", *(f"discard {card}" for card in ("K♠", "7♥", "2♣"))):
                        play = [{"action": "draw stock"}, {"action": then}]
                        socket.send_json({"do": "act", "turn": seen["turn"], "intents": play})
                        mine.append(socket.receive_text())
            said.append(mine)
    assert said[0] == said[1]
    assert len(said[0]) == 4
    assert all("'draw stock' may show you something new" in text for text in said[0])


def _pass(server: TestClient, links: list[str]) -> None:
    for link in links:
        with server.websocket_connect(f"/ws/{link}") as socket:
            seen = socket.receive_json()
            if seen["current"] == seen["seat"]:
                socket.send_json({"do": "act", "turn": seen["turn"], "intents": [{"action": "pass"}]})
                assert socket.receive_json()["type"] == "position"
                return
