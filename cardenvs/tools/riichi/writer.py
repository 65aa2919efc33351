"""States and replays as mjai logs, as one viewer saw the game."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from cardenvs.core.errors import FormatError
from cardenvs.core.events import OMNISCIENT, Event
from cardenvs.core.replay import Replay
from cardenvs.core.state import State
from cardenvs.games.riichi.state import NUM_PLAYERS
from cardenvs.games.riichi.yaku import YAKU_NAMES
from cardenvs.tools.riichi import notation
from cardenvs.tools.riichi.notation import WINDS, tile_name

_REASON_OF = {
    "exhausted": notation.EXHAUSTED, "nagashi": notation.NAGASHI, "nine_tiles": notation.NINE,
    "four_winds": notation.FOUR_WINDS, "four_riichi": notation.FOUR_RIICHI, "four_kans": notation.FOUR_KANS,
    "three_rons": notation.THREE_RONS,
}  # fmt: skip


def dumps(game: State | Replay, viewer: int = OMNISCIENT) -> str:
    """Return a game so far as an mjai log.

    Args:
        game: of riichi_v0; a replay also has the players' names.
        viewer: a player, whose log has "?" for what the player did not see; by default all is shown.

    Raises:
        FormatError: a player has left the game, for which mjai has no line.
        HiddenInformationError: the state is a determinized twin of another player's knowledge.
    """
    state = game.state_at(len(game.actions)) if isinstance(game, Replay) else game
    names = game.players if isinstance(game, Replay) else [f"player_{p}" for p in range(NUM_PLAYERS)]
    start: dict[str, Any] = {"type": "start_game", "names": list(names)}
    if viewer != OMNISCIENT:
        start["id"] = viewer
    written = Lines()
    written.extend(state.events(viewer))
    if written.leaver is not None:
        raise FormatError(f"player_{written.leaver} has left the game, and mjai has no line for that")
    end = [{"type": "end_game"}] if state.is_terminal else []
    return "".join(
        json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n" for line in (start, *written.lines, *end)
    )


@dataclass
class Win:
    """A win while its events are read."""

    actor: int
    target: int
    before: list[int]  # points
    yaku: list[str] = field(default_factory=list)
    worth: dict[str, int] = field(default_factory=dict)  # han, fu, yakuman, dora

    @property
    def text(self) -> str:
        """What the hand counts, such as "riichi, all simples, dora 2: 4 han 30 fu"."""
        dora = [f"dora {self.worth['dora']}"] if "dora" in self.worth else []
        if "yakuman" in self.worth:
            total = f"{self.worth['yakuman']} yakuman"
        else:
            total = f"{self.worth.get('han', 0)} han {self.worth.get('fu', 0)} fu"
        return f"{', '.join(self.yaku + dora)}: {total}"


class Lines:
    """Events of a game as lines of mjai.

    Attributes:
        lines: the lines, without start_game and end_game.
        texts: what each hand that won counts, in the order of the lines "hora".
        dealer, wind, honba, sticks, points: of the round.
        leaver: a player who has left the game, or None.
    """

    def __init__(
        self, dealer: int = 0, wind: int = 0, honba: int = 0, sticks: int = 0, points: Iterable[int] | None = None
    ) -> None:
        """Begin before the deal; or, with arguments, in a round whose deal is no event any more."""
        self.lines: list[dict[str, Any]] = []
        self.texts: list[str] = []
        self.dealer, self.wind, self.honba, self.sticks = dealer, wind, honba, sticks
        self.points = [0] * NUM_PLAYERS if points is None else list(points)
        self.leaver: int | None = None
        self._giver = 0  # who discarded last, or added to a pon
        self._begin_round()
        self._is_dealt = points is not None
        self._read: dict[str, Callable[[Event], None]] = {
            "start": self._set_points, "points": self._set_points, "dealer": self._set_dealer,
            "wind": self._set_wind, "honba": self._set_honba, "sticks": self._set_sticks,
            "new_round": lambda _: self._begin_round(), "deal": self._deal, "indicator": self._turn_up,
            "draw": self._draw, "replacement": self._draw, "discard": self._discard, "discard_drawn": self._discard,
            "riichi": self._declare, "no_riichi": self._stop_riichi, "stick": self._pay_stick, "chi": self._call,
            "pon": self._call, "open_kan": self._call, "closed_kan": self._close_kan, "meld": self._lay,
            "added_kan": self._add, "ron": self._win, "tsumo": self._win, "ura": self._turn_up_ura,
            "yaku": self._count_yaku, "han": self._count, "fu": self._count, "dora": self._count,
            "yakuman": self._count, "take_sticks": self._set_points, "round_end": self._end_round,
            "forfeit": self._leave, **dict.fromkeys(_REASON_OF, self._draw_round),
        }  # fmt: skip

    def extend(self, events: Iterable[Event]) -> None:
        """Read more events."""
        for event in events:
            if event.kind in self._read:
                self._read[event.kind](event)

    def _write(self, kind: str, **fields: Any) -> None:
        self.lines.append({"type": kind, **fields})

    # -- the deal -----------------------------------------------------------------------------------------------

    def _set_points(self, event: Event) -> None:
        self.points[_player(event)] = event.value or 0

    def _set_dealer(self, event: Event) -> None:
        self.dealer = event.value or 0

    def _set_wind(self, event: Event) -> None:
        self.wind = event.value or 0

    def _set_honba(self, event: Event) -> None:
        self.honba = event.value or 0

    def _set_sticks(self, event: Event) -> None:
        self.sticks = event.value or 0

    def _begin_round(self) -> None:
        self._is_dealt = False
        self._hands: list[list[int | None]] = [[] for _ in range(NUM_PLAYERS)]
        self._pons: dict[tuple[int, str], list[str]] = {}  # by player and kind
        self._riichi = [False] * NUM_PLAYERS
        self._called: dict[str, Any] = {}  # a call whose tiles are still to be laid
        self._ura: list[str] = []
        self._win_now: Win | None = None
        self._reason, self._before = "", list(self.points)

    def _deal(self, event: Event) -> None:
        self._hands[_player(event)].append(event.token)

    def _turn_up(self, event: Event) -> None:
        if self._is_dealt:
            self._write("dora", dora_marker=tile_name(event.token))
            return
        self._is_dealt = True
        self._write(
            "start_kyoku", bakaze=WINDS[self.wind], dora_marker=tile_name(event.token), kyoku=self.dealer + 1,
            honba=self.honba, kyotaku=self.sticks, oya=self.dealer, scores=list(self.points),
            tehais=[[tile_name(face) for face in hand] for hand in self._hands],
        )  # fmt: skip

    # -- turns --------------------------------------------------------------------------------------------------

    def _draw(self, event: Event) -> None:
        self._write("tsumo", actor=event.player, pai=tile_name(event.token))

    def _discard(self, event: Event) -> None:
        self._giver = _player(event)
        from_draw = event.kind == "discard_drawn"
        self._write("dahai", actor=event.player, pai=tile_name(event.token), tsumogiri=from_draw)

    def _declare(self, event: Event) -> None:
        self._riichi[_player(event)] = True
        self._write("reach", actor=event.player)

    def _stop_riichi(self, event: Event) -> None:
        self._riichi[_player(event)] = False

    def _pay_stick(self, event: Event) -> None:
        self._set_points(event)
        self._write("reach_accepted", actor=event.player)

    def _call(self, event: Event) -> None:
        kind = "daiminkan" if event.kind == "open_kan" else event.kind
        self._called = {
            "type": kind, "actor": event.player, "target": self._giver, "pai": tile_name(event.token), "consumed": []
        }  # fmt: skip

    def _close_kan(self, event: Event) -> None:
        self._called = {"type": "ankan", "actor": event.player, "consumed": []}

    def _lay(self, event: Event) -> None:
        kind, consumed = self._called["type"], self._called["consumed"]
        consumed.append(tile_name(event.token))
        if len(consumed) < {"chi": 2, "pon": 2, "daiminkan": 3, "ankan": 4}[kind]:
            return
        self.lines.append(self._called)
        if kind == "pon":
            self._pons[_player(event), _kind(consumed[0])] = [self._called["pai"], *consumed]

    def _add(self, event: Event) -> None:
        pai = tile_name(event.token)
        consumed = self._pons[_player(event), _kind(pai)]
        self._giver = _player(event)
        self._write("kakan", actor=event.player, pai=pai, consumed=consumed)

    # -- the end of a round ---------------------------------------------------------------------------------------

    def _win(self, event: Event) -> None:
        self._end_win()
        actor = _player(event)
        self._win_now = Win(actor, self._giver if event.kind == "ron" else actor, list(self.points))

    def _turn_up_ura(self, event: Event) -> None:
        self._ura.append(tile_name(event.token))

    def _count_yaku(self, event: Event) -> None:
        if self._win_now is not None:
            self._win_now.yaku.append(YAKU_NAMES[event.value or 0][0])

    def _count(self, event: Event) -> None:
        if self._win_now is not None:
            self._win_now.worth[event.kind] = event.value or 0

    def _end_win(self) -> None:
        win, self._win_now = self._win_now, None
        if win is None:
            return
        ura = list(self._ura) if self._riichi[win.actor] else []
        self.texts.append(win.text)
        self._write("hora", actor=win.actor, target=win.target, deltas=self._since(win.before), ura_markers=ura)

    def _draw_round(self, event: Event) -> None:
        if not self._reason:
            self._before = list(self.points)
        self._reason = _REASON_OF[event.kind]

    def _end_round(self, event: Event) -> None:
        self._end_win()
        if self._reason:
            self._write("ryukyoku", reason=self._reason, deltas=self._since(self._before))
        self._write("end_kyoku")

    def _since(self, before: list[int]) -> list[int]:
        return [now - then for now, then in zip(self.points, before, strict=True)]

    def _leave(self, event: Event) -> None:
        self.leaver = event.player


def _player(event: Event) -> int:
    assert event.player is not None
    return event.player


def _kind(name: str) -> str:
    """Return the name of a tile as if it were not red."""
    return name[:2]
