"""Games and checks of mjai logs: what follows from the rules is compared with what the log says."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, cast

from cardenvs.core.errors import CardenvsError, FormatError
from cardenvs.core.events import OMNISCIENT
from cardenvs.core.registry import get_game
from cardenvs.core.state import State
from cardenvs.games.riichi.state import RiichiOptions
from cardenvs.tools.riichi.log import Kyoku, Line, Log, Start
from cardenvs.tools.riichi.notation import REASONS, TILES, round_name
from cardenvs.tools.riichi.player import GAME, play_round
from cardenvs.tools.riichi.wall import ura_of
from cardenvs.tools.riichi.writer import Lines


@dataclass
class Report:
    """What came of checking one round of a log.

    Attributes:
        name: such as "east 1, honba 2".
        results: lines "hora" and "ryukyoku" by the rules.
        texts: what the hand of each "hora" counts.
        errors: where the log differs from the rules; each names its line.
        notes: what the log leaves out, and what was read in another way than it is written.
        as_drawn: see Player.
        is_over: whether the game is over after it, by the options.
    """

    name: str
    results: list[dict[str, Any]] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    as_drawn: list[int] = field(default_factory=list)
    is_over: bool = False

    def add(self, line: Line, text: str) -> None:
        """Add an error."""
        self.errors.append(str(line.error(text)))


def check_log(log: Log, options: RiichiOptions | None = None) -> Iterator[Report]:
    """Play all rounds of a log, each from what the log says at its start, and compare.

    Compared are every action with the rules, the riichi sticks, the points and indicators of each win, the points of
    each draw, and how the next round starts.

    Args:
        log: the log.
        options: of the game. Without, a game goes on as long as the log does; with length=east or length=half, it
            should also end where the rules end it.
    """
    is_open = options is None or options.length == "round"
    options = replace(options or RiichiOptions(), length="half") if is_open else cast("RiichiOptions", options)
    for number, kyoku in enumerate(log.rounds):
        report = Report(kyoku.start.name)
        try:
            written = _played(kyoku, options, report)
            _compare(kyoku, written, report)
            if not report.errors and number + 1 < len(log.rounds):
                _compare_next(log.rounds[number + 1].start, written, report, is_open)
            elif not (report.errors or report.is_over or is_open) and log.is_over:
                report.add(kyoku.last, "the game goes on after this round by the rules (rules.md 9.4)")
        except FormatError as error:
            report.errors.append(str(error))
        yield report


def read_game(log: Log, number: int = 0, options: RiichiOptions | None = None) -> tuple[State, list[str]]:
    """Return the game of one round of a log, and notes on what was read in another way than it is written.

    A game file holds a single round that begins a match: east 1, no honba, no sticks, equal points.

    Args:
        log: the log.
        number: of the round, from 0.
        options: of the game; its starting points are those of the log.

    Raises:
        FormatError: a game file cannot hold the round, or the round does not follow the rules; the message names the
            line.
    """
    kyoku = log.rounds[number]
    _check_first(kyoku.start)
    fields = (options or RiichiOptions()).as_dict() | {"length": "round", "starting_points": kyoku.start.points[0]}
    game = get_game(GAME)
    try:
        chosen = cast("RiichiOptions", game.make_options(**fields))
    except CardenvsError as error:
        raise kyoku.start.line.error(str(error)) from None
    report = Report(kyoku.start.name)
    player = play_round(kyoku, chosen, is_game=True)
    state = player.state
    written = Lines()
    written.extend(state.events(OMNISCIENT))
    _compare(kyoku, written, report)
    if report.errors:
        raise FormatError(report.errors[0])
    if not player.is_over:
        report.notes.append(f"line {kyoku.last.number}: the log ends before the round does")
    return state, report.notes + notes_as_drawn(player.as_drawn)


def notes_as_drawn(numbers: list[int]) -> list[str]:
    """Return a note on the lines `as_drawn` of a Player, if there are any."""
    if not numbers:
        return []
    lines = f"line {numbers[0]}{f' and {len(numbers) - 1} more' if numbers[1:] else ''}"
    return [f"{lines}: a tile from the hand that is like the tile drawn is played as that one (rules.md 3.1)"]


def _check_first(start: Start) -> None:
    """Raise FormatError unless a game can begin with a round."""
    wrong = []
    if start.dealer or start.wind:
        wrong.append(f"a game begins with east 1, and this is {round_name(start.wind, start.dealer, 0)}")
    if start.honba or start.sticks:
        wrong.append(f"it begins without honba and riichi sticks, and here are {start.honba} and {start.sticks}")
    if len(set(start.points)) > 1:
        wrong.append(f"all players begin with the same points, and these have {start.points}")
    if wrong:
        raise start.line.error(
            f"a game file cannot hold this round: {'; '.join(wrong)}. `cardenvs riichi check` plays every round"
        )


def _played(kyoku: Kyoku, options: RiichiOptions, report: Report) -> Lines:
    """Play a round, fill its results, and return what the rules write about it."""
    start = kyoku.start
    player = play_round(kyoku, options)
    written = Lines(start.dealer, start.wind, start.honba, start.sticks, start.points)
    written.extend(player.state.events(OMNISCIENT))
    report.as_drawn = player.as_drawn
    report.results = [line for line in written.lines if line["type"] in ("hora", "ryukyoku")]
    report.texts = written.texts
    report.is_over = player.state.is_terminal
    if not player.is_over:
        raise kyoku.last.error("the log ends before the round does by the rules")
    return written


# -- comparing ------------------------------------------------------------------------------------------------------


def _compare(kyoku: Kyoku, written: Lines, report: Report) -> None:
    """Compare the lines of a round with those that the rules write."""
    _compare_sticks(kyoku, written, report)
    _compare_wins(kyoku, written, report)
    draw = next((line for line in written.lines if line["type"] == "ryukyoku"), None)
    if draw is not None:
        _compare_draw(kyoku, draw, report)


def _compare_sticks(kyoku: Kyoku, written: Lines, report: Report) -> None:
    wanted = [line["actor"] for line in written.lines if line["type"] == "reach_accepted"]
    for line in kyoku.lines:
        if line.type != "reach_accepted":
            continue
        if not wanted or line.player() != wanted[0]:
            report.add(line, "no such riichi stick is paid by the rules (rules.md 4.1)")
            return
        wanted.pop(0)
    if wanted:
        report.add(kyoku.last, f"a line 'reach_accepted' of player_{wanted[0]} is missing before it")


def _compare_wins(kyoku: Kyoku, written: Lines, report: Report) -> None:
    theirs = {line.player(): line for line in kyoku.lines if line.type == "hora"}
    wins = [line for line in written.lines if line["type"] == "hora"]
    for win, text in zip(wins, written.texts, strict=True):
        line = theirs.pop(win["actor"])  # the rules have only winners of the log
        _compare_deltas(line, win["deltas"], report, text)
        ura = [TILES[face] for face in ura_of(line) or ()]
        if ura != win["ura_markers"]:
            report.add(line, f"'ura_markers' are {ura}; by the rules {win['ura_markers']} (rules.md 5.5)")
    for line in theirs.values():
        report.add(line, "this player does not win by the rules, as others do (rules.md 5.6)")


def _compare_draw(kyoku: Kyoku, draw: dict[str, Any], report: Report) -> None:
    line = next((line for line in kyoku.lines if line.type == "ryukyoku"), None)
    if line is None:
        what = name_of_result(draw)
        report.add(kyoku.last, f"the round ends in a draw by the rules ({what}); a line 'ryukyoku' is missing")
        return
    reason = line.data.get("reason")
    if isinstance(reason, str) and reason in REASONS and reason != draw["reason"]:
        report.add(line, f"'reason' is {reason}; by the rules {draw['reason']} (rules.md 8)")
    _compare_deltas(line, draw["deltas"], report, name_of_result(draw))


def _compare_deltas(line: Line, deltas: list[int], report: Report, text: str) -> None:
    if "deltas" not in line.data:
        report.notes.append(f"line {line.number}: there are no deltas; by the rules {deltas}")
    elif line.points("deltas") != deltas:
        report.add(line, f"'deltas' are {line.points('deltas')}; by the rules {deltas} ({text})")


def _compare_next(after: Start, written: Lines, report: Report, is_open: bool) -> None:
    """Compare how the next round starts."""
    following = next((line for line in written.lines if line["type"] == "start_kyoku"), None)
    if following is None:
        what = "the game is over before this round by the rules (rules.md 9.3 to 9.5)"
        if is_open:
            report.notes.append(str(after.line.error(what)))
        else:
            report.add(after.line, what)
        return
    names = ("bakaze", "kyoku", "honba", "kyotaku", "scores")
    for name in names:
        if after.line.data[name] != following[name]:
            report.add(after.line, f"{name!r} is {after.line.data[name]}; by the rules {following[name]} (rules.md 9)")


def name_of_result(line: dict[str, Any]) -> str:
    """Return a line "hora" or "ryukyoku" in a few words."""
    if line["type"] == "ryukyoku":
        return REASONS[line["reason"]]
    if line["actor"] == line["target"]:
        return f"tsumo by {line['actor']}"
    return f"ron by {line['actor']} from {line['target']}"
