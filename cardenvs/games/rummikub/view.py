"""Texts and pictures of Rummikub."""

import numpy as np

from cardenvs.core.events import Pile, PileLayout
from cardenvs.core.game_view import Choice, Goal, PileView
from cardenvs.core.text import count
from cardenvs.core.view import View, sees
from cardenvs.games.rummikub import actions
from cardenvs.games.rummikub.candidates import candidates, opening_points
from cardenvs.games.rummikub.catalogue import MELD_FACES, MELD_POINTS, MELDS, NUM_MELDS
from cardenvs.games.rummikub.rules import tiles_sum
from cardenvs.games.rummikub.state import LAYING, NO_MELD, TAKING_APART, TURN_BEGINS
from cardenvs.games.rummikub.tiles import (
    JOKER,
    MAX_MELDS,
    MOST_TILES,
    colour_of,
    parse_tile,
    tile_label,
    tiles_in,
    value_of,
)

_REASONS = {
    actions.POOL_EMPTY: "the pool is empty (rules.md 3.3)",
    actions.POOL_NOT_EMPTY: "there are tiles in the pool (rules.md 3.4)",
    actions.IS_BUILDING: "a play is being built; it can be completed (rules.md 8.4)",
    actions.COULD_PLAY: "a play is possible (rules.md 3.3, 3.4)",
    actions.NO_RACK_TILE: "no rack tile has been laid (rules.md 3.2 d)",
    actions.LOOSE_TILES: "there are loose tiles on the table (rules.md 3.2 c)",
    actions.JOKER_NOT_REPLACED: "a joker has got a new meaning and was not replaced (rules.md 5)",
    actions.NO_SUCH_SET: "there is no such set on the table (rules.md 8.2)",
    actions.NOT_OPEN: "a player who has not opened may not touch the table (rules.md 4.2)",
    actions.TAKE_APART_FIRST: "sets are taken apart before melds are laid (rules.md 8.2)",
    actions.OUT_OF_ORDER: "sets are taken apart, and melds laid, in rising order (rules.md 8.2, 8.3)",
    actions.TWIN_FIRST: "of equal sets the first one is taken apart first (rules.md 8.2)",
    actions.TILES_MISSING: "its tiles are neither loose nor in the rack (rules.md 8.3)",
    actions.WAS_TAKEN_APART: "this set was taken apart in this turn (rules.md 8.3)",
    actions.JOKER_IN_OPENING: "no joker may be part of an opening (rules.md 4.4)",
    actions.NOT_IN_GAME: "a tile of it is not in this game (rules.md 1.1, 2.3)",
    actions.CANNOT_BE_COMPLETED: "after that the turn could not be completed (rules.md 8.4)",
}
_LOOSE = Pile("loose", ordered=False, layout=PileLayout.ROW)  # seen by the builder alone
_MELD_TILES = (MELD_FACES[:, :, None] == np.arange(JOKER + 1)).sum(axis=1)  # by meld and tile
_COLOUR_NAMES = ("red", "blue", "black", "orange")


def meld_label(number):
    """Return the label of meld `number` of the catalogue."""
    return MELDS[number].label


class RummikubView(View):
    """The view of Rummikub."""

    token_noun = "tile"

    def token_label(self, token):
        return tile_label(token)

    def parse_token(self, text):
        return parse_tile(text)

    def token_face(self, token):
        if token == JOKER:
            return {"kind": "tile", "text": "J", "colour": "grey"}
        return {"kind": "tile", "text": str(value_of(token)), "colour": _COLOUR_NAMES[colour_of(token)]}

    # -- the table ----------------------------------------------------------------------------------------------

    def fill_table(self, s, viewer, table):
        pool = s.deck[int(s.num_dealt) : int(s.num_tiles)]
        _put(table, "pool", pool, sees(viewer, MOST_TILES))
        for p in range(int(s.rules.num_players)):
            _put(table, "hand", tiles_in(s.hands[p]), sees(viewer, p), p)
            table.set("opened", s.opened[p], player=p)
        numbers = [int(number) for number in s.sets]
        on_table = [slot.tile for number in numbers if number != NO_MELD for slot in MELDS[number].slots]
        table.put("table", sorted(on_table))
        for k, number in enumerate(numbers):
            table.set(f"set_{k + 1}", number + 1)

    def arrange(self, s, viewer, scene):
        """The table by sets, with what a joker stands for; for the builder, the play so far as on a workbench."""
        sets = [(str(k + 1), int(number)) for k, number in enumerate(s.sets) if number != NO_MELD]
        if sees(viewer, s.current_player) and not s.terminal and _phase(s) != TURN_BEGINS:
            sets = self._arrange_play(s, scene, sets)
        table, melds = scene.piles["table", None], [MELDS[number] for _, number in sets]
        slots = [slot for meld in melds for slot in meld.slots]
        table.tokens = [slot.tile for slot in slots]
        table.groups, table.captions = [len(meld.slots) for meld in melds], [caption for caption, _ in sets]
        table.marks = {k: [tile_label(slot.meaning)] for k, slot in enumerate(slots) if slot.tile == JOKER}

    def _arrange_play(self, s, scene, sets):
        """Put loose tiles beside the table and take the tiles laid off the rack. Return the sets as they lie now,
        each as its caption, a number or "new", and its meld.
        """
        hand, used, rest = scene.piles["hand", int(s.current_player)], s.used.tolist(), []
        for tile in hand.tokens:
            if used[tile]:
                used[tile] -= 1
            else:
                rest.append(tile)
        hand.tokens = rest
        taken = [str(k + 1) for k in range(MAX_MELDS) if s.taken[k]]
        if taken:
            label = f"loose, from set{'s' if len(taken) > 1 else ''} {', '.join(taken)}"
            loose = PileView(_LOOSE, None, label, PileLayout.ROW, list(tiles_in(s.loose)))
            table = scene.piles.pop(("table", None))
            scene.piles |= {("loose", None): loose, ("table", None): table}
        laid = [("new", int(number)) for number in s.laid[: int(s.num_laid)]]
        return [one for one in sets if one[0] not in taken] + laid

    # -- actions ------------------------------------------------------------------------------------------------

    def action_label(self, s, action):
        if action == actions.COMMIT:
            return "done"
        if action < actions.COMMIT:
            idle = "draw" if action == actions.DRAW else "pass"
            return idle if _phase(s) == TURN_BEGINS else f"give up and {idle}"
        if action < actions.LAY_0:
            number = int(s.sets[action - actions.TAKE_0])
            what = f" ({meld_label(number)})" if number != NO_MELD else ""
            return f"take set {action - actions.TAKE_0 + 1} apart{what}"
        return f"lay {meld_label(action - actions.LAY_0)}"

    def choice(self, s, action):
        if action in (actions.DRAW, actions.PASS, actions.COMMIT):
            return Choice((), ("pool", None)) if action == actions.DRAW else Choice()
        if action < actions.LAY_0:
            meld = MELDS[int(s.sets[action - actions.TAKE_0])]
            return Choice(tuple(slot.tile for slot in meld.slots), ("table", None))
        return Choice(tuple(slot.tile for slot in MELDS[action - actions.LAY_0].slots))

    def goal(self, state):
        """The opening, if one is possible."""
        s, rules = state.record, state.record.rules
        player, need = int(s.current_player), int(rules.initial_meld_min)
        if s.opened[player] or s.points >= need or not any(action >= actions.LAY_0 for action in state.legal_actions()):
            return None
        fits = (s.hands[player] - s.used >= _MELD_TILES).all(axis=1)
        if not rules.initial_meld_allow_joker:
            fits &= _MELD_TILES[:, JOKER] == 0
        fits[: int(s.laid[int(s.num_laid) - 1]) if s.num_laid else 0] = False
        return Goal(
            "opening", int(s.points), need, {actions.LAY_0 + int(k): int(MELD_POINTS[k]) for k in np.flatnonzero(fits)}
        )

    def illegal_reason(self, s, action, code):
        if code == actions.OPENING_TOO_LOW:
            return f"the melds laid are worth {s.points}, less than {s.rules.initial_meld_min} (rules.md 4.1)"
        return _REASONS[code]

    def prompt(self, s):
        phase = _phase(s)
        if phase == TURN_BEGINS:
            idle = "draw" if s.num_dealt < s.num_tiles else "pass"
            if s.opened[s.current_player]:
                return f"Begin a play, or {idle}?"
            points, needed = opening_points(s), s.rules.initial_meld_min
            if points >= needed:
                return f"Open with {count(int(needed), 'point')}, or {idle}?"
            return f"Your melds are worth {points} of the {needed} points needed to open: {idle}."
        loose = " ".join(tile_label(tile) for tile in tiles_in(s.loose))
        if phase == TAKING_APART:
            return f"Take more apart, or lay melds. Loose: {loose}."
        if not s.opened[s.current_player] and s.points < s.rules.initial_meld_min:
            return f"Lay more melds: {s.points} of the {s.rules.initial_meld_min} points needed to open are laid."
        return f"Lay more melds{f'; loose: {loose}' if loose else ', or be done'}."

    # -- what a careful player knows ----------------------------------------------------------------------------

    def facts(self, s, player):
        used = s.used if player == s.current_player else 0 * s.used
        rack = s.hands[player] - used
        facts = {
            "rack": [tile_label(tile) for tile in tiles_in(rack)],
            "rack_points": int(tiles_sum(s, rack)),
            "table": {f"set {k + 1}": meld_label(int(n)) for k, n in enumerate(s.sets) if n != NO_MELD},
            "pool": int(s.num_tiles - s.num_dealt),
            "rack_sizes": [int(held) for held in s.rack_sizes[: int(s.rules.num_players)]],
            "opened": [bool(s.opened[p]) for p in range(int(s.rules.num_players))],
            "passes_in_a_row": int(s.num_passes),
        }
        if player == s.current_player and _phase(s) != TURN_BEGINS:
            facts["taken_apart"] = [f"set {k + 1}" for k in range(MAX_MELDS) if s.taken[k]]
            facts["laid"] = [meld_label(int(s.laid[k])) for k in range(int(s.num_laid))]
            facts["loose"] = [tile_label(tile) for tile in tiles_in(s.loose)]
            facts["points_laid"] = int(s.points)
        return facts

    def candidates(self, state, player):
        """Return whole plays, or the legal steps while a play is being built."""
        return candidates(state, player)

    def describe_event(self, event, kind):
        if event.kind in ("lay", "step_lay") and 1 <= event.value <= NUM_MELDS:
            where = f" as {event.source[0].replace('_', ' ')}" if event.source else ""
            return f"player_{event.player} lays {meld_label(event.value - 1)}{where}."
        return super().describe_event(event, kind)


# ---------------------------------------------------------------------------------------------------------------
# Parts


def _phase(s):
    if s.num_laid > 0:
        return LAYING
    return TAKING_APART if s.last_taken >= 0 else TURN_BEGINS


def _put(table, pile, tiles, seen, player=0):
    """Put tiles on the table, face up or face down."""
    if seen:
        table.put(pile, tiles, player=player)
    else:
        table.put(pile, unknown=len(tiles), player=player)
