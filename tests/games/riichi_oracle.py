"""Japanese riichi mahjong once more, slow and obvious, from the text of the rules; scoring: riichi_oracle_score.py.

Seats are absolute: the first dealer of a match is seat 0. A wall is 136 faces: wall[13 * n : 13 * n + 13] is dealt
to the n-th player from the dealer, draws follow from 52 upward, 122..125 are the replacement tiles, 126..130 the
indicators in the order in which they open, 131..135 the ura indicators below them. Each kan takes the last tile that
could be drawn out of play.

Rulings on what the rules leave open. "RE" is riichienv's Tenhou preset, followed unless noted.

Order of play
 1. After a discard: (a) the waiting indicators of open and added kans open, then the tile is laid down; (b) every
    player with a legal ron is asked in turn order from the discarder, all of them, under head_bump too; (c) if
    nobody rons, the stick of a riichi discard is paid and riichi begins; (d) the abortive draws that end with this
    discard take place, before pon and chi are offered (RE looks only if nobody could claim anything); (e) with an empty
    wall the round is drawn; (f) the one player who may is asked for pon and open kan; (g) the next player for chi;
    (h) the next player draws.
 2. A kan of one's own needs a drawn tile: none right after pon or chi. No kan of any sort on an empty wall or after
    the fourth of the round (RE knows no such limit).
 3. Draws left are 70 - draws - kans made; replacement tiles are such draws, each kan counts once. Riichi needs four
    left after the own draw and 1000 points, exactly 1000 included.
 4. Added kan: waiting indicators open; the tile joins the pon; robbing is asked; if nobody robs, ippatsu of all and
    the first go-round end, its own indicator waits, a replacement tile is drawn. Robbed: ippatsu counts, the kan
    stays a pon and counts for nothing (the tile is in no hand and no meld).
 5. Closed kan: never robbed, thirteen orphans included. Waiting indicators open, then its own, then the replacement is
    drawn. The indicator of an open or added kan that is won on its replacement tile never opens. kan_dora=False: one
    indicator, and one ura indicator, all round.
 6. A win on the last tile that is a replacement tile: "after a kan" only. A discard with no draw left is the last
    discard, after a kan too.
Calls
 7. Swap calling goes by kinds, red or plain alike. A call that leaves only forbidden tiles is not offered; each id
    is looked at for itself. An open kan forbids nothing.
 8. A called tile stays among its discarder's discards, marked, for furiten and nagashi.
 9. The ids of a stage are asked together; a player is asked only with a choice besides passing.
Riichi and furiten
10. A wait of which the player has all four, melds and closed kans included, is none, for riichi, tenpai and furiten
    alike (RE looks at concealed tiles only). Any other wait is good for riichi and tenpai: without yaku, furiten, or
    with all its tiles gone.
11. If a riichi discard is ronned, no stick is paid. Triple ron as a draw: the rons are void, the stick is paid.
12. Ippatsu lasts to the next own discard and ends by any chi, pon or kan, one's own closed kan too. A riichi discard
    that is called leaves a riichi without ippatsu.
13. Double riichi, a win on the first draw and nine terminals need that no chi, pon or kan came before, closed and own
    ones included.
14. Closed kan in riichi: of the drawn kind, the waits stay, and in each reading of the hand with each wait into sets
    and a pair the three tiles held are a triplet (RE compares waits only).
15. Passing furiten: a discard or the tile of an added kan was one of the waits, with or without yaku, asked or not,
    and the player did not win. It ends when he next draws or calls; in riichi it never does.
16. Own discards, called ones and the riichi tile included, make furiten if any of the waits is among them.
17. In riichi a player is asked for ron only; in his turn he may discard the drawn face, and is asked even so.
Wins
18. Two rons: sticks and honba to the first in turn order from the discarder; each is paid for his own hand. Three
    with multiple_ron "double": a draw, whatever abortive_draws says. head_bump: only the first wins, never a draw.
19. Pao begins when a pon or open kan lays the third set of dragons or the fourth of winds among the player's melds
    (closed kans count as sets, but the last must be fed) and counts if the hand wins with big dragons or big winds.
    By tsumo the liable player pays everything, all other yakuman and the honba too. By ron of another's tile he pays
    half of everything and all of the honba, as in RE (the EMA text has honba from the discarder).
20. With a yakuman nothing else counts, no dora either; yakuman add up. A hand of 13 han is one yakuman at most.
21. Nine gates has no meld, no closed kan either. Seven pairs of honours are all honours. All green needs no green
    dragon. Double: orphans if the 13 tiles before were all different, gates if they were 1112345678999.
22. The best reading has most pay, then real yakuman rather than counted ones, then most han, then most fu. A yakuman
    reports 13 han each and 0 fu.
23. Dora count tiles in melds and all four of a kan, once for each indicator that shows them.
24. double_wind_fu is for a pair that is seat and round wind.
Draws
25. At an exhaustive draw everybody's hand is looked at, in riichi or not. Each player with nagashi is paid like a
    mangan by tsumo without honba and sticks, several after one another, and nobody pays for noten. Ron of the last
    discard comes first. Calling does not spoil one's own nagashi.
26. Four winds and four riichi: a riichi of the last discard is paid. Four kans: by two players or more, after the
    discard that follows the fourth; one player with four plays on.
27. Sticks stay on the table at any draw, and for good after the only round of length "round": points + 1000 * sticks is
    constant. After a match they go to first place.
Match
28. The dealer repeats after his win (one of two rons too), his tenpai at an exhaustive draw or nagashi (RE: if he has
    the nagashi), and any abortive draw. Honba: + 1 after his win and any draw, 0 after another win.
29. The match ends, in this order: a player is below 0; in the last round (East 4, South 4) the dealer won or was
    tenpai (an abortive draw does not do) and leads with 30000 or more; the deal passes from it and somebody has 30000;
    after any round in the extra wind, repeats too, somebody has 30000; its fourth round passes. The 30000 do not
    follow starting_points.
30. Equal points: nearer the first dealer (the lower seat) is higher; sticks are given after ranking.
"""

from collections import Counter
from dataclasses import dataclass

from riichi_oracle_score import (
    DRAGONS,
    KANS,
    ORPHANS,
    RED_FIVES,
    WINDS,
    Win,
    Worth,
    kind_of,
    readings,
    ron_pay,
    tsumo_pay,
    waits,
    worth,
)

RIICHI, CLOSED_KAN, ADDED_KAN = 37, 74, 108
CHI, RED_CHI, PON, RED_PON, OPEN_KAN, RON, TSUMO, NINE_TERMINALS, PASS = 142, 145, 148, 149, 150, 151, 152, 153, 154

DEFAULTS = {
    "length": "round", "starting_points": 25000, "red_fives": True, "open_tanyao": True, "kiriage_mangan": False,
    "double_yakuman": False, "counted_yakuman": True, "multiple_ron": "double", "swap_calling": False,
    "abortive_draws": True, "nagashi": True, "pao": True, "ura_dora": True, "kan_dora": True, "ippatsu": True,
    "double_wind_fu": 4, "returns": "points",
}  # fmt: skip
TARGET = 30000


def options_of(options):
    unknown = set(options) - set(DEFAULTS)
    if unknown:
        raise ValueError(f"unknown options: {sorted(unknown)}")
    return DEFAULTS | options


def full_set(red_fives=True):
    """The 136 faces, sorted; shuffle them for a wall."""
    faces = [kind for kind in range(34) for _ in range(4)]
    for red, five in RED_FIVES.items() if red_fives else ():
        faces[faces.index(five)] = red
    return sorted(faces)


@dataclass
class Discard:
    face: int
    tsumogiri: bool
    riichi: bool = False
    called: bool = False


@dataclass
class Meld:
    sort: str  # chi, pon, open kan, added kan, closed kan
    faces: list  # sorted
    called: int | None  # the face taken from a discard
    source: int | None  # whose discard

    @property
    def kind(self):
        """The kind of a pon or kan."""
        return kind_of(self.faces[0])


@dataclass
class Result:
    """How a round ended: sort is tsumo, ron, exhaustive, nagashi, or an abortive draw.

    The abortive draws are nine_terminals, four_winds, four_riichi, four_kans and triple_ron. `wins` are tuples
    (player, Worth, deltas); deltas are all points that change hands at the end, sticks won included.
    """

    sort: str
    wins: list
    deltas: list
    source: int | None = None  # the discarder, or who made the robbed kan
    face: int | None = None  # the tile won with
    tenpai: list | None = None  # of each player, at an exhaustive draw and nagashi

    @property
    def is_win(self):
        return self.sort in ("tsumo", "ron")


class Round:
    """One round on a given wall; asks `current` for one of `legal()` until `done`."""

    def __init__(self, wall, *, dealer=0, round_wind=0, honba=0, sticks=0, points=None, **options):
        self.options = options_of(options)
        assert len(wall) == 136
        self.wall = list(wall)
        self.dealer, self.round_wind, self.honba, self.sticks = dealer, round_wind, honba, sticks
        self.points = list(points or [self.options["starting_points"]] * 4)
        self.hands = [[] for _ in range(4)]
        for place in range(4):
            self.hands[(dealer + place) % 4] = sorted(wall[13 * place : 13 * place + 13])
        self.melds = [[] for _ in range(4)]
        self.discards = [[] for _ in range(4)]
        self.riichi = [0] * 4  # 1 riichi, 2 double riichi
        self.ippatsu = [False] * 4
        self.passed = [False] * 4  # passing furiten, until the next turn; for good in riichi
        self.liable = [{} for _ in range(4)]  # yaku: who fed the last set
        self.next_draw, self.kans, self.num_open, self.waiting = 52, 0, 1, 0
        self.first_turns = True  # no call or kan yet
        self.drawn, self.after_kan = None, False
        self.forbidden = set()  # kinds not to be discarded after a call
        self.stage, self.asked, self.rons = "turn", [], []
        self.source = self.offered = None  # the tile others are asked about, and whose it is
        self.pending_riichi = None  # who declared, while the discard may be ronned
        self.robbed_kan = None
        self.result = None
        self._draw(dealer)

    # -- what can be seen ------------------------------------------------------------------------------------------

    @property
    def done(self):
        return self.result is not None

    @property
    def indicators(self):
        return self.wall[126 : 126 + self.num_open]

    @property
    def ura_indicators(self):
        return self.wall[131 : 131 + self.num_open]

    @property
    def draws_left(self):
        return 122 - self.kans - self.next_draw

    def resting_hand(self, player):
        """The hand without the drawn tile; None while a call waits for its discard."""
        hand = list(self.hands[player])
        if len(hand) % 3 == 2:
            if self.drawn is None or player != self.player:
                return None
            hand.remove(self.drawn)
        return hand

    def waits(self, player):
        hand = self.resting_hand(player)
        return set() if hand is None else waits(hand, self._plain_melds(player))

    def furiten(self, player):
        """Whether the player may not win by ron now (False for a hand that is not tenpai or must discard)."""
        found = self.waits(player)
        own = {kind_of(discard.face) for discard in self.discards[player]}
        return bool(found) and (self.passed[player] or bool(found & own))

    def _plain_melds(self, player):
        return [(meld.sort, meld.faces) for meld in self.melds[player]]

    def _is_closed(self, player):
        return all(meld.sort == "closed kan" for meld in self.melds[player])

    def seat_wind(self, player):
        return (player - self.dealer) % 4

    # -- what is legal ---------------------------------------------------------------------------------------------

    def legal(self):
        if self.done:
            return []
        if self.stage == "turn":
            return sorted(self._legal_turn())
        return [*sorted(self.asked[0][1]), PASS]

    def _legal_turn(self):
        player, hand = self.player, self.hands[self.player]
        ids = self._kan_ids()
        if self.drawn is not None and self._worth(player, self.drawn, tsumo=True):
            ids.append(TSUMO)
        if self.riichi[player]:
            return [*ids, self.drawn]
        ids += {face for face in hand if kind_of(face) not in self.forbidden}
        if self._may_declare_riichi():
            for face in set(hand):
                rest = list(hand)
                rest.remove(face)
                if waits(rest, self._plain_melds(player)):
                    ids.append(RIICHI + face)
        if self.options["abortive_draws"] and self._is_first_turn(player) and self.drawn is not None:
            kinds = set(map(kind_of, hand))
            if len(kinds & ORPHANS) >= 9:
                ids.append(NINE_TERMINALS)
        return ids

    def _is_first_turn(self, player):
        return self.first_turns and not self.discards[player]

    def _may_declare_riichi(self):
        player = self.player
        return (
            self.drawn is not None
            and self._is_closed(player)
            and self.points[player] >= 1000
            and self.draws_left >= 4
        )  # fmt: skip

    def _may_kan(self):
        return self.draws_left > 0 and self.kans < 4

    def _kan_ids(self):
        player = self.player
        if self.drawn is None or not self._may_kan():
            return []
        held = Counter(map(kind_of, self.hands[player]))
        if self.riichi[player]:
            kind = kind_of(self.drawn)
            return [CLOSED_KAN + kind] if held[kind] == 4 and self._kan_changes_nothing(kind) else []
        closed = [CLOSED_KAN + kind for kind in held if held[kind] == 4]
        added = [ADDED_KAN + meld.kind for meld in self.melds[player] if meld.sort == "pon" and held[meld.kind]]
        return closed + added

    def _kan_changes_nothing(self, kind):
        """Ruling 14."""
        player = self.player
        melds = self._plain_melds(player)
        before = self.resting_hand(player)
        after = [face for face in before if kind_of(face) != kind]
        found = waits(before, melds)
        if found != waits(after, [*melds, ("closed kan", [kind] * 4)]):
            return False
        return all(
            (kind,) * 3 in sets
            for wait in found
            for _, sets in readings(tuple(sorted([*map(kind_of, before), wait])))
        )  # fmt: skip

    # -- a turn ----------------------------------------------------------------------------------------------------

    @property
    def current(self):
        if self.done:
            return None
        return self.player if self.stage == "turn" else self.asked[0][0]

    def apply(self, action):
        assert action in self.legal(), (action, self.legal())
        if self.stage == "ron":
            self._answer_ron(action)
        elif self.stage != "turn":
            self._answer_call(action)
        elif action < RIICHI:
            self._discard(action)
        elif action < CLOSED_KAN:
            self._discard(action - RIICHI, declares=True)
        elif action < ADDED_KAN:
            self._closed_kan(action - CLOSED_KAN)
        elif action < CHI:
            self._added_kan(action - ADDED_KAN)
        elif action == TSUMO:
            self._win_by_tsumo()
        else:
            self._abort("nine_terminals")

    def _begin_turn(self, player):
        self.player, self.stage, self.asked = player, "turn", []
        self.drawn, self.after_kan, self.forbidden = None, False, set()
        if not self.riichi[player]:
            self.passed[player] = False

    def _draw(self, player):
        self._begin_turn(player)
        self.drawn = self.wall[self.next_draw]
        self.next_draw += 1
        self.hands[player] = sorted([*self.hands[player], self.drawn])

    def _draw_replacement(self, player):
        """The replacement for the kan just made."""
        self._begin_turn(player)
        self.drawn, self.after_kan = self.wall[122 + self.kans], True
        self.kans += 1
        self.hands[player] = sorted([*self.hands[player], self.drawn])

    def _open_waiting(self):
        if self.options["kan_dora"]:
            self.num_open += self.waiting
        self.waiting = 0

    def _end_first_turns(self):
        self.first_turns, self.ippatsu = False, [False] * 4

    def _discard(self, face, declares=False):
        player = self.player
        self._open_waiting()
        self.hands[player].remove(face)
        if declares:
            self.riichi[player] = 2 if self._is_first_turn(player) else 1
            self.pending_riichi = player
        self.discards[player].append(Discard(face, face == self.drawn, declares))
        self.ippatsu[player] = False
        self.drawn, self.after_kan, self.forbidden = None, False, set()
        self._offer(player, face)

    def _closed_kan(self, kind):
        player = self.player
        faces = [face for face in self.hands[player] if kind_of(face) == kind]
        self.hands[player] = [face for face in self.hands[player] if kind_of(face) != kind]
        self.melds[player].append(Meld("closed kan", faces, None, None))
        self._end_first_turns()
        self.waiting += 1
        self._open_waiting()
        self._draw_replacement(player)

    def _added_kan(self, kind):
        player = self.player
        self._open_waiting()
        face = next(face for face in self.hands[player] if kind_of(face) == kind)
        self.hands[player].remove(face)
        self.robbed_kan = next(meld for meld in self.melds[player] if meld.sort == "pon" and meld.kind == kind)
        self.drawn, self.after_kan = None, False
        self._offer(player, face)

    def _finish_added_kan(self):
        meld, self.robbed_kan = self.robbed_kan, None
        meld.sort, meld.faces = "added kan", sorted([*meld.faces, self.offered])
        self._end_first_turns()
        self.waiting += 1
        self._draw_replacement(self.source)

    # -- what others may do with a tile ----------------------------------------------------------------------------

    def _others(self):
        return [(self.source + steps) % 4 for steps in (1, 2, 3)]

    def _offer(self, player, face):
        """Ask for ron, in turn order, a discard or the tile of an added kan."""
        self.source, self.offered, self.rons = player, face, []
        self.stage = "ron"
        self.asked = [
            (other, [RON])
            for other in self._others()
            if not self.furiten(other)
            and kind_of(face) in self.waits(other)
            and self._worth(other, face, tsumo=False)
        ]  # fmt: skip
        if not self.asked:
            self._end_rons()

    def _answer_ron(self, action):
        player, _ = self.asked.pop(0)
        if action == RON:
            self.rons.append(player)
        if not self.asked:
            self._end_rons()

    def _end_rons(self):
        if self.rons:
            self._win_by_ron()
            return
        for other in self._others():
            if kind_of(self.offered) in self.waits(other):
                self.passed[other] = True
        if self.robbed_kan is not None:
            self._finish_added_kan()
            return
        self._accept_riichi()
        draw = self._abortive_draw()
        if draw:
            self._abort(draw)
        elif self.draws_left == 0:
            self._exhaustive_draw()
        else:
            self._ask_pon()

    def _accept_riichi(self):
        player, self.pending_riichi = self.pending_riichi, None
        if player is not None:
            self.points[player] -= 1000
            self.sticks += 1
            self.ippatsu[player] = self.options["ippatsu"]

    def _abortive_draw(self):
        if not self.options["abortive_draws"]:
            return None
        discards = [discard for row in self.discards for discard in row]
        kinds = {kind_of(discard.face) for discard in discards}
        if self.first_turns and len(discards) == 4 and len(kinds) == 1 and kinds <= WINDS:
            return "four_winds"
        if all(self.riichi):
            return "four_riichi"
        if self.kans == 4 and sum(any(meld.sort in KANS for meld in melds) for melds in self.melds) > 1:
            return "four_kans"
        return None

    def _ask_pon(self):
        self.stage, self.asked = "pon", []
        for other in self._others():
            ids = self._pon_ids(other)
            if ids:
                self.asked.append((other, ids))
        assert len(self.asked) <= 1
        if not self.asked:
            self._ask_chi()

    def _pon_ids(self, player):
        if self.riichi[player]:
            return []
        held = [face for face in self.hands[player] if kind_of(face) == kind_of(self.offered)]
        ids = [action for action in (PON, RED_PON) if self._call_is_legal(player, action)]
        if len(held) == 3 and self._may_kan():
            ids.append(OPEN_KAN)
        return ids

    def _ask_chi(self):
        player = (self.source + 1) % 4
        self.stage, self.asked = "chi", []
        if not self.riichi[player] and kind_of(self.offered) < 27:
            ids = [action for action in range(CHI, RED_CHI + 3) if self._call_is_legal(player, action)]
            self.asked = [(player, ids)] if ids else []
        if not self.asked:
            self._draw(player)

    def _call_is_legal(self, player, action):
        used = self._used(player, action)
        if used is None:
            return False
        rest = list(self.hands[player])
        for face in used:
            rest.remove(face)
        return any(kind_of(face) not in self._forbidden_by(action) for face in rest)

    def _used(self, player, action):
        """The faces of the hand that a pon or chi takes, or None if they are not there."""
        hand = self.hands[player]
        kind = kind_of(self.offered)
        if action in (PON, RED_PON):
            needed, red = [kind, kind], action == RED_PON
        else:
            place = (action - CHI) % 3  # the called tile is low, middle or high
            if not 0 <= kind % 9 - place <= 6:
                return None
            needed = [kind - place + step for step in range(3) if step != place]
            red = action >= RED_CHI
        if red:
            reds = [face for face, five in RED_FIVES.items() if five in needed]
            if not reds:
                return None
            needed[needed.index(RED_FIVES[reds[0]])] = reds[0]
        return needed if all(hand.count(face) >= needed.count(face) for face in needed) else None

    def _forbidden_by(self, action):
        """The kinds that may not be discarded after this call."""
        kind = kind_of(self.offered)
        if self.options["swap_calling"]:
            return set()
        forbidden = {kind}
        if action in (CHI, RED_CHI) and kind % 9 <= 5:
            forbidden.add(kind + 3)
        if action in (CHI + 2, RED_CHI + 2) and kind % 9 >= 3:
            forbidden.add(kind - 3)
        return forbidden

    def _answer_call(self, action):
        player, _ = self.asked.pop(0)
        if action != PASS:
            self._call(player, action)
        elif self.stage == "pon":
            self._ask_chi()
        else:
            self._draw((self.source + 1) % 4)

    def _call(self, player, action):
        self.discards[self.source][-1].called = True
        self._end_first_turns()
        if action == OPEN_KAN:
            used = [face for face in self.hands[player] if kind_of(face) == kind_of(self.offered)]
            sort = "open kan"
        else:
            used = self._used(player, action)
            sort = "pon" if action in (PON, RED_PON) else "chi"
        for face in used:
            self.hands[player].remove(face)
        self.melds[player].append(Meld(sort, sorted([*used, self.offered]), self.offered, self.source))
        self._begin_turn(player)
        if sort != "chi":
            self._note_liability(player)
        if sort == "open kan":
            self.waiting += 1
            self._draw_replacement(player)
        else:
            self.forbidden = self._forbidden_by(action)

    def _note_liability(self, player):
        """Ruling 19."""
        kind = kind_of(self.offered)
        sets = {meld.kind for meld in self.melds[player] if meld.sort != "chi"}
        for yaku, group in (("big dragons", DRAGONS), ("big winds", WINDS)):
            if kind in group and sets >= group:
                self.liable[player][yaku] = self.source

    # -- wins ------------------------------------------------------------------------------------------------------

    def _worth(self, player, face, tsumo):
        hand = list(self.hands[player])
        if tsumo:
            hand.remove(face)
        elif len(hand) % 3 != 1:
            return None
        robbed = not tsumo and self.robbed_kan is not None
        win = Win(
            tsumo=tsumo,
            riichi=self.riichi[player],
            ippatsu=self.ippatsu[player],
            last=self.draws_left == 0 and not robbed,
            after_kan=tsumo and self.after_kan,
            robbed=robbed,
            first_draw=tsumo and self._is_first_turn(player),
            seat_wind=self.seat_wind(player),
            round_wind=self.round_wind,
            dora=tuple(self.indicators),
            ura=tuple(self.ura_indicators) if self.options["ura_dora"] else (),
        )
        return worth(hand, self._plain_melds(player), face, win, self.options)

    def liable_player(self, player, value):
        if not self.options["pao"] or not value.yakuman:
            return None
        return next((who for yaku, who in self.liable[player].items() if yaku in value.yaku), None)

    def _win_by_tsumo(self):
        player, value = self.player, self._worth(self.player, self.drawn, tsumo=True)
        deltas = [0] * 4
        liable = self.liable_player(player, value)
        is_dealer = player == self.dealer
        for other in range(4):
            if other != player:
                pay = tsumo_pay(value.base, is_dealer, other == self.dealer) + 100 * self.honba
                deltas[other if liable is None else liable] -= pay
        deltas[player] = -sum(deltas) + 1000 * self.sticks
        self.sticks = 0
        self._finish(Result("tsumo", [(player, value, list(deltas))], deltas, face=self.drawn))

    def _win_by_ron(self):
        if len(self.rons) == 3 and self.options["multiple_ron"] == "double":
            self._accept_riichi()
            self._abort("triple_ron")
            return
        if self.options["multiple_ron"] == "head_bump":
            self.rons = self.rons[:1]
        values = [self._worth(player, self.offered, tsumo=False) for player in self.rons]
        self.pending_riichi = None
        wins, total = [], [0] * 4
        for place, (player, value) in enumerate(zip(self.rons, values, strict=True)):
            deltas = [0] * 4
            pay = ron_pay(value.base, player == self.dealer)
            honba = 300 * self.honba if place == 0 else 0
            liable = self.liable_player(player, value)
            if liable is None:
                deltas[self.source] -= pay + honba
            else:
                deltas[self.source] -= pay // 2
                deltas[liable] -= pay // 2 + honba
            deltas[player] = pay + honba
            if place == 0:
                deltas[player] += 1000 * self.sticks
                self.sticks = 0
            wins.append((player, value, deltas))
            total = [sum(pair) for pair in zip(total, deltas, strict=True)]
        self._finish(Result("ron", wins, total, source=self.source, face=self.offered))

    # -- draws -----------------------------------------------------------------------------------------------------

    def _abort(self, sort):
        self._finish(Result(sort, [], [0] * 4))

    def _exhaustive_draw(self):
        tenpai = [bool(self.waits(player)) for player in range(4)]
        deltas = [0] * 4
        winners = [player for player in range(4) if self.options["nagashi"] and self._has_nagashi(player)]
        if winners:
            for player in winners:
                for other in range(4):
                    if other != player:
                        pay = tsumo_pay(2000, player == self.dealer, other == self.dealer)
                        deltas[other] -= pay
                        deltas[player] += pay
        elif 1 <= sum(tenpai) <= 3:
            for player in range(4):
                deltas[player] = 3000 // sum(tenpai) if tenpai[player] else -3000 // (4 - sum(tenpai))
        self._finish(Result("nagashi" if winners else "exhaustive", [], deltas, tenpai=tenpai))

    def _has_nagashi(self, player):
        return all(kind_of(discard.face) in ORPHANS and not discard.called for discard in self.discards[player])

    def _finish(self, result):
        self.result, self.asked = result, []
        for player in range(4):
            self.points[player] += result.deltas[player]

    @property
    def dealer_repeats(self):
        """Ruling 28."""
        result = self.result
        if result.is_win:
            return any(player == self.dealer for player, _, _ in result.wins)
        return result.tenpai is None or result.tenpai[self.dealer]


class Match:
    """Rounds on the walls that `next_wall()` gives, one after another; length "round" is a match of one."""

    def __init__(self, next_wall, **options):
        self.options = options_of(options)
        self.next_wall = next_wall
        self.done = False
        self.results = []
        self.points = [self.options["starting_points"]] * 4
        self.dealer = self.round_wind = self.honba = self.sticks = 0
        self.begin_round()

    def begin_round(self):
        self.round = Round(
            self.next_wall(),
            dealer=self.dealer,
            round_wind=self.round_wind,
            honba=self.honba,
            sticks=self.sticks,
            points=self.points,
            **self.options,
        )

    @property
    def current(self):
        return self.round.current

    def legal(self):
        return self.round.legal()

    def apply(self, action):
        self.round.apply(action)
        if self.round.done:
            self.end_round()

    def end_round(self):
        round_, result = self.round, self.round.result
        self.results.append(result)
        self.points, self.sticks = list(round_.points), round_.sticks
        repeats = round_.dealer_repeats
        if self.options["length"] == "round":
            self.done = True
            return
        if self._ends(repeats, result):
            self.done = True
            self.points[self.ranking()[0]] += 1000 * self.sticks
            self.sticks = 0
            return
        self.honba = self.honba + 1 if repeats or not result.is_win else 0
        if not repeats:
            self.dealer = (self.dealer + 1) % 4
            self.round_wind += self.dealer == 0
        self.begin_round()

    def _ends(self, repeats, result):
        """Ruling 29."""
        last_wind = {"east": 0, "half": 1}[self.options["length"]]
        if min(self.points) < 0:
            return True
        enough = max(self.points) >= TARGET
        is_last = self.dealer == 3 and self.round_wind == last_wind
        if is_last and repeats:
            is_abortive = not result.is_win and result.tenpai is None
            return not is_abortive and enough and self.ranking()[0] == self.dealer
        if is_last or self.round_wind > last_wind:
            return enough or (self.round_wind > last_wind and self.dealer == 3 and not repeats)
        return False

    def ranking(self):
        """Players from first to last place."""
        return sorted(range(4), key=lambda player: (-self.points[player], player))


__all__ = ["DEFAULTS", "Discard", "Match", "Meld", "Result", "Round", "Worth", "full_set", "options_of"]
