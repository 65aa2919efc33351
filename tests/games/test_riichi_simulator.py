"""The oracle of riichi mahjong against riichienv (PyPI, Tenhou preset): legal actions, states, points, whole matches.

riichienv asks everybody at once; the oracle's answers, one after another, are collected and given together.
"""

import random
from collections import Counter

import pytest
from riichi_oracle import (
    ADDED_KAN,
    CHI,
    CLOSED_KAN,
    NINE_TERMINALS,
    OPEN_KAN,
    PASS,
    PON,
    RED_CHI,
    RED_PON,
    RIICHI,
    RON,
    TSUMO,
    Match,
)
from riichi_oracle_score import ORPHANS, kind_of, waits

riichienv = pytest.importorskip("riichienv")
Type = riichienv.ActionType

RED_IDS = {16: 34, 52: 35, 88: 36}
MELD_SORTS = {0: "chi", 1: "pon", 2: "open kan", 3: "closed kan", 4: "added kan"}
ABORTIVE = {"nine_terminals": "kyushu_kyuhai", "four_winds": "sufuurenta", "four_riichi": "suucha_riichi",
            "four_kans": "suukansansen", "triple_ron": "sanchaho"}  # fmt: skip
MODES = {"round": "4p-red-single", "east": "4p-red-east", "half": "4p-red-half"}


class KnownDifferenceError(Exception):
    """Where riichienv departs from the rules; the comparison of this match ends."""


def face_of(tile):
    return RED_IDS.get(tile, tile // 4)


def faces(tiles):
    return sorted(map(face_of, tiles))


# -- walls -------------------------------------------------------------------------------------------------------


def make_wall(chooser, style):
    """The 136 ids in the oracle's order; other styles than plain make kans, draws and quick wins likely."""
    tiles = list(range(136))
    chooser.shuffle(tiles)
    if style == "plain":
        return tiles
    hands = [[] for _ in range(4)]
    if style == "ready":
        for hand in hands:
            _take_ready_hand(chooser, tiles, hand)
    elif style == "blocks":
        for hand in hands:
            for kind in chooser.sample(range(34), 5):
                _take(tiles, hand, [tile for tile in tiles if tile // 4 == kind][: chooser.choice((2, 3, 3, 4))])
    elif style == "winds":
        wind = chooser.randrange(27, 31)
        for hand in hands:
            _take(tiles, hand, [tile for tile in tiles if tile // 4 == wind][:1])
    elif style == "dragons":
        group = chooser.choice(([31, 32, 33], [27, 28, 29, 30]))
        for kind in group:
            _take_kinds(tiles, hands[0], [kind] * 2)
        first = chooser.choice((0, 3, 6, 9, 12, 15, 18, 21, 24))
        _take_kinds(tiles, hands[0], [first, first + 1, first + 2])
        for kind in group:
            for _ in range(2):
                _take_kinds(tiles, hands[chooser.randrange(1, 4)], [kind])
    elif style == "waits":
        # Others wait for a tile of player 0, who makes a kan of it or discards it.
        kind, is_pair = chooser.choice((0, 2, 9, 11, 18, 20)), chooser.random() < 0.5
        _take_kinds(tiles, hands[0], [kind] * (1 + is_pair))
        for hand in hands[1:]:
            _take_kinds(tiles, hand, [kind + 1, kind + 2])
            _take_ready_hand(chooser, tiles, hand)
        if is_pair:
            hands[3][:2] = []
            _take_kinds(tiles, hands[3], [kind])
    elif style == "orphans":
        for hand in hands[:2]:
            for kind in chooser.sample(sorted(ORPHANS), chooser.choice((8, 9, 10, 12))):
                _take(tiles, hand, [tile for tile in tiles if tile // 4 == kind][:1])
    for hand in hands:
        del hand[13:]
        tiles = [tile for tile in range(136) if not any(tile in other for other in hands)]
        chooser.shuffle(tiles)
        _take(tiles, hand, tiles[: 13 - len(hand)])
    dealt = [tile for hand in hands for tile in hand]
    rest = [tile for tile in range(136) if tile not in dealt]
    chooser.shuffle(rest)
    return dealt + rest


def _take(tiles, hand, taken):
    for tile in list(taken):
        tiles.remove(tile)
        hand.append(tile)


def _take_ready_hand(chooser, tiles, hand):
    """Add sets and a pair to a hand, up to 14 tiles, and take one of them back: 13 that are nearly ready."""
    while len(hand) < 11:
        first = chooser.choice(tiles) // 4
        is_run = first < 27 and first % 9 <= 6 and chooser.random() < 0.75
        kinds = [first, first + 1, first + 2] if is_run else [first] * 3
        _take_kinds(tiles, hand, kinds)
    pairs = [kind for kind in range(34) if sum(tile // 4 == kind for tile in tiles) >= 2]
    _take_kinds(tiles, hand, [chooser.choice(pairs)] * 2)
    if len(hand) == 14:
        hand.pop(chooser.randrange(14))


def _take_kinds(tiles, hand, kinds):
    found = []
    for kind in kinds:
        tile = next((tile for tile in tiles if tile // 4 == kind and tile not in found), None)
        if tile is None:
            return
        found.append(tile)
    _take(tiles, hand, found)


def to_simulator(wall):
    """The oracle's order of a wall in riichienv's: dealt by fours, the dead wall in stacks from the end."""
    hands = [wall[13 * place : 13 * place + 13] for place in range(4)]
    dealt = [tile for start in (0, 4, 8) for hand in hands for tile in hand[start : start + 4]]
    dealt += [hand[12] for hand in hands]
    stacks = [tile for pair in zip(wall[126:131], wall[131:136], strict=True) for tile in pair]
    return dealt + wall[52:122] + (wall[122:126] + stacks)[::-1]


# -- the two games side by side ----------------------------------------------------------------------------------


class SideBySide:
    """A match in riichienv and in the oracle; `play` compares them all along and returns what was met."""

    def __init__(self, seed, length="round", style="plain", manner="builder"):
        self.chooser, self.manner, self.counts = random.Random(seed), manner, Counter()
        self.env = riichienv.RiichiEnv(game_mode=MODES[length], rule=riichienv.GameRule.default_tenhou(), seed=seed)
        self.length, self.next_wall = length, make_wall(self.chooser, style)
        self.match = Match(lambda: list(map(face_of, self.next_wall)), length=length)
        if length == "round":  # somewhere in a match
            self.match.dealer, self.match.round_wind = self.chooser.randrange(4), self.chooser.randrange(3)
            self.match.honba, self.match.sticks = self.chooser.randrange(4), self.chooser.randrange(3)
            self.match.points = [self.chooser.choice((900, 1000, 24000, 30000, 45100)) for _ in range(4)]
            self.match.begin_round()
        match = self.match
        self.views = self.env.reset(
            wall=to_simulator(self.next_wall),
            oya=match.dealer,
            round_wind=match.round_wind,
            honba=match.honba,
            kyotaku=match.sticks,
            scores=match.points,
        )

    def play(self):
        match = self.match
        while not match.done:
            round_ = match.round
            self._compare_states(round_)
            self._turn(round_)
            if round_.done:
                self._compare_results(round_)
                self._read_next_wall()
                match.end_round()
                self._check_known_end(round_)
        assert self.env.done()
        theirs = list(self.env.scores())
        if self.length != "round":  # riichienv leaves the sticks on the table
            theirs[match.ranking()[0]] += 100_000 - sum(theirs)
        assert match.points == theirs
        self.counts["matches"] += 1
        return self.counts

    def _check_known_end(self, round_):
        """Where riichienv goes on differently after a draw (rulings 28 and 29)."""
        result, dealer = round_.result, round_.dealer
        if self.length == "round":
            return
        if result.sort == "nagashi" and result.tenpai[dealer] != (result.deltas[dealer] > 0):
            raise KnownDifferenceError("nagashi decides who deals next")
        if result.sort in ABORTIVE and self.env.done() and not self.match.done:
            raise KnownDifferenceError("an abortive draw ends the last round")

    def _read_next_wall(self):
        env = self.env
        if env.done():
            return
        left, dealer = list(env.wall), env.oya
        hands = [list(env.hands[(dealer + place) % 4]) for place in range(4)]
        hands[0].remove(env.drawn_tile)
        dead, live = left[:14], left[:13:-1]
        self.next_wall = [*(tile for hand in hands for tile in hand), env.drawn_tile, *live]
        self.next_wall += dead[:4] + dead[4::2] + dead[5::2]

    # -- comparing -----------------------------------------------------------------------------------------------

    def _compare_states(self, round_):
        env = self.env
        assert not env.done()
        assert (env.oya, env.round_wind, env.honba) == (round_.dealer, round_.round_wind, round_.honba)
        assert (env.scores(), env.riichi_sticks) == (round_.points, round_.sticks)
        assert [faces(hand) for hand in env.hands] == round_.hands
        assert list(map(face_of, env.dora_indicators)) == round_.indicators
        assert len(env.wall) - 14 == round_.draws_left
        assert list(env.riichi_declared) == [bool(riichi) for riichi in round_.riichi]
        assert (env.current_player, env.phase) == (round_.current, riichienv.Phase.WaitAct)
        for player in range(4):
            row = round_.discards[player]
            assert list(map(face_of, env.discards[player])) == [discard.face for discard in row]
            assert [not hand for hand in env.discard_from_hand[player]] == [discard.tsumogiri for discard in row]
            melds = [(MELD_SORTS[int(meld.meld_type)], faces(meld.tiles)) for meld in env.melds[player]]
            assert melds == [(meld.sort, meld.faces) for meld in round_.melds[player]]

    def _compare_results(self, round_):
        result, events = round_.result, [event for event in self._log() if event["type"] in ("hora", "ryukyoku")]
        self.counts[result.sort] += 1
        if not result.is_win:
            reason = {"exhaustive": "exhaustive_draw", "nagashi": "nagashimangan", **ABORTIVE}[result.sort]
            assert events[-1]["reason"] == reason
            if result.tenpai and result.tenpai != [bool(waits(hand)) for hand in round_.hands]:
                raise KnownDifferenceError("tenpai with a dead wait")  # ruling 10
            return
        events = events[-len(result.wins) :]
        self.counts["two rons"] += len(result.wins) == 2
        for (player, value, deltas), event in zip(result.wins, events, strict=True):
            source = player if result.sort == "tsumo" else result.source
            assert (event["actor"], event["target"], event["deltas"]) == (player, source, deltas)
            self.counts["wins"] += 1
            self.counts.update(f"yaku: {name}" for name in value.yaku)
            self.counts["pao"] += bool(round_.liable_player(player, value))
            if self.env.done():
                theirs = self.env.win_results[player]
                assert theirs.yakuman == bool(value.yakuman)
                if not value.yakuman:
                    assert (theirs.han, theirs.fu) == (value.han, value.fu)

    def _log(self):
        return self.env.mjai_log

    # -- playing -------------------------------------------------------------------------------------------------

    def _turn(self, round_):
        """A turn of one player and the questions to the others that follow."""
        player, env = round_.current, self.env
        legal, theirs = set(round_.legal()), self._ids(player)
        theirs -= self._known_extra(round_, player, theirs - legal)
        assert legal == theirs, (sorted(legal - theirs), sorted(theirs - legal))
        self.counts["turns"] += 1
        action = self._choose(round_, sorted(legal))
        if RIICHI <= action < CLOSED_KAN:
            self.views = env.step({player: self._find(player, RIICHI)})
            self.views = env.step({player: self._find(player, action - RIICHI)})
        else:
            self.views = env.step({player: self._find(player, action)})
        self.counts[name_of(action)] += 1
        round_.apply(action)
        self._questions(round_)

    def _questions(self, round_):
        env, claims = self.env, {}
        is_waiting = not env.done() and env.phase == riichienv.Phase.WaitResponse
        if is_waiting:
            claims = {player: self._ids(player) - {PASS} for player in self.views}
        unasked = {(player, stage_of(action)) for player, ids in claims.items() for action in ids}
        answers = dict.fromkeys(claims, PASS)
        while not round_.done and round_.stage != "turn":
            player, stage, legal = round_.current, round_.stage, round_.legal()
            theirs = {action for action in claims.get(player, ()) if stage_of(action) == stage}
            if round_.kans == 4:
                theirs.discard(OPEN_KAN)
            assert set(legal) == theirs | {PASS}, (player, stage, legal, sorted(theirs))
            unasked.discard((player, stage))
            self.counts["questions"] += 1
            action = self._choose(round_, legal)
            self.counts[name_of(action)] += 1
            if action != PASS:
                answers[player] = action
                higher = {"ron": ("pon", "chi"), "pon": ("chi",), "chi": ()}[stage]
                unasked = {each for each in unasked if each[1] not in higher}
            round_.apply(action)
        if round_.done and round_.result.sort in ("four_winds", "four_riichi", "four_kans") and is_waiting:
            raise KnownDifferenceError("no abortive draw after a claim was possible")
        if round_.kans == 4 and unasked and not round_.done:
            raise KnownDifferenceError("a fifth kan")
        assert not unasked, unasked
        if is_waiting:
            self.views = env.step({player: self._find(player, action) for player, action in answers.items()})

    def _known_extra(self, round_, player, extra):
        """Return what riichienv allows against rulings 2, 10 and 14."""
        dead = {action for action in extra if RIICHI <= action < CLOSED_KAN}
        if dead:  # riichienv counts concealed tiles only, ruling 10
            for action in dead:
                rest = list(round_.hands[player])
                rest.remove(action - RIICHI)
                assert waits(rest)
            self.counts["known: riichi with a dead wait"] += 1
            return dead
        kans = {action for action in extra if CLOSED_KAN <= action < CHI}
        if kans and round_.kans == 4:
            self.counts["known: a fifth kan"] += 1
            return kans
        if kans and round_.riichi[player]:
            self.counts["known: closed kan in riichi"] += 1
            return kans
        return set()

    # -- ids of the oracle and actions of riichienv ----------------------------------------------------------------

    def _ids(self, player):
        return {each for action in self._legal(player) for each in self._ids_of(player, action)}

    def _legal(self, player):
        return self.views[player].legal_actions()

    def _ids_of(self, player, action):
        sort, tile = action.action_type, action.tile
        if sort == Type.RIICHI:
            trial = self.env.clone()
            view = trial.step({player: action})[player]
            return {RIICHI + face_of(each.tile) for each in view.legal_actions() if each.action_type == Type.DISCARD}
        if sort == Type.CHI:
            low = min(tile, *action.consume_tiles) // 4
            is_red = any(each in RED_IDS for each in action.consume_tiles)
            return {(RED_CHI if is_red else CHI) + tile // 4 - low}
        if sort == Type.PON:
            return {RED_PON if any(each in RED_IDS for each in action.consume_tiles) else PON}
        if sort == Type.DISCARD:
            return {face_of(tile)}
        if sort == Type.ANKAN:
            return {CLOSED_KAN + tile // 4}
        if sort == Type.KAKAN:
            return {ADDED_KAN + tile // 4}
        return {
            {Type.DAIMINKAN: OPEN_KAN, Type.RON: RON, Type.TSUMO: TSUMO, Type.KYUSHU_KYUHAI: NINE_TERMINALS,
             Type.PASS: PASS}[sort]
        }  # fmt: skip

    def _find(self, player, wanted):
        """riichienv's action for an id; RIICHI stands for the declaration that comes before its discard."""
        if wanted == RIICHI:
            return next(action for action in self._legal(player) if action.action_type == Type.RIICHI)
        found = [
            action
            for action in self._legal(player)
            if action.action_type != Type.RIICHI and wanted in self._ids_of(player, action)
        ]
        if wanted < RIICHI:  # the drawn tile goes if it is of this face
            found.sort(key=lambda action: action.tile != self.env.drawn_tile)
        return found[0]

    # -- choosing ------------------------------------------------------------------------------------------------

    def _choose(self, round_, legal):
        """Any id, or one that makes much happen: wins, riichi, kans, calls, and hands near to ready."""
        chooser, manner = self.chooser, self.manner
        if len(legal) == 1:
            return legal[0]
        if manner == "random":
            return chooser.choice(legal)
        shares = {"riichi": 0.9, "tsumo": 0.9, "ron": 0.85, "closed kan": 0.6, "added kan": 0.7, "open kan": 0.3,
                  "pon": 0.3, "chi": 0.2, "nine terminals": 0.5}  # fmt: skip
        shares |= {
            "caller": {"pon": 0.8, "chi": 0.6, "open kan": 0.6},
            "kans": {"closed kan": 1, "added kan": 1, "open kan": 1, "pon": 0.9, "chi": 0, "tsumo": 0.3, "ron": 0.3},
            "draws": {"nine terminals": 1, "pon": 0, "chi": 0, "open kan": 0, "ron": 0.2, "tsumo": 0.2},
            "damaten": {"riichi": 0, "pon": 1, "chi": 0, "added kan": 1, "ron": 0.5, "tsumo": 0.3},
            "builder": {},
        }[manner]
        chosen = [action for action in legal if chooser.random() < shares.get(name_of(action), 0)]
        if chosen:
            return max(chosen, key=lambda action: (action in (RON, TSUMO), chooser.random()))
        plain = [action for action in legal if action < RIICHI]
        if not plain:
            return PASS
        if chooser.random() < 0.1:
            return chooser.choice(plain)
        if manner == "draws":
            return max(plain, key=lambda face: (kind_of(face) >= 27, face in ORPHANS, chooser.random()))
        return min(plain, key=lambda face: (self._distance(round_, face), chooser.random()))

    def _distance(self, round_, face):
        tiles = list(self.env.hands[round_.current])
        tiles.remove(next(tile for tile in tiles if face_of(tile) == face))
        return riichienv.calculate_shanten(tiles)


def stage_of(action):
    if action == RON:
        return "ron"
    return "chi" if CHI <= action < PON else "pon"


def name_of(action):
    for first, name in ((PASS, "pass"), (NINE_TERMINALS, "nine terminals"), (TSUMO, "tsumo"), (RON, "ron"),
                        (OPEN_KAN, "open kan"), (PON, "pon"), (CHI, "chi"), (ADDED_KAN, "added kan"),
                        (CLOSED_KAN, "closed kan"), (RIICHI, "riichi")):  # fmt: skip
        if action >= first:
            return name
    return "discard"


# -- the tests -----------------------------------------------------------------------------------------------------

STYLES = ("plain", "ready", "blocks", "winds", "dragons", "orphans", "waits")
MANNERS = ("builder", "builder", "caller", "kans", "draws", "damaten", "random")


def compare(seeds, length="round"):
    counts = Counter()
    for seed in seeds:
        chooser = random.Random(f"{length} {seed}")
        style, manner = chooser.choice(STYLES), chooser.choice(MANNERS)
        game = SideBySide(seed, length, style, manner)
        try:
            counts += game.play()
        except KnownDifferenceError as error:
            counts += game.counts
            counts[f"known: {error}"] += 1
    return counts


def test_rounds_agree():
    counts = compare(range(30))
    assert counts["wins"] > 5
    assert counts["exhaustive"] > 2


@pytest.mark.slow
def test_a_thousand_rounds_agree():
    counts = compare(range(100, 1100))
    assert counts["matches"] > 950


@pytest.mark.slow
def test_matches_agree():
    counts = compare(range(30), "east") + compare(range(10), "half")
    assert counts["matches"] > 30
