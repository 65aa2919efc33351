"""The game view: what one viewer may see of a game, as one JSON document.

Pictures, the browser, prompts of language models and clients of the HTTP API are made from this document alone, so what
it does not say stays hidden. Its schema is `game_view.schema.json` beside this module, and `docs/game-view.md` explains
it. `State.view` writes it; a game adds to it in `View.token_face`, `View.choice` and `View.arrange`.
"""

import functools
import hashlib
import json
from collections import defaultdict
from dataclasses import dataclass, field
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from cardenvs.core.events import OMNISCIENT, SPECTATOR, UNKNOWN, CounterUse, Pile, PileLayout
from cardenvs.core.fold import FoldedTable, fold

if TYPE_CHECKING:
    from cardenvs.core.state import State
    from cardenvs.core.view import View

FORMAT, FORMAT_VERSION = "cardenvs-view", 1
_VIEWERS = {SPECTATOR: "spectator", OMNISCIENT: "everything"}

Place = tuple[str, int | None]  # name of a pile, and its owner


@dataclass(frozen=True)
class Choice:
    """What an action means to a person: the tokens, piles or amount that they would click or type.

    An action without any of these is a button.

    Attributes:
        tokens: what is moved or chosen, visible to the player.
        source: the pile it comes from; if there are no tokens, the pile that is chosen, such as the stock.
        target: the pile it goes to.
        amount: a number of chips or the like, which people type.
    """

    tokens: tuple[int, ...] = ()
    source: Place | None = None
    target: Place | None = None
    amount: int | None = None

    @property
    def kind(self) -> str:
        """ "amount", "card", "pile" or "button"."""
        if self.amount is not None:
            return "amount"
        if self.tokens:
            return "card"
        return "button" if self.source is None else "pile"


@dataclass
class PileView:
    """A pile as it will be shown; a game may change it in `View.arrange`.

    Attributes:
        pile: its declaration.
        owner: a player or None.
        label: its name for people.
        layout: how it is shown.
        tokens: faces from left to right, UNKNOWN for face-down ones.
        groups: sizes of the groups into which the tokens fall, in order; empty if they are not grouped.
        marks: short texts beside tokens, by index: what lies on them.
    """

    pile: Pile
    owner: int | None
    label: str
    layout: PileLayout
    tokens: list[int]
    groups: list[int] = field(default_factory=list)
    marks: dict[int, list[str]] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """Name of the pile in the document, such as "hand.0"."""
        return pile_id((self.pile.name, self.owner))


@dataclass
class CounterView:
    """A counter as it will be shown.

    Attributes:
        label: its name for people.
        use: what it means to them.
        value: a number or a text; None if it is hidden. If each player has one, a list of these.
    """

    label: str
    use: CounterUse
    value: Any


@dataclass
class Scene:
    """What a viewer will be shown of a table.

    Attributes:
        piles: by name and owner.
        counters: by name.
        notes: for each player, what is true of them: "dealer", "folded".
    """

    piles: dict[Place, PileView]
    counters: dict[str, CounterView]
    notes: list[list[str]]


def write_game_view(state: "State", viewer: int, key: bytes = b"", candidates: bool = False) -> dict[str, Any]:
    """Return what `viewer` may see of `state`.

    Args:
        state: the game.
        viewer: a player, SPECTATOR or OMNISCIENT. Only the player to act gets a prompt, choices and candidates.
        key: makes the tokens' ids (see `token_id`).
        candidates: whether to add what `State.candidates` returns, which is slow in some games.
    """
    words, s = state.game.view, state.record
    scene = _scene(state.table(viewer), state.num_players)
    words.arrange(s, viewer, scene)
    ids = _Ids(viewer, key)
    to_act = not state.is_terminal and viewer == state.current_player
    view = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "game": state.game.name,
        "title": state.game.title,
        "viewer": _VIEWERS.get(viewer, viewer),
        "phase": state.phase,
        "current_player": state.current_player,
        "terminal": state.is_terminal,
        "players": [
            {"active": active, "return": value, "notes": notes}
            for active, value, notes in zip(state.active, state.returns, scene.notes, strict=True)
        ],
        **_table_json(scene, words, ids),
        "shape": words.shape,
        "prompt": words.prompt(s) if to_act else "",
        "choices": [],
    }
    if to_act:
        listed, amounts = _without_amounts(state)
        view["choices"] = [
            _choice_json(action, words.action_label(s, action), words.choice(s, action), ids) for action in listed
        ]
        if amounts:
            view["choices"][-1]["most"] = view["choices"][-1]["amount"] + len(amounts) - 1
        if candidates:
            view["candidates"] = [{"label": one.label, "actions": list(one.actions)} for one in state.candidates()]
    return view


def write_folded_view(state: "State", viewer: int, rows: np.ndarray, key: bytes = b"") -> dict[str, Any]:
    """Return what `viewer` saw before or after an action, or in the middle of one.

    Args:
        state: after the action, or before it if the rows end in the middle of it.
        viewer: a player, SPECTATOR or OMNISCIENT.
        rows: what the viewer has seen of `state.event_log()` up to that point. The table is their fold.
        key: as in `write_game_view`.

    Returns:
        a view without prompt and choices. After the whole action it is that of `state`; before that, the game cannot
        arrange the table, so it is shown as the events leave it.
    """
    view = write_game_view(state, viewer, key) | {"prompt": "", "choices": []}
    if len(rows) == len(state.game.table.visible(state.event_log(), viewer)):
        return view
    words = state.game.view
    scene = _scene(fold(state.game.table, rows), state.num_players)
    players = [player | {"notes": notes} for player, notes in zip(view["players"], scene.notes, strict=True)]
    return view | {"terminal": False, "players": players} | _table_json(scene, words, _Ids(viewer, key))


def _without_amounts(state: "State") -> tuple[list[int], list[int]]:
    """Return the legal actions with only the lowest of a range of amounts, last, and the range; it is often empty.

    No-limit games can have thousands of amounts, each an action.
    """
    legal, rules = state.legal_actions(), state.game.rules
    zero = rules.amounts.zero(state.options) if rules.amounts else None
    if zero is None:
        return legal, []
    amounts = [action for action in legal if action > zero]
    if not amounts or amounts[-1] - amounts[0] != len(amounts) - 1 or amounts != legal[-len(amounts) :]:
        return legal, []
    return legal[: len(legal) - len(amounts) + 1], amounts


def pile_id(place: Place) -> str:
    """Return the name of a pile in the document: "stock", or "hand.0" for player 0's."""
    name, owner = place
    return name if owner is None else f"{name}.{owner}"


@functools.lru_cache(maxsize=65536)
def token_id(viewer: int, token: int, copy: int, key: bytes) -> str:
    """Return the id of a token in the views of one viewer of one game.

    Whoever shows views to strangers gives each game a secret `key` of its own: ids then say nothing, not even that two
    viewers, or two games, have the same token. Copies of a face are told apart by number only, in the order of the
    document, so an id does not trace a copy through hidden piles.
    """
    return hashlib.blake2s(f"{viewer} {token} {copy}".encode(), key=key, digest_size=6).hexdigest()


@functools.cache
def game_view_schema() -> dict[str, Any]:
    """Return the JSON Schema of the document."""
    return json.loads((files("cardenvs.core") / "game_view.schema.json").read_text(encoding="utf-8"))


# ---------------------------------------------------------------------------------------------------------------
# Reading the document


def table_texts(view: dict[str, Any]) -> dict[str, Any]:
    """Return the table of a view as plain texts.

    Returns:
        {"piles": {name: [token text or "?", ...]}, "counters": {name: value}}, with a list of these for each player if
        each has one.
    """
    piles: dict[str, Any] = {}
    for pile in view["piles"]:
        texts = [text for token in pile["tokens"] for text in _token_texts(token)]
        if pile["owner"] is None:
            piles[pile["name"]] = texts
        else:
            piles.setdefault(pile["name"], [[] for _ in view["players"]])[pile["owner"]] = texts
    return {"piles": piles, "counters": {counter["name"]: counter["value"] for counter in view["counters"]}}


def folded_texts(table: FoldedTable, words: "View", num_players: int) -> dict[str, Any]:
    """Return a table that was folded from events as in `table_texts`."""
    shown = _table_json(_scene(table, num_players), words, _Ids(OMNISCIENT, b""))
    return table_texts(shown | {"players": [None] * num_players})


def _token_texts(token: dict[str, Any]) -> list[str]:
    if "hidden" in token:
        return ["?"] * token["hidden"]
    return [f"{token['text']} ({', '.join(token['marks'])})" if token.get("marks") else token["text"]]


# ---------------------------------------------------------------------------------------------------------------
# Writing the document


class _Ids:
    """Ids of the tokens that a viewer sees, by pile and face."""

    def __init__(self, viewer: int, key: bytes) -> None:
        self._viewer, self._key = viewer, key
        self._copies: dict[int, int] = defaultdict(int)
        self._by_place: dict[tuple[str, int], list[str]] = defaultdict(list)
        self._by_face: dict[int, list[str]] = defaultdict(list)

    def new(self, pile: str, token: int) -> str:
        """Return the id of the next copy of a face."""
        made = token_id(self._viewer, token, self._copies[token], self._key)
        self._copies[token] += 1
        self._by_place[pile, token].append(made)
        self._by_face[token].append(made)
        return made

    def of(self, tokens: tuple[int, ...], source: Place | None) -> list[str]:
        """Return the ids of tokens in a pile, or anywhere."""
        used: dict[int, int] = defaultdict(int)
        found = []
        for token in tokens:
            places = self._by_face[token] if source is None else self._by_place[pile_id(source), token]
            found.append(places[used[token]])
            used[token] += 1
        return found


def _scene(table: FoldedTable, num_players: int) -> Scene:
    """Return a table as it is shown unless the game arranges it otherwise."""
    piles: dict[Place, PileView] = {}
    for (pile, owner), tokens in zip(table.spec.pile_of, table.piles, strict=True):
        if owner is None or owner < num_players:
            shown = tokens if pile.ordered else sorted(tokens, key=lambda token: (token == UNKNOWN, token))
            piles[pile.name, owner] = PileView(pile, owner, pile.name.replace("_", " "), pile.layout, list(shown))
    counters: dict[str, CounterView] = {}
    notes: list[list[str]] = [[] for _ in range(num_players)]
    for (counter, owner), value in zip(table.spec.counter_of, table.counters, strict=True):
        label = counter.name.replace("_", " ")
        if owner is None:
            counters[counter.name] = CounterView(label, counter.use, value)
            if counter.use == CounterUse.PLAYER and value is not None and 0 <= value < num_players:
                notes[value].append(label)
        elif owner < num_players:
            counters.setdefault(counter.name, CounterView(label, counter.use, [])).value.append(value)
            if counter.use == CounterUse.FLAG and value:
                notes[owner].append(label)
    return Scene(piles, counters, notes)


def _table_json(scene: Scene, words: "View", ids: _Ids) -> dict[str, Any]:
    return {
        "piles": [_pile_json(pile, words, ids) for pile in scene.piles.values() if pile.layout != PileLayout.NONE],
        "counters": [
            {"name": name, "label": counter.label, "use": str(counter.use), "value": counter.value}
            for name, counter in scene.counters.items()
            if counter.use != CounterUse.NONE
        ],
    }


def _pile_json(pile: PileView, words: "View", ids: _Ids) -> dict[str, Any]:
    shown: list[dict[str, Any]] = []
    for k, token in enumerate(pile.tokens):
        if token != UNKNOWN:
            entry = {"id": ids.new(pile.id, token), "text": words.token_label(token), "face": words.token_face(token)}
            if pile.marks.get(k):
                entry["marks"] = pile.marks[k]
            shown.append(entry)
        elif shown and "hidden" in shown[-1]:
            shown[-1]["hidden"] += 1
        else:
            shown.append({"hidden": 1})
    made: dict[str, Any] = {
        "id": pile.id, "name": pile.pile.name, "owner": pile.owner, "label": pile.label, "layout": str(pile.layout),
        "ordered": pile.pile.ordered, "count": len(pile.tokens), "tokens": shown,
    }  # fmt: skip
    if pile.groups:
        made["groups"] = pile.groups
    return made


def _choice_json(action: int, label: str, choice: Choice, ids: _Ids) -> dict[str, Any]:
    made: dict[str, Any] = {"action": action, "label": label, "kind": choice.kind}
    if choice.tokens:
        made["tokens"] = ids.of(choice.tokens, choice.source)
    if choice.source is not None:
        made["source"] = pile_id(choice.source)
    if choice.target is not None:
        made["target"] = pile_id(choice.target)
    if choice.amount is not None:
        made["amount"] = choice.amount
    return made
