"""Riichi against the slow implementation in riichi_oracle.py: every position of whole games must agree.

The wall of riichi_v0 gives its tiles in the order in which they are needed, that of the oracle has places. `Needed` is
the oracle on a wall of the first kind. The oracle asks only players who can do something, one right after another;
riichi_v0 asks everybody once, so the answers are collected and then given to the oracle.
"""

import random
from collections import Counter

import numpy as np
import pytest
import riichi_oracle as oracle

import cardenvs
from cardenvs.games.riichi import actions, state
from cardenvs.games.riichi.hands import CHI, CLOSED_KAN, OPEN_KAN, PON, shanten
from cardenvs.games.riichi.tiles import kind_of
from cardenvs.games.riichi.view import meld_tiles

_OPTIONS = (
    {},
    {"red_fives": False, "open_tanyao": False, "kiriage_mangan": True, "double_yakuman": True},
    {"multiple_ron": "triple", "swap_calling": True, "abortive_draws": False},
    {"multiple_ron": "head_bump", "nagashi": False, "pao": False, "ura_dora": False},
    {"kan_dora": False, "ippatsu": False, "double_wind_fu": 2, "counted_yakuman": False},
    {"length": "east", "starting_points": 12_000},
    {"length": "half", "starting_points": 5_000, "multiple_ron": "triple"},
)


class Needed(oracle.Round):
    """The oracle on a wall in the order in which tiles leave it: hands, the first indicator, then what is next."""

    def __init__(self, wall, **more):
        self._next, self._open = 53, [wall[52]]
        super().__init__(wall, **more)

    @property
    def indicators(self):
        return self._open

    @property
    def ura_indicators(self):
        return self.wall[self._next : self._next + len(self._open)]

    def _take(self):
        self._next += 1
        return self.wall[self._next - 1]

    def _draw(self, player):
        self._begin_turn(player)
        self.next_draw += 1
        self._get(player)

    def _draw_replacement(self, player):
        self._begin_turn(player)
        self.after_kan = True
        self.kans += 1
        self._get(player)

    def _get(self, player):
        self.drawn = self._take()
        self.hands[player] = sorted([*self.hands[player], self.drawn])

    def _open_waiting(self):
        for _ in range(self.waiting if self.options["kan_dora"] else 0):
            self._open.append(self._take())
        self.waiting = 0


class NeededMatch(oracle.Match):
    """The same for a match, whose walls are read from the game once it has begun the round."""

    def begin_round(self):
        self.round = None

    def read_wall(self):
        self.round = Needed(
            self.next_wall(), dealer=self.dealer, round_wind=self.round_wind, honba=self.honba, sticks=self.sticks,
            points=self.points, **self.options,
        )  # fmt: skip


def _wall_of(game_state):
    """The wall at the start of a round: hands from the dealer on, the indicator, the tile drawn, the rest."""
    s = game_state.record
    hands = s.hands.copy()
    hands[int(s.dealer), int(s.drawn)] -= 1
    dealt = [face for k in range(4) for face in _listed(hands[(int(s.dealer) + k) % 4])]
    return [*dealt, int(s.indicators[0]), int(s.drawn), *(int(face) for face in s.deck[54:])]


def _listed(counts):
    return [face for face in range(37) for _ in range(int(counts[face]))]


_SORTS = {CHI: {"chi"}, PON: {"pon"}, OPEN_KAN: {"open kan", "added kan"}, CLOSED_KAN: {"closed kan"}}


def _compare(game_state, round_):
    """Compare a position in which somebody is to act, or the end of the game."""
    s = game_state.record
    assert [int(points) for points in s.points] == round_.points
    assert [int(face) for face in s.indicators[: int(s.num_indicators)]] == round_.indicators
    assert int(s.sticks) == round_.sticks
    lying = [d.face for row in round_.discards for d in row if not d.called]
    lying += [face for melds in round_.melds for meld in melds for face in meld.faces] + round_.indicators
    for p in range(4):
        seen = Counter(int(kind_of(face)) for face in lying + round_.hands[p])
        assert [int(state.num_unseen(s, p, kind)) for kind in range(34)] == [4 - seen[kind] for kind in range(34)]
        assert _listed(s.hands[p]) == sorted(round_.hands[p])
        discards = [(int(s.discards[p, k]), int(s.discard_marks[p, k])) for k in range(int(s.num_discards[p]))]
        assert discards == [
            (d.face, d.tsumogiri * state.FROM_DRAW | d.riichi * state.WITH_RIICHI | d.called * state.WAS_CALLED)
            for d in round_.discards[p]
        ]
        assert int(s.num_melds[p]) == len(round_.melds[p])
        for m, meld in enumerate(round_.melds[p]):
            if s.phase != state.ROBBING:
                assert meld.sort in _SORTS[int(s.meld_type[p, m])]
                assert sorted(meld_tiles(s, p, m)) == sorted(meld.faces)
            assert (-1 if meld.source is None else meld.source) == int(s.meld_from[p, m])


def _options_of(round_, player):
    """All that a player may do with the last tile, passing apart; if nobody may do anything, the oracle has gone on."""
    if round_.done or round_.stage == "turn":
        return set()
    found = {oracle.RON} if round_.stage == "ron" and any(p == player for p, _ in round_.asked) else set()
    declared = round_.pending_riichi is not None and all(round_.riichi)
    if round_.robbed_kan is None and round_.draws_left and not declared and not round_._abortive_draw():
        found |= set(round_._pon_ids(player))
        if player == (round_.source + 1) % 4 and not round_.riichi[player] and round_.offered not in range(27, 34):
            found |= {a for a in range(oracle.CHI, oracle.RED_CHI + 3) if round_._call_is_legal(player, a)}
    return found


def _chosen(game_state, legal, chooser):
    """Prefer wins and riichi, most calls, and discards that keep the hand near completion."""
    wins = [a for a in legal if a in (actions.RON, actions.TSUMO)]
    if wins and chooser.random() < 0.9:
        return wins[0]
    others = [a for a in legal if actions.RIICHI <= a < actions.PASS]
    if others and chooser.random() < 0.6:
        return chooser.choice(others)
    if actions.PASS in legal or chooser.random() < 0.15:
        return chooser.choice(legal)
    s, player = game_state.record, game_state.current_player

    def distance(action):
        counts = np.zeros(34, np.int8)
        for face in _listed(s.hands[player]):
            counts[int(kind_of(face))] += 1
        counts[int(kind_of(action))] -= 1
        return int(shanten(counts, int(s.num_melds[player]))), chooser.random()

    return min((a for a in legal if a < actions.RIICHI), key=distance)


def _play(options, seed):
    """Play a game in both implementations; return the results of its rounds."""
    chooser = random.Random(seed)
    game = cardenvs.get_game("riichi_v0").new_state(seed=seed, **options)
    match = NeededMatch(lambda: _wall_of(game), **options)
    answers = {}
    while not game.is_terminal:
        player, legal = game.current_player, game.legal_actions()
        if game.record.phase < state.ASKED:
            if match.round is None:
                match.read_wall()
            round_ = match.round
            assert player == round_.current
            assert legal == match.legal()
            _compare(game, round_)
            answers = {}
        else:
            assert set(legal) == _options_of(round_, player) | {oracle.PASS}
        action = _chosen(game, legal, chooser)
        asked = game.record.phase >= state.ASKED
        game.apply(action)
        if not asked:
            match.apply(action)
            continue
        answers[player] = action
        if len(answers) == 3:
            while not round_.done and round_.stage != "turn":
                answer = answers[round_.current]
                match.apply(answer if answer in round_.legal() else oracle.PASS)
    assert match.done
    assert [int(points) for points in game.record.points] == match.points
    _compare_wins(game, match)
    return match


def _compare_wins(game, match):
    """Compare han, fu, yakuman and ends of all rounds with the events."""
    wins = [(p, worth) for result in match.results for p, worth, _ in result.wins]
    events = [e for e in game.events() if e.kind in ("han", "fu", "yakuman")]
    expected = []
    for p, worth in wins:
        if worth.yakuman:
            expected.append(("yakuman", p, worth.yakuman))
        else:
            expected += [("han", p, worth.han), ("fu", p, worth.fu)]
    assert [(e.kind, e.player, e.value) for e in events] == expected


@pytest.mark.parametrize("options", _OPTIONS, ids=lambda options: ",".join(options) or "default")
def test_whole_games_agree_with_the_slow_implementation(options):
    number = 3 if options.get("length", "round") == "round" else 1
    for seed in range(number):
        _play(options, seed)
