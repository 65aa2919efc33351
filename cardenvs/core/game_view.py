"""The game view: what one viewer may see of a game, as one JSON document.

Pictures, the browser, prompts of language models and clients of the HTTP API are made from this document alone, so what
it does not say stays hidden. Its schema is `game_view.schema.json` beside this module, and `docs/game-view.md` explains
it. `State.view` writes it; a game adds to it in `View.token_face`, `View.choice` and `View.arrange`.
"""

import enum
import functools
import hashlib
import json
from collections import defaultdict
from dataclasses import dataclass, field
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from cardenvs.core.events import OMNISCIENT, SPECTATOR, UNKNOWN, CounterUse, Pile, PileLayout
from cardenvs.core.fold import FoldedTable

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
        named: amounts that have a name, such as ("1/2 pot", 45), for an action that stands for a range of them.
        row: for a button, the row of the keypad in which it stands, from 0; None for those beside it.
        alike: whether other tokens that are alike (`View.likeness`) would do as well as those in `tokens`.
    """

    tokens: tuple[int, ...] = ()
    source: Place | None = None
    target: Place | None = None
    amount: int | None = None
    named: tuple[tuple[str, int], ...] = ()
    row: int | None = None
    alike: bool = False

    @property
    def kind(self) -> str:
        """ "amount", "card", "pile" or "button"."""
        if self.amount is not None:
            return "amount"
        if self.tokens:
            return "card"
        return "button" if self.source is None else "pile"


@dataclass(frozen=True)
class Goal:
    """Points that the player to act must put together in one turn, and what they can be put together from.

    Attributes:
        label: what the points are for.
        have: points of the turn so far.
        need: points that are needed.
        parts: actions with their points, as {action: points}. Some of them are legal only after others. A whole play
            plays its parts in ascending order, so people may choose them in any order.
    """

    label: str
    have: int
    need: int
    parts: dict[int, int]


class Pose(enum.StrEnum):
    """How a visible token lies, if not upright and face up.

    SIDEWAYS a quarter turn to the left
    ATOP     sideways, beyond the token before it, which lies sideways, too
    DOWN     face down, although the viewer knows what it is
    """

    SIDEWAYS = "sideways"
    ATOP = "atop"
    DOWN = "down"


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
        captions: a short text for each group; empty if they have none.
        marks: short texts beside tokens, by index: what lies on them.
        poses: how tokens lie that do not lie upright and face up, by index.
    """

    pile: Pile
    owner: int | None
    label: str
    layout: PileLayout
    tokens: list[int]
    groups: list[int] = field(default_factory=list)
    captions: list[str] = field(default_factory=list)
    marks: dict[int, list[str]] = field(default_factory=dict)
    poses: dict[int, Pose] = field(default_factory=dict)

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
class SheetView:
    """Something that is kept in writing, such as an auction, in columns.

    Attributes:
        columns: headings.
        rows: texts from left to right; a row may be shorter than the headings.
        has_scores: whether it shows scores and nothing else, so that it is already that of the next hand when a hand
            has been scored.
    """

    columns: list[str]
    rows: list[list[str]]
    has_scores: bool = False


@dataclass
class Scene:
    """What a viewer will be shown of a table.

    Attributes:
        piles: by name and owner. `View.arrange` may replace a counter that has no number to show by piles of its name.
        counters: by name.
        notes: for each player, what is true of them: "dealer", "folded".
        sheet: what is written down in the middle of the table, if anything.
        turn: the player whose cards are played now, if the player to act plays those of another one.
    """

    piles: dict[Place, PileView]
    counters: dict[str, CounterView]
    notes: list[list[str]]
    sheet: SheetView | None = None
    turn: int | None = None


def write_game_view(state: "State", viewer: int, key: bytes = b"", candidates: bool = False) -> dict[str, Any]:
    """Return what `viewer` may see of `state`.

    Args:
        state: the game.
        viewer: a player, SPECTATOR or OMNISCIENT. Only the player to act gets a prompt, choices and candidates.
        key: makes the tokens' ids (see `token_id`).
        candidates: whether to add what `State.candidates` returns, which is slow in some games.
    """
    words, s = state.game.view, state.record
    ids = _Ids(viewer, key)
    view = _document(state, viewer, _arranged(state, viewer), ids)
    if state.is_terminal or viewer != state.current_player:
        return view
    listed, amounts = _without_amounts(state)
    view["prompt"] = words.prompt(s)
    view["choices"] = [
        _choice_json(action, words.action_label(s, action), words.choice(s, action), ids) for action in listed
    ]
    if amounts:
        view["choices"][-1]["most"] = view["choices"][-1]["amount"] + len(amounts) - 1
    goal = words.goal(state)
    if goal is not None:
        parts = [
            _choice_json(action, words.action_label(s, action), words.choice(s, action), ids) | {"points": points}
            for action, points in sorted(goal.parts.items())
        ]
        view["goal"] = {"label": goal.label, "have": goal.have, "need": goal.need, "parts": parts}
    if candidates:
        view["candidates"] = [{"label": one.label, "actions": list(one.actions)} for one in state.candidates()]
    return view


def write_past_view(
    before: "State", after: "State", viewer: int, table: FoldedTable, key: bytes = b""
) -> dict[str, Any]:
    """Return what `viewer` saw in the middle of an action.

    Args:
        before: the game before the action.
        after: the game after the action.
        viewer: a player, SPECTATOR or OMNISCIENT.
        table: the fold of the viewer's events up to the position.
        key: as in `write_game_view`.

    Returns:
        a view without prompt and choices, and with the piles and counters of `table`. Since games arrange a table only
        between actions, piles that are as before or after the action look as they do then, and the others keep their
        order. Everything else is as before the action.
    """
    scene = _between(before, after, viewer, table)
    return _document(before, viewer, scene, _Ids(viewer, key)) | {"terminal": False}


def _document(state: "State", viewer: int, scene: Scene, ids: "_Ids") -> dict[str, Any]:
    """Return the view of a scene, without prompt and choices."""
    return {
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
        **_table_json(scene, state.game.view, ids),
        **({} if scene.sheet is None else {"sheet": {"columns": scene.sheet.columns, "rows": scene.sheet.rows}}),
        **({} if scene.turn is None else {"turn": scene.turn}),
        "shape": state.game.view.shape,
        "prompt": "",
        "choices": [],
    }


def _without_amounts(state: "State") -> tuple[list[int], list[int]]:
    """Return the legal actions with only the lowest of a range of amounts, last, and the range; it is often empty.

    No-limit games can have thousands of amounts, each an action.
    """
    legal, amounts_of = state.legal_actions(), state.game.amounts
    zero = amounts_of.zero(state.options) if amounts_of else None
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


# -- reading the document -----------------------------------------------------------------------------------------


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


# -- writing the document -----------------------------------------------------------------------------------------


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


def _label(pile: Pile, owner: int | None) -> str:
    """Return the name of a pile for people. Won cards are "won": pictures show how many cards there are, not tricks."""
    is_won = owner is not None and pile.layout == PileLayout.WON
    return "won" if is_won else pile.name.replace("_", " ")


def _scene(table: FoldedTable, num_players: int) -> Scene:
    """Return a table as it is shown unless the game arranges it otherwise."""
    piles: dict[Place, PileView] = {}
    for (pile, owner), tokens in zip(table.spec.pile_of, table.piles, strict=True):
        if owner is None or owner < num_players:
            shown = tokens if pile.ordered else sorted(tokens, key=lambda token: (token == UNKNOWN, token))
            piles[pile.name, owner] = PileView(pile, owner, _label(pile, owner), pile.layout, list(shown))
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


def _arranged(state: "State", viewer: int) -> Scene:
    scene = _scene(state.table(viewer), state.num_players)
    state.game.view.arrange(state.record, viewer, scene)
    return scene


def _between(before: "State", after: "State", viewer: int, table: FoldedTable) -> Scene:
    """Return a table in the middle of an action as it is shown."""
    n = before.num_players
    scene, earlier, now = _scene(table, n), _arranged(before, viewer), _plain(table, n)
    changed, later = set(now), _arranged(after, viewer)
    as_later, as_earlier = (
        {place for place, value in _plain(state.table(viewer), n).items() if value == now[place]}
        for state in (after, before)
    )
    for same, arranged in ((as_later, later), (as_earlier, earlier)):
        # A pile that the arrangement adds shows the counter of its name.
        added = {place: pile for place, pile in arranged.piles.items() if place not in now and place[0] in same}
        scene.piles |= added | {place: pile for place, pile in arranged.piles.items() if place in same}
        scene.counters |= {name: counter for name, counter in arranged.counters.items() if name in same}
        for name, _ in added:
            scene.counters.pop(name, None)
        changed -= same
    scene.notes, scene.sheet, scene.turn = earlier.notes, earlier.sheet, earlier.turn
    if later.sheet and later.sheet.has_scores and as_later.issuperset(_scores(table)):
        scene.sheet = later.sheet
    for place, pile in earlier.piles.items():
        if place in changed:
            _arrange_like(scene.piles[place], pile)
    for name, counter in earlier.counters.items():
        if name in changed:
            scene.counters[name].label, scene.counters[name].use = counter.label, counter.use
    return scene


def _scores(table: FoldedTable) -> list[str]:
    """Return the names of the numbers that each player has."""
    counters = [counter for counter, owner in table.spec.counter_of if owner is not None]
    return [counter.name for counter in counters if counter.use in (CounterUse.NUMBER, CounterUse.CHIPS)]


def _plain(table: FoldedTable, num_players: int) -> dict[Any, Any]:
    """Return the contents of piles by place, and those of counters by name, in a form to compare."""
    scene = _scene(table, num_players)
    return {place: pile.tokens for place, pile in scene.piles.items()} | {
        name: counter.value for name, counter in scene.counters.items()
    }


def _arrange_like(pile: PileView, earlier: PileView) -> None:
    """Let the tokens of a pile that were in it earlier lie as they did, and the new ones after them."""
    if not pile.pile.ordered:
        kept, new = [], list(pile.tokens)
        for token in earlier.tokens:
            if token in new:
                new.remove(token)
                kept.append(token)
        pile.tokens = kept + new
    num_earlier = len(earlier.tokens)
    if pile.tokens[:num_earlier] == earlier.tokens:
        pile.label, pile.marks, pile.poses = earlier.label, earlier.marks, earlier.poses
        if earlier.groups:
            pile.groups = [*earlier.groups, len(pile.tokens) - num_earlier]
        if earlier.captions:
            pile.captions = [*earlier.captions, ""]


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
            if words.likeness(token):
                entry["like"] = words.likeness(token)
            if pile.marks.get(k):
                entry["marks"] = pile.marks[k]
            if k in pile.poses:
                entry["pose"] = str(pile.poses[k])
            shown.append(entry)
        elif shown and "hidden" in shown[-1]:
            shown[-1]["hidden"] += 1
        else:
            shown.append({"hidden": 1})
    made: dict[str, Any] = {
        "id": pile.id, "name": pile.pile.name, "owner": pile.owner, "label": pile.label, "layout": str(pile.layout),
        "ordered": pile.pile.ordered, "count": len(pile.tokens), "tokens": shown,
    }  # fmt: skip
    if words.back != "card":
        made["back"] = words.back
    if pile.pile.on:
        made["on"] = pile.pile.on
    if pile.pile.slots:
        made["slots"] = pile.pile.slots
    if pile.pile.row_length:
        made["row_length"] = pile.pile.row_length
    if pile.groups:
        made["groups"] = pile.groups
    if pile.captions:
        made["captions"] = pile.captions
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
    if choice.named:
        made["named"] = [{"label": label, "amount": amount} for label, amount in choice.named]
    if choice.row is not None:
        made["row"] = choice.row
    if choice.alike:
        made["alike"] = True
    return made
