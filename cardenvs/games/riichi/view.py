"""Texts and pictures of riichi."""

from cardenvs.core.errors import DeckError
from cardenvs.core.events import OMNISCIENT, UNKNOWN, CounterUse, PileLayout
from cardenvs.core.game_view import Choice, Pose
from cardenvs.core.view import GameStatistics, View, sees
from cardenvs.games.riichi import actions
from cardenvs.games.riichi import state as st
from cardenvs.games.riichi.hands import CHI, PON
from cardenvs.games.riichi.tiles import HONOURS, LABELS, NUM_FACES, NUM_KINDS, RED, bit_of, kind_of, next_kind
from cardenvs.games.riichi.yaku import YAKU_NAMES

_WINDS = ("east", "south", "west", "north")
_REASONS = {
    actions.NOT_NOW: "that is not the question now (rules.md 3.1, 3.2)",
    actions.NOT_HELD: "the tiles for it are not in hand (rules.md 3.1, 3.3)",
    actions.ONLY_DRAWN: "in riichi only the tile drawn may be discarded (rules.md 4.2)",
    actions.SWAPS_CALL: "after this call the tile may not be discarded (rules.md 3.6)",
    actions.OPEN_HAND: "riichi needs a closed hand (rules.md 4.1)",
    actions.NOT_TENPAI: "this discard does not leave the hand tenpai (rules.md 4.1)",
    actions.IN_RIICHI: "the player is in riichi (rules.md 4.2)",
    actions.TOO_POOR: "riichi needs 1,000 points (rules.md 4.1)",
    actions.TOO_LATE: "riichi needs four tiles left to draw (rules.md 4.1)",
    actions.TOO_MANY_KANS: "there are at most four kans in a round (rules.md 3.4)",
    actions.CHANGES_WAITS: "in riichi, a kan may change neither the waits nor the sets (rules.md 4.2)",
    actions.NO_PON: "there is no open pon to which this tile can be added (rules.md 3.5)",
    actions.LAST_TILE: "no tile is left to draw, so that there are no more calls and kans (rules.md 3.4)",
    actions.NOT_NEXT: "only the next player may call chi (rules.md 3.3)",
    actions.NO_RUN: "the tile cannot be part of such a run (rules.md 3.3)",
    actions.NO_WIN: "the tile does not complete the hand (rules.md 5.1)",
    actions.NO_YAKU: "the hand has no yaku (rules.md 5.1)",
    actions.IS_FURITEN: "the player is furiten (rules.md 4.3)",
    actions.NOT_NINE: "there are not nine different terminals and honours in hand (rules.md 8.3)",
    actions.NOT_FIRST: "that is possible on the first draw only, before any call or kan (rules.md 8.3)",
    actions.ENDS_ROUND: "the discard ends the round without a result (rules.md 8.3)",
    actions.NO_SUCH_DRAW: "this game has no abortive draws (rules.md 8.3)",
    actions.NOTHING_LEFT: "the call would leave only tiles that may not be discarded (rules.md 3.6)",
}
_CALLS = {actions.PON: "pon", actions.PON_RED: "pon with a red five", actions.OPEN_KAN: "kan", actions.RON: "ron",
          actions.TSUMO: "tsumo", actions.NINE: "nine terminals and honours", actions.PASS: "pass"}  # fmt: skip
_HAND_ORDER = sorted(range(NUM_FACES), key=lambda face: (int(kind_of(face)), face < RED))


class RiichiView(View):
    """Words of riichi."""

    tokens = LABELS
    shape = "ring"
    back, token_noun = "mahjong", "tile"
    phases = st.PHASES
    reasons = _REASONS
    remembered = frozenset({"not_seen_yet", "safe_against"})

    # -- tiles --------------------------------------------------------------------------------------------------

    def parse_token(self, text):
        """Read "5m", "0p" (a red five) or "7z", and "east", "white" and so on for honours."""
        wanted = text.strip().lower()
        if wanted in LABELS:
            return LABELS.index(wanted)
        names = (*_WINDS, "white", "green", "red")
        if wanted in names:
            return 27 + names.index(wanted)
        raise DeckError(f"{text!r} is not a tile; tiles are written as in 1m, 9p, 5s, 0s (the red five) and 1z to 7z")

    def token_face(self, token):
        return {"kind": "mahjong", "text": LABELS[token]}

    # -- the table ----------------------------------------------------------------------------------------------

    def fill_table(self, s, viewer, table):
        """The wall, indicators, hands, discards and melds."""
        super().fill_table(s, viewer, table)
        table.put("wall", [face for face in s.deck if face != st.NO_TILE], seen=viewer == OMNISCIENT)
        table.put("indicators", s.indicators[: int(s.num_indicators)])
        table.put("ura_indicators", s.ura[: int(s.num_ura)])
        for p in range(st.NUM_PLAYERS):
            table.put("hand", _listed(s.hands[p]), player=p, seen=sees(viewer, p) or bool(s.shown[p]))
            lying = [k for k in range(int(s.num_discards[p])) if not s.discard_marks[p, k] & st.WAS_CALLED]
            table.put("discards", s.discards[p, lying], player=p)
            table.put("melds", [face for m in range(int(s.num_melds[p])) for face in meld_tiles(s, p, m)], player=p)

    def arrange(self, s, viewer, scene):
        """Hands in order with the tile drawn apart; turned tiles; winds in words."""
        for p in range(st.NUM_PLAYERS):
            _arrange_hand(s, p, scene.piles["hand", p])
            _arrange_discards(s, p, scene.piles["discards", p])
            _arrange_melds(s, p, scene.piles["melds", p])
            scene.notes[p].append(_WINDS[int(st.seat_wind(s, p))])
        wind = scene.counters["wind"]
        if s.rules.length != st.ROUND:
            wind.use, wind.label, wind.value = CounterUse.NUMBER, "round", f"{_WINDS[int(s.wind)]} {int(s.dealer) + 1}"
        else:
            scene.counters["honba"].use = CounterUse.NONE
        scene.piles["wall", None].label = f"wall, {int(st.tiles_left(s))} to draw"
        if not scene.piles["ura_indicators", None].tokens:
            scene.piles["ura_indicators", None].layout = PileLayout.NONE

    # -- actions ------------------------------------------------------------------------------------------------

    def action_label(self, s, action):
        """Return "discard 5m", "riichi 5m", "closed kan 1z", "add 3p", "chi 34m", "pon", "ron", "pass" and so on."""
        if action < actions.RIICHI:
            return f"discard {LABELS[action]}"
        if action < actions.CLOSED_KAN:
            return f"riichi {LABELS[action - actions.RIICHI]}"
        if action < actions.ADDED_KAN:
            return f"closed kan {LABELS[action - actions.CLOSED_KAN]}"
        if action < actions.CHI:
            return f"add {LABELS[action - actions.ADDED_KAN]}"
        if action < actions.PON:
            return _chi_label(s, int(action))
        return _CALLS[int(action)]

    def choice(self, s, action):
        player = int(s.current_player)
        hand, river = ("hand", player), ("discards", player)
        if action < actions.RIICHI:
            return Choice((int(action),), hand, river)
        if actions.ADDED_KAN <= action < actions.CHI:
            return Choice((_added_face(s, player, int(action) - actions.ADDED_KAN),), hand, ("melds", player))
        if actions.CHI <= action < actions.PON:
            return Choice(tuple(_laid_for_chi(s, action)), hand, ("melds", player))
        return Choice()

    def prompt(self, s):
        if s.phase == st.CALLED:
            return "Discard a tile."
        if s.phase == st.TURN:
            drawn = LABELS[int(s.drawn)]
            if s.riichi[int(s.current_player)]:
                return f"You are in riichi and have drawn {drawn}. Discard it, or win or declare a kan?"
            return f"You have drawn {drawn}. Discard a tile, or do something else?"
        what = "adds" if s.phase == st.ROBBING else "discards"
        return f"player_{int(s.turn)} {what} {LABELS[int(s.tile)]}. Do you want it?"

    # -- what a careful player knows ----------------------------------------------------------------------------

    def facts(self, s, player):
        waits = 0 if s.phase == st.CALLED and s.turn == player else int(s.waits[player])
        facts = {
            "hand": [LABELS[face] for face in _HAND_ORDER for _ in range(int(s.hands[player, face]))],
            "drawn": LABELS[int(s.drawn)] if s.turn == player and s.drawn != st.NO_TILE else None,
            "waits": _kinds(waits),
            "furiten": bool(st.is_furiten(s, player)),
            "dora": [LABELS[int(next_kind(kind_of(face)))] for face in s.indicators[: int(s.num_indicators)]],
            "seat_wind": _WINDS[int(st.seat_wind(s, player))],
            "round_wind": _WINDS[int(s.wind)],
            "tiles_left": int(st.tiles_left(s)),
            "points": [int(points) for points in s.points],
            "riichi": [int(value) for value in s.riichi],
            "sticks": int(s.sticks),
            "honba": int(s.honba),
            "not_seen_yet": _unseen(s, player),
            "safe_against": {
                f"player_{q}": _kinds(int(s.thrown[q] | s.passed[q]))
                for q in range(st.NUM_PLAYERS)
                if q != player and s.riichi[q]
            },
        }
        if s.barred:
            facts["may_not_discard"] = _kinds(int(s.barred))
        return facts

    def statistics(self, state):
        """Points, rounds won, and rounds that another player won by the discard."""
        s = state.record
        figures = {"points": s.points, "wins": s.wins, "deal_ins": s.deal_ins}
        return GameStatistics({name: [float(value) for value in values] for name, values in figures.items()})

    def describe_event(self, event, kind):
        if event.kind == "yaku":
            return f"player_{event.player} has {YAKU_NAMES[event.value][0]}."
        if event.kind == "wind":
            return f"The wind of the round is {_WINDS[event.value]}."
        if event.kind == "riichi" and event.value == st.IN_DOUBLE_RIICHI:
            return f"player_{event.player} declares double riichi."
        return super().describe_event(event, kind)


# ---------------------------------------------------------------------------------------------------------------
# Parts of the texts


def meld_tiles(s, player, m):
    """Return the faces of a meld, ascending by kind, as a list."""
    kind, form = int(s.meld_kind[player, m]), int(s.meld_type[player, m])
    kinds = [kind, kind + 1, kind + 2] if form == CHI else [kind] * (3 if form == PON else 4)
    if s.meld_red[player, m]:
        k = next(k for k, one in enumerate(kinds) if one < 27 and one % 9 == 4)
        kinds[k] = RED + kinds[k] // 9
    return kinds


def _arrange_hand(s, player, hand):
    """Sort a hand; the tile drawn lies apart, if its face may be seen."""
    hand.tokens = sorted(hand.tokens, key=lambda face: -1 if face == UNKNOWN else _HAND_ORDER.index(face))
    if s.turn == player and s.drawn != st.NO_TILE and len(hand.tokens) > 1 and not s.terminal:
        drawn = int(s.drawn) if UNKNOWN not in hand.tokens else UNKNOWN
        hand.tokens.remove(drawn)
        hand.tokens.append(drawn)
        hand.groups = [len(hand.tokens) - 1, 1]


def _arrange_discards(s, player, pile):
    """Turn the tile of the riichi, or the next one if that was called."""
    marks = [int(mark) for mark in s.discard_marks[player][: int(s.num_discards[player])]]
    declared = next((k for k, mark in enumerate(marks) if mark & st.WITH_RIICHI), len(marks))
    turned = next((k for k in range(declared, len(marks)) if not marks[k] & st.WAS_CALLED), None)
    if turned is not None:
        pile.poses = {sum(not mark & st.WAS_CALLED for mark in marks[:turned]): Pose.SIDEWAYS}


def _arrange_melds(s, player, pile):
    """Lay the melds side by side: the place of the tile that lies sideways says who gave it."""
    pile.tokens, pile.groups, pile.poses = [], [], {}
    for m in range(int(s.num_melds[player])):
        faces, poses = _lying_meld(s, player, m)
        pile.poses |= {len(pile.tokens) + k: pose for k, pose in poses.items()}
        pile.tokens += faces
        pile.groups.append(len(faces))


def _lying_meld(s, player, m):
    """Return the faces of a meld as they lie, and the poses of those that do not lie upright."""
    faces, giver = meld_tiles(s, player, m), int(s.meld_from[player, m])
    if giver == st.NO_PLAYER:
        return faces, {0: Pose.DOWN, 3: Pose.DOWN}
    called, distance = int(s.meld_called[player, m]), (giver - player) % st.NUM_PLAYERS
    faces.remove(called)
    is_added = bool(s.meld_added[player, m])
    added = [faces.pop()] if is_added else []
    place = {3: 0, 2: 1, 1: len(faces)}[distance]
    poses = {place: Pose.SIDEWAYS} | ({place + 1: Pose.ATOP} if is_added else {})
    return [*faces[:place], called, *added, *faces[place:]], poses


def _listed(counts):
    """Return counts by face as a list of faces."""
    return [face for face in range(NUM_FACES) for _ in range(int(counts[face]))]


def _kinds(bits):
    return [LABELS[kind] for kind in range(NUM_KINDS) if bits & int(bit_of(kind))]


def _chi_label(s, action):
    """Return "chi with 3m 4m"; where the last tile cannot be called so, "chi as the low tile"."""
    with_red, place = divmod(action - actions.CHI, 3)
    kind = -1 if s.tile == st.NO_TILE else int(kind_of(int(s.tile)))
    if kind < 0 or kind >= HONOURS or not 0 <= kind % 9 - place <= 6:
        return f"chi as the {('low', 'middle', 'high')[place]} tile{', with a red five' if with_red else ''}"
    return f"chi with {' '.join(LABELS[face] for face in _laid_for_chi(s, action))}"


def _laid_for_chi(s, action):
    """Return the faces that a chi lays from the hand."""
    with_red, place = divmod(int(action) - actions.CHI, 3)
    low = int(kind_of(int(s.tile))) - place
    kinds = [low + k for k in range(3) if k != place]
    return [RED + kind // 9 if with_red and kind % 9 == 4 else kind for kind in kinds]


def _added_face(s, player, kind):
    return kind if s.hands[player, kind] else RED + kind // 9


def _unseen(s, player):
    """Return how many tiles of each kind the player does not see: not those that are shown at the end of a round."""
    shown = [q for q in range(st.NUM_PLAYERS) if s.shown[q] and q != player]
    ura = [int(kind_of(int(face))) for face in s.ura[: int(s.num_ura)]]
    left = {}
    for kind in range(NUM_KINDS):
        number = int(st.num_unseen(s, player, kind)) - ura.count(kind)
        left[LABELS[kind]] = number - sum(int(st.number_of(s, q, kind)) for q in shown)
    return {label: number for label, number in left.items() if number}
