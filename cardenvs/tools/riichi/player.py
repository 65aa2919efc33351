"""Rounds of a log, played by the rules of riichi_v0."""

from collections.abc import Callable, Mapping
from itertools import pairwise

import numpy as np

from cardenvs.core.errors import CardenvsError
from cardenvs.core.registry import get_game
from cardenvs.core.state import State
from cardenvs.games.riichi import actions
from cardenvs.games.riichi.state import ASKED, NUM_PLAYERS, ROBBING, TURN, RiichiOptions
from cardenvs.games.riichi.tiles import RED, kind_of
from cardenvs.tools.riichi.log import Kyoku, Line, Start
from cardenvs.tools.riichi.notation import THREE_RONS, TILES
from cardenvs.tools.riichi.wall import Fault, check_ura, wall_of

GAME = "riichi_v0"
_THREE_RONS = (THREE_RONS, "sanchahou", "sanchaho", "triple_ron")


def play_round(kyoku: Kyoku, options: RiichiOptions, is_game: bool = False) -> "Player":
    """Return the player of a round after its last line.

    Args:
        kyoku: the round.
        options: of the game.
        is_game: whether the round begins a game, with east 1 and the starting points of the options; its state has a
            history then. Otherwise it is played from where the log says that it starts.

    Raises:
        FormatError: a line does not follow the rules; the message names it and says what would.
    """
    wall, fault = wall_of(kyoku, options)
    state = get_game(GAME).new_state(seed=0, deck=wall, **options.as_dict())
    player = Player(kyoku, state if is_game else _placed(state, kyoku.start), fault)
    player.play()
    return player


def _placed(state: State, start: Start) -> State:
    """Return a state, without history, in which a round begins with its dealer, wind, honba, sticks and points.

    A game begins with the first round of a match, but nothing in a new round depends on who deals except hands and
    turn, and nothing at all on the rest. All values are bounded: see `Start`.
    """
    records = state.records
    for name in ("hands", "waits"):
        records[name][0] = np.roll(records[name][0], start.dealer, axis=0)
    for name in ("dealer", "turn", "current_player"):
        records[name] = start.dealer
    records["wind"], records["honba"], records["sticks"] = start.wind, start.honba, start.sticks
    records["points"][0] = start.points
    return State._from_record(state.game, state.options, records)


class Player:
    """A round that is played. After the line of a fault, its tiles are random, so that it ends there.

    Attributes:
        state: the state after the lines played.
        as_drawn: numbers of lines in which a tile from the hand is discarded that is like the one drawn: here the
            latter goes (rules.md 3.1).
    """

    def __init__(self, kyoku: Kyoku, state: State, fault: Fault | None = None) -> None:
        self.state, self.as_drawn = state, list[int]()
        self._kyoku, self._fault, self._round = kyoku, fault, int(state.record.num_rounds)
        self._has_drawn = False  # whether the line of the last draw has been read
        self._declared: Line | None = None  # a riichi whose discard follows
        self._wins: dict[int, Line] = {}  # the last lines "hora", by actor
        self._play: dict[str, Callable[[Line], None]] = {
            "tsumo": self._draw, "dahai": self._discard, "reach": self._declare, "chi": self._chi, "pon": self._pon,
            "daiminkan": self._open_kan, "ankan": self._close_kan, "kakan": self._add, "hora": self._win,
            "ryukyoku": self._end_in_draw, "dora": lambda _: None, "reach_accepted": lambda _: None,
        }  # fmt: skip

    @property
    def is_over(self) -> bool:
        """Whether the round is over by the rules."""
        return self.state.is_terminal or int(self.state.record.num_rounds) != self._round

    def play(self) -> None:
        """Play all lines. Raises FormatError if one does not follow the rules."""
        kyoku = self._kyoku
        for line, after in pairwise([*kyoku.lines, None]):
            assert line is not None
            if self.is_over:
                raise line.error("the round is over before this line by the rules (rules.md 8)")
            self._play[line.type](line)
            if self._wins and (after is None or after.type != "hora"):
                self._carry_out_wins()
            if self._fault is not None and self._fault.line is line:
                raise self._fault.error
        if kyoku.is_closed and not self.is_over:
            raise kyoku.last.error(f"the round does not end with this line by the rules: {self._to_act()}")

    # -- turns --------------------------------------------------------------------------------------------------

    def _draw(self, line: Line) -> None:
        self._let_pass(line)
        actor, s = line.player(), self.state.record
        if s.phase != TURN or self._has_drawn:
            raise line.error(f"nobody draws now: {self._to_act()}")
        if actor != s.turn:
            raise line.error(f"player_{actor} draws, but it is the turn of player_{s.turn}")
        self._has_drawn = True

    def _discard(self, line: Line) -> None:
        face, s = line.tile(), self.state.record
        self._check_turn(line)
        from_draw = line.flag("tsumogiri")
        if from_draw and face != s.drawn:
            drawn = f"the tile drawn is {TILES[int(s.drawn)]}" if s.phase == TURN else "no tile has been drawn"
            raise line.error(f"'tsumogiri' is true, but {drawn}")
        if not from_draw and face == s.drawn:
            self.as_drawn.append(line.number)
        self._act(line, (actions.DISCARD if self._declared is None else actions.RIICHI) + face)
        self._declared = None

    def _declare(self, line: Line) -> None:
        self._check_turn(line)
        if self._declared is not None:
            raise line.error("riichi is declared twice")
        if not any(actions.RIICHI <= action < actions.CLOSED_KAN for action in self.state.legal_actions()):
            raise line.error("no riichi is possible now (rules.md 4.1): it needs a closed hand that is tenpai after a "
                             "discard, 1,000 points, and four tiles left to draw")  # fmt: skip
        self._declared = line

    def _close_kan(self, line: Line) -> None:
        self._check_turn(line)
        kinds = {int(kind_of(face)) for face in line.tiles("consumed", 4)}
        if len(kinds) != 1:
            raise line.error("'consumed' should have four tiles of one kind")
        self._act(line, actions.CLOSED_KAN + kinds.pop())

    def _add(self, line: Line) -> None:
        self._check_turn(line)
        face, s = line.tile(), self.state.record
        if not s.hands[s.turn, face]:
            raise line.error(f"player_{s.turn} has no {TILES[face]}")
        self._act(line, actions.ADDED_KAN + int(kind_of(face)))

    def _check_turn(self, line: Line) -> None:
        """Check that the actor may act on their own, and has drawn, or called."""
        s, actor = self.state.record, line.player()
        if s.phase in (ASKED, ROBBING):
            self._let_pass(line)
            raise line.error(f"player_{actor} acts, but before that {self._to_act()}")
        if actor != s.turn:
            raise line.error(f"player_{actor} acts, but it is the turn of player_{s.turn}")
        if s.phase == TURN and not self._has_drawn:
            raise line.error(f"player_{actor} has not drawn; a line 'tsumo' is missing")
        if self._declared is not None and line.type != "dahai":
            raise line.error("a discard follows after reach")

    # -- answers ------------------------------------------------------------------------------------------------

    def _chi(self, line: Line) -> None:
        called, held = self._called_tile(line), line.tiles("consumed", 2)
        kinds = sorted(int(kind_of(face)) for face in (called, *held))
        if kinds != list(range(kinds[0], kinds[0] + 3)):
            raise line.error("the tiles of a chi should be a run")
        place, has_red = kinds.index(int(kind_of(called))), any(face >= RED for face in held)
        self._answer({line.player(): (line, (actions.CHI_RED if has_red else actions.CHI) + place)})

    def _pon(self, line: Line) -> None:
        held = self._called_alike(line, 2)
        has_red = any(face >= RED for face in held)
        self._answer({line.player(): (line, actions.PON_RED if has_red else actions.PON)})

    def _open_kan(self, line: Line) -> None:
        self._called_alike(line, 3)
        self._answer({line.player(): (line, actions.OPEN_KAN)})

    def _called_alike(self, line: Line, number: int) -> list[int]:
        """Return the tiles that a pon or kan lays from the hand."""
        called, held = self._called_tile(line), line.tiles("consumed", number)
        if {int(kind_of(face)) for face in held} != {int(kind_of(called))}:
            raise line.error(f"'consumed' should have {number} tiles of the kind that is called")
        return held

    def _called_tile(self, line: Line) -> int:
        """Return the tile that a call takes, which the log and the rules should agree on."""
        s, face = self.state.record, line.tile()
        if s.phase != ASKED:
            raise line.error(f"there is no discard to call: {self._to_act()}")
        if line.player("target") != s.turn or face != s.tile:
            raise line.error(
                f"player_{line.data['target']} is said to have discarded {TILES[face]}, but player_{s.turn} has "
                f"discarded {TILES[int(s.tile)]}"
            )
        if line.player() == s.turn:
            raise line.error("a player cannot call the own discard")
        return face

    def _let_pass(self, line: Line) -> None:
        """Let all players pass who are asked about the last tile, because `line` is the next thing that happens."""
        if self.state.record.phase in (ASKED, ROBBING):
            self._answer({})
            if self.is_over:
                raise line.error("the round is over before this line by the rules (rules.md 8)")

    def _answer(self, answers: Mapping[int, tuple[Line, int]]) -> None:
        """Let the three players who are asked answer, by default with a pass."""
        for _ in range(NUM_PLAYERS - 1):
            player = self.state.current_player
            line, action = answers.get(player, (self._kyoku.last, actions.PASS))
            self._act(line, action)

    # -- the end ------------------------------------------------------------------------------------------------

    def _win(self, line: Line) -> None:
        actor, target, s = line.player(), line.player("target"), self.state.record
        if actor in self._wins:
            raise line.error(f"player_{actor} wins twice")
        if actor == target:
            self._check_turn(line)
        elif s.phase not in (ASKED, ROBBING):
            raise line.error(f"there is no tile to win by: {self._to_act()}")
        elif target != s.turn:
            raise line.error(f"player_{target} is said to have given the tile, but it was player_{s.turn}")
        if s.riichi[actor] and s.rules.ura_dora and (error := check_ura(line, int(s.num_indicators))):
            raise error
        self._wins[actor] = line

    def _carry_out_wins(self) -> None:
        wins, self._wins = self._wins, {}
        line = next(iter(wins.values()))
        if self.state.record.phase in (ASKED, ROBBING):
            self._answer({actor: (line, actions.RON) for actor, line in wins.items()})
        elif len(wins) == 1:
            self._act(line, actions.TSUMO)
        else:
            raise line.error("there is one winner by tsumo, and nobody wins by ron then")
        if not self.is_over:
            raise line.error("the round does not end with this win by the rules")

    def _end_in_draw(self, line: Line) -> None:
        s, reason = self.state.record, line.data.get("reason")
        if s.phase in (ASKED, ROBBING):
            has_rons = isinstance(reason, str) and reason.replace(" ", "").lower() in _THREE_RONS
            action = actions.RON if has_rons else actions.PASS
            self._answer(dict.fromkeys(range(NUM_PLAYERS), (line, action)))
        else:
            if self._declared is not None or (s.phase == TURN and not self._has_drawn):
                raise line.error(f"the round cannot end in a draw now: {self._to_act()}")
            self._act(line, actions.NINE)
        if not self.is_over:
            raise line.error(f"the round does not end in a draw here by the rules (rules.md 8): {self._to_act()}")

    # -- helpers ------------------------------------------------------------------------------------------------

    def _act(self, line: Line, action: int) -> None:
        try:
            self.state.apply(action)
        except CardenvsError as error:
            raise line.error(str(error)) from None
        self._has_drawn = False

    def _to_act(self) -> str:
        s = self.state.record
        if self.is_over:
            return "the round is over"
        if s.phase in (ASKED, ROBBING):
            return f"the others are asked about {TILES[int(s.tile)]} of player_{s.turn}"
        if s.phase == TURN and not self._has_drawn:
            return f"player_{s.turn} draws"
        return f"player_{s.turn} discards, or declares something else"
