"""The table of a game view: the players around it, what lies before them and between them, and the viewer's own place.

Wide pictures of a "ring" seat the other players to the left, at the top and to the right; all others seat them in rows
at the top. The viewer always sits at the bottom.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cardenvs.pictures.faces import box, circle, suit_style, text
from cardenvs.pictures.piles import (
    GAP,
    Block,
    Marks,
    back_of,
    backs,
    bare,
    fan_height,
    flow,
    hand,
    hidden_dice,
    hidden_tiles,
    is_arched,
    is_text,
    labelled,
    listed,
)
from cardenvs.pictures.seats import badge, seat
from cardenvs.pictures.text import text_width

_PAD = 8.0  # within a place
_LINE = 20.0  # height of a line in writing
_LAID = ("trick", "row", "sets", "columns", "grid")  # layouts of piles that a player has laid on the table
_LANE, _OWN_LANE = 190.0, 400.0  # widths of what players lay on the table: at the sides, and the viewer
_LEAST_HIGH = 200.0  # height of the table between the players of a ring
_OPEN_WIDTH = 264.0  # of a hand that lies open in four groups
_LEAST_WORDS = 150.0  # width of a face with its words, if there is little room
_MOST_LARGE = 16  # cards of a hand that is drawn large
_ON_A_SIDE = {1: 0, 2: 0, 3: 1, 4: 1, 5: 1, 6: 2, 7: 2, 8: 2, 9: 3}  # players on each side, by their number


@dataclass(frozen=True)
class _Form:
    """Measures of wide pictures, and of narrow ones."""

    across: float
    margin: float
    badge: float  # width of a face with its words, at least
    own: float  # scale of the viewer's hand
    large: float  # of the same if it has many cards
    laid: float  # of what lies on the table
    seen: float  # of the cards of others that the viewer sees
    open: float  # of a hand that lies open in groups
    back: float  # of cards that lie face down before others
    per_row: int  # players side by side at the top


_WIDE = _Form(960.0, 14.0, 196.0, 1.6, 1.3, 1.0, 0.78, 1.0, 0.5, 3)
_NARROW = _Form(360.0, 8.0, 150.0, 1.35, 1.05, 0.9, 0.71, 0.9, 0.4, 1)
_MOST_ROWS = 3  # of one player each; more players sit two by two


def draw_table(view: dict[str, Any], marks: Marks, y: float, across: float) -> tuple[list[str], float]:
    """Return the elements of a table that begins at `y`, and the y below it."""
    table = _Table(view, marks, _WIDE if across >= _WIDE.across else _NARROW)
    if table.in_ring:
        stages = [table.ring, table.own_place]
    elif table.has_mats:  # the viewer's own mat comes before those of the others
        stages = [table.middle, table.own_place, table.others]
    else:
        stages = [table.others, table.middle, table.own_place]
    parts: list[str] = []
    for stage in stages:
        more, y = stage(y)
        parts += more
    return parts, y - GAP + table.form.margin


class _Table:
    def __init__(self, view: dict[str, Any], marks: Marks, form: _Form) -> None:
        self.view, self.marks, self.form = view, marks, form
        num_players = len(view["players"])
        self.own = view["viewer"] if isinstance(view["viewer"], int) else 0
        self.opponents = [(self.own + k) % num_players for k in range(1, num_players)]
        self.inside = form.across - 2 * form.margin
        self.has_mats = any(pile["layout"] == "grid" for pile in view["piles"])
        tokens = (token for pile in view["piles"] for token in pile["tokens"] if "id" in token)
        self.has_dice = any(token["face"]["kind"] == "die" for token in tokens)
        self.has_lines = any("row_length" in pile for pile in view["piles"])
        self.has_mahjong = any(back_of(pile) == "mahjong" for pile in view["piles"])
        self.in_ring = view["shape"] == "ring" and form is _WIDE

    # -- piles --------------------------------------------------------------------------------------------------

    def _piles(self, owner: int | None, is_laid: bool | None = None) -> list[dict[str, Any]]:
        """Return an owner's piles. Empty ones of players are left out, but not a hand, nor a stock that has run out."""
        return [
            pile
            for pile in self.view["piles"]
            if pile["owner"] == owner
            and (
                pile["count"] or "slots" in pile or pile["layout"] == "grid" or pile["name"] == "hand" or owner is None
            )
            and is_laid in (None, pile["layout"] in (("grid",) if self.has_mats else _LAID))
        ]

    def _held(self, player: int, width: float) -> list[Block]:
        """Return what another player holds or has gathered."""
        found = []
        for pile in self._piles(player, is_laid=False):
            is_hand = pile["name"] == "hand" or pile["layout"] == "hand"
            is_seen = any("id" in token for token in pile["tokens"]) and pile["layout"] not in ("won", "stack")
            if _is_open(pile):
                found.append(bare(pile | {"layout": "columns"}, self.form.open, self.marks, width))
            elif is_text(pile) and pile["layout"] != "stack":
                found.append(listed(pile, self.form.back, self.marks, width))
            elif is_hand and not is_seen:
                hidden = hidden_dice if self.has_dice else hidden_tiles if self.has_mahjong else backs
                found.append(hidden(pile["count"], self.form.back))
            else:
                scale = self.form.seen if is_seen else self.form.back
                found.append((bare if is_hand else labelled)(pile, scale, self.marks, width))
        return found

    def _has_open(self, player: int) -> bool:
        """Return whether a player's hand lies open in groups."""
        return any(map(_is_open, self._piles(player, is_laid=False)))

    def _laid(self, player: int, scale: float, width: float) -> list[Block]:
        """Return what a player has laid on the table, and their chips."""
        found = []
        for pile in self._piles(player, is_laid=True):
            draw = bare if pile["layout"] == "trick" else labelled
            found.append(draw(pile, scale, self.marks, width))
        for one in self.view["counters"]:
            if one["use"] == "chips" and isinstance(one["value"], list) and one["value"][player]:
                found.append(_chips(str(one["value"][player])))
        return found

    def _shared(self, width: float) -> Block:
        """Return the piles that belong to nobody."""
        piles = self._piles(None)
        on = {pile["on"]: pile for pile in piles if "on" in pile}
        blocks = [
            labelled(pile, self.form.laid, self.marks, width, on.get(pile["id"])) for pile in piles if "on" not in pile
        ]
        for one in self.view["counters"]:
            if one["use"] == "chips" and not isinstance(one["value"], list):
                blocks.append(_chips(f"{one['label']} {one['value']}"))
        if "sheet" in self.view:
            blocks.append(_sheet(self.view["sheet"], width))
        return flow(blocks, width, 16 if self.has_mats else 22, centred=True)

    # -- the other players and the middle -----------------------------------------------------------------------

    def others(self, y: float) -> tuple[list[str], float]:
        """Return the other players in rows."""
        parts: list[str] = []
        least = 1 if len(self.opponents) <= _MOST_ROWS else 2
        per_row = 1 if self.has_mats else max(self.form.per_row, least)
        for row in _rows(self.opponents, per_row):
            width = (self.inside - GAP * (len(row) - 1)) / len(row)
            height = max(self._place(player, width, with_laid=True).height for player in row)
            for k, player in enumerate(row):
                place = self._place(player, width, with_laid=True, height=height)
                parts.append(place.at(self.form.margin + k * (width + GAP), y))
            y += height + GAP
        return parts, y

    def middle(self, y: float) -> tuple[list[str], float]:
        """Return what belongs to nobody."""
        middle = self._shared(self.inside)
        if not middle.parts:
            return [], y
        return [middle.at((self.form.across - middle.width) / 2, y)], y + middle.height + GAP

    def _place(self, player: int, width: float, with_laid: bool = False, height: float = 0.0) -> Block:
        """Return the place of another player, at least `height` high."""
        room = width - 2 * _PAD
        held, laid = self._held(player, room), []
        if with_laid:
            laid = self._laid(player, 0.8 * self.form.laid, self._room_beside(room))
        if self.has_mats:
            above = self._strip(player, held, room) or self._beside(player, held, room)
            inner = flow([above, *laid], room, 12)
        else:
            strip = self._strip(player, held + laid, room) if self.form is _NARROW else None
            inner = strip or self._beside(player, held + laid, room)
        height = max(height, inner.height + 2 * _PAD)
        drawn = seat(self.view, player, width, height, inner.at(_PAD, _PAD))
        if not (self.view["players"][player]["active"] or self.view["terminal"]):
            drawn = f'<g opacity="0.55">{drawn}</g>'
        return Block(width, height, (drawn,))

    def _beside(self, player: int, blocks: Sequence[Block], room: float) -> Block:
        """Return a player's words, a little shorter if that leaves room for what they have beside them."""
        left = room - 12 - _widest(blocks)
        words = max(min(left, self.form.badge), _LEAST_WORDS) if left >= _LEAST_WORDS else min(room, self.form.badge)
        return flow([badge(self.view, player, words), *blocks], room, 12)

    def _strip(self, player: int, beside: Sequence[Block], room: float) -> Block | None:
        """Return a player's words with what they have to the right of them, if that leaves room for the words."""
        right = flow(beside, self._room_beside(room), 8)
        left = room - right.width - 10
        if left < self.form.badge:
            return None
        words = badge(self.view, player, left)
        height = max(words.height, right.height)
        parts = (words.at(0, 0), right.at(room - right.width, 0)) if right.parts else (words.at(0, 0),)
        return Block(room, height, parts)

    def _room_beside(self, room: float) -> float:
        """Return the width of what a player has to the right of their words."""
        return room - self.form.badge - 10 if self.has_lines and self.form is _NARROW else room

    def ring(self, y: float) -> tuple[list[str], float]:
        """Return the other players at three sides of the table, and what lies on it."""
        on_side = _ON_A_SIDE.get(len(self.opponents), 0)
        num_top = len(self.opponents) - 2 * on_side
        left, top, right = (
            self.opponents[:on_side][::-1],
            self.opponents[on_side:][:num_top],
            self.opponents[on_side + num_top :],
        )
        widths = [self._side_width(side) for side in (left, right)]
        parts, y = self._top(top, y)
        above = min(self.inside / max(len(top), 1) - GAP, _OWN_LANE)
        lanes = [self._lane(left, _LANE), self._lane(top, above), self._lane(right, _LANE)]
        if self.has_lines:  # these need much room, so players at the sides have them in their places
            lanes[0] = lanes[2] = []
        own = self._lane([self.own], _OWN_LANE)
        room = self.inside - 2 * (max(widths) + GAP * bool(on_side))
        between = room - 2 * (max(_widest(lanes[0]), _widest(lanes[2])) + GAP * bool(on_side))
        middle = self._shared(max(between, 120))
        taken = _highest(lanes[1]) + middle.height + _highest(own)
        places = [
            [self._place(player, width, with_laid=self.has_lines) for player in side]
            for side, width in zip((left, right), widths, strict=True)
        ]
        stacked = [sum(place.height + GAP for place in side) for side in places]
        height = max(taken + 2 * GAP, *stacked, _LEAST_HIGH)
        parts += self._side(places[0], lanes[0], y, height, is_left=True)
        parts += self._side(places[1], lanes[2], y, height, is_left=False)
        centre, step = self.form.across / 2, room / max(len(top), 1)
        for k, laid in enumerate(lanes[1]):
            parts += _placed(laid, centre - room / 2 + step * (k + 0.5) - laid.width / 2, y)
        parts += _placed(middle, centre - middle.width / 2, y + _highest(lanes[1]) + (height - taken) / 2)
        parts += _placed(own[0], centre - own[0].width / 2, y + height - own[0].height)
        return parts, y + height + GAP

    def _side_width(self, players: Sequence[int]) -> float:
        """Return the width of the places on one side."""
        if not players:
            return 0.0
        return (_OPEN_WIDTH if any(map(self._has_open, players)) else self.form.badge) + 2 * _PAD

    def _side(
        self, places: Sequence[Block], lane: Sequence[Block], y: float, height: float, is_left: bool
    ) -> list[str]:
        """Return the places on one side, spread over `height`, each with what its player has laid beside it."""
        parts: list[str] = []
        free = (height - sum(place.height for place in places)) / (len(places) + 1)
        for place, laid in itertools.zip_longest(places, lane):
            y += free
            x = self.form.margin if is_left else self.form.across - self.form.margin - place.width
            parts.append(place.at(x, y))
            if laid:
                beside = x + place.width + GAP if is_left else x - GAP - laid.width
                parts += _placed(laid, beside, y + (place.height - laid.height) / 2)
            y += place.height
        return parts

    def _top(self, players: Sequence[int], y: float) -> tuple[list[str], float]:
        """Return the places at the top, and the y below them."""
        if not players:
            return [], y
        widest = (self.inside - GAP * (len(players) - 1)) / len(players)
        is_open = any(map(self._has_open, players))
        most = self.form.badge + 12 + _OPEN_WIDTH + 2 * _PAD if is_open else 420.0 if len(players) < 3 else 300.0
        width = min(widest, most)
        height = max(self._place(player, width).height for player in players)
        step = self.inside / len(players)
        parts = []
        for k, player in enumerate(players):
            place = self._place(player, width, height=height)
            parts.append(place.at(self.form.margin + step * (k + 0.5) - place.width / 2, y))
        return parts, y + height + GAP

    def _lane(self, players: Sequence[int], width: float) -> list[Block]:
        """Return what each of some players has laid before them."""
        return [flow(self._laid(player, self.form.laid, width), width, 8, 6, centred=True) for player in players]

    # -- the viewer's place -------------------------------------------------------------------------------------

    def own_place(self, y: float) -> tuple[list[str], float]:
        """Return the viewer's place at the bottom: what they have laid, their face, their hand and what they won."""
        form, parts = self.form, []
        if not self.in_ring:
            laid = flow(self._laid(self.own, form.laid, self.inside), self.inside, centred=True)
            if laid.parts:
                parts.append(laid.at((form.across - laid.width) / 2, y))
                y += laid.height + GAP
        hands, gathered = self._own_piles()
        width, least = self.inside - 2 * _PAD, 0.0
        if hands and not self.has_mats and not self.has_mahjong:
            least = fan_height(form.own, is_arched(hands[0]))
        left, right = form.badge + GAP, gathered.width + GAP
        if form is _NARROW or (any(map(is_text, hands)) and self._is_better_below(hands, width, left + right)):
            face = badge(self.view, self.own, width - gathered.width - GAP)
            cards = self._own_hands(hands, width)
            cards_y = max(face.height, gathered.height) + GAP
            cards_x = (width - cards.width) / 2
            height = cards_y + max(cards.height, least) if hands else cards_y - GAP
        else:
            has_cards = any(pile["count"] for pile in hands) or not self.has_mats
            face = badge(self.view, self.own, form.badge if has_cards else width - right)
            cards = self._own_hands(hands, width - left - right)
            height = max(face.height, cards.height, gathered.height, least)
            cards_y = height - cards.height
            cards_x = min(max((width - cards.width) / 2, left), width - right - cards.width)
        inside = [face.at(_PAD, _PAD), *_placed(cards, _PAD + cards_x, _PAD + cards_y)]
        inside += _placed(gathered, _PAD + width - gathered.width, _PAD)
        height += 2 * _PAD
        place = Block(self.inside, height, (seat(self.view, self.own, self.inside, height, *inside),))
        return [*parts, place.at(form.margin, y)], y + height + GAP

    def _is_better_below(self, hands: Sequence[dict[str, Any]], width: float, beside: float) -> bool:
        """Return whether a hand of cards with text needs less height below a player's words than beside them."""
        words = badge(self.view, self.own, width - beside).height
        return words + GAP + self._own_hands(hands, width).height < self._own_hands(hands, width - beside).height

    def _own_piles(self) -> tuple[list[dict[str, Any]], Block]:
        """Return the viewer's hand, and what else they have that does not lie on the table."""
        piles = self._piles(self.own, is_laid=False)
        name = next((pile["name"] for pile in piles if pile["layout"] in ("hand", "fan")), None)
        shown = [self._own_pile(pile) for pile in piles if pile["name"] != name]
        return [pile for pile in piles if pile["name"] == name], flow(shown, self.inside / 2, 10)

    def _own_pile(self, pile: dict[str, Any]) -> Block:
        if is_text(pile) and pile["layout"] != "stack":
            return listed(pile, self.form.back, self.marks, self.inside / 2)
        scale = self.form.back if pile["layout"] in ("won", "stack") else self.form.seen
        return labelled(pile, scale, self.marks, self.inside / 2)

    def _own_hands(self, hands: Sequence[dict[str, Any]], width: float) -> Block:
        hands = [pile for pile in hands if pile["count"]]
        is_large = sum(pile["count"] for pile in hands) > _MOST_LARGE
        scale = self.form.large if is_large else self.form.own
        return flow([self._own_hand(pile, scale, width) for pile in hands], width, 16, centred=True)

    def _own_hand(self, pile: dict[str, Any], scale: float, room: float) -> Block:
        shown = hand(pile, scale, self.marks, room)
        if pile["label"] == pile["name"]:
            return Block(shown.width, shown.height, (f'<g data-pile="{pile["id"]}">{"".join(shown.parts)}</g>',))
        caption = text(shown.width / 2, 13.5, pile["label"], 13.5, "cv-dim", "middle")
        named = f'<g data-pile="{pile["id"]}">{shown.at(0, 16)}</g>'
        return Block(shown.width, shown.height + 16, (caption, named))


def _is_open(pile: dict[str, Any]) -> bool:
    """Return whether a pile is a hand of playing cards that lies open in groups."""
    faces = [token["face"]["kind"] if "id" in token else "" for token in pile["tokens"]]
    return pile["layout"] == "fan" and bool(pile.get("groups")) and set(faces) == {"card"}


def _sheet(sheet: dict[str, Any], width: float) -> Block:
    """Return something that is kept in writing as a small table."""
    columns, rows = sheet["columns"], sheet["rows"]
    wide = min(width / len(columns), 84.0)
    high = 26 + _LINE * max(len(rows), 1) + 8
    parts = [box(0, 0, wide * len(columns), high, "cv-paper", 8)]
    for k, heading in enumerate(columns):
        parts.append(text(wide * (k + 0.5), 18, heading, 13, "cv-title", "middle"))
        parts += [
            text(wide * (k + 0.5), 20 + _LINE * (n + 1), row[k], 14, f"cv-print{suit_style(row[k])}", "middle")
            for n, row in enumerate(rows)
            if k < len(row)
        ]
    return Block(wide * len(columns), high, tuple(parts))


def _chips(shown: str) -> Block:
    """Return a stack of chips with its number."""
    stack = [circle(14, 18 - 3 * k, 11, "cv-chip") for k in range(3)]
    ground = text_width(shown, 14, bold=True) + 12
    return Block(30 + ground, 32, (*stack, text(32, 20, shown, 14, "cv-name")))


def _rows(players: Sequence[int], per_row: int) -> list[Sequence[int]]:
    """Return players in as few rows as possible, of nearly equal length."""
    num_rows = -(-len(players) // per_row)
    ends = [round(k * len(players) / num_rows) for k in range(num_rows + 1)] if num_rows else []
    return [players[first:last] for first, last in itertools.pairwise(ends)]


def _placed(block: Block, x: float, y: float) -> list[str]:
    """Return a block at (x, y), if there is anything in it."""
    return [block.at(x, y)] if block.parts else []


def _widest(blocks: Sequence[Block]) -> float:
    return max((block.width for block in blocks), default=0.0)


def _highest(blocks: Sequence[Block]) -> float:
    return max((block.height for block in blocks), default=0.0)
