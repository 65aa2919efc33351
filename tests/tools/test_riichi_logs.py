"""Tools of riichi: mjai logs written, read and checked; the worth of hands; waits; the commands `cardenvs riichi`."""

import json
import random
import re
from collections import Counter

import pytest
from typer.testing import CliRunner

from cardenvs.cli import app
from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import DeckError, FormatError, OptionError
from cardenvs.core.registry import get_game
from cardenvs.core.replay import Replay
from cardenvs.games.riichi import actions
from cardenvs.games.riichi.hands import waits
from cardenvs.games.riichi.state import RiichiOptions, copy_kinds
from cardenvs.games.riichi.tiles import LABELS, NUM_KINDS
from cardenvs.tools.riichi import hands
from cardenvs.tools.riichi.log import parse_log, read_log
from cardenvs.tools.riichi.player import play_round
from cardenvs.tools.riichi.reader import check_log, read_game
from cardenvs.tools.riichi.writer import dumps

GAME = get_game("riichi_v0")
RULES = RiichiOptions()


# -- games ---------------------------------------------------------------------------------------------------------


def eager(state, chooser):
    """Any action, but mostly wins, riichi, kans and calls, so that all sorts of lines are met."""
    legal = state.legal_actions()
    for first, end, share in (
        (actions.RON, actions.PASS, 0.95),
        (actions.RIICHI, actions.CLOSED_KAN, 1),
        (actions.CLOSED_KAN, actions.CHI, 0.9),
        (actions.OPEN_KAN, actions.OPEN_KAN + 1, 0.8),
        (actions.PON, actions.OPEN_KAN, 0.3),
        (actions.CHI, actions.PON, 0.1),
    ):
        found = [action for action in legal if first <= action < end]
        if found and chooser.random() < share:
            return chooser.choice(found)
    plain = [action for action in legal if action < actions.RIICHI or action == actions.PASS]
    return chooser.choice(plain or legal)


def played(seed, how="random", most=None, **options):
    """A game after at most `most` actions, played by a policy, or by `eager` on the hands of the policy heuristic."""
    state, chooser = GAME.new_state(seed=seed, **options), random.Random(seed)
    while not state.is_terminal and state.ply != most:
        if how == "eager":
            state.apply(eager(state, chooser))
        elif how == "mixed":  # hands that come near to winning, and calls
            state.apply(eager(state, chooser) if chooser.random() < 0.3 else state.policy_action("heuristic", seed))
        else:
            state.apply(state.policy_action(how, chooser.randrange(2**60)))
    return state


MANY = [*((seed, "random") for seed in range(50)), *((seed, "heuristic") for seed in range(20)),
        *((seed, "eager") for seed in range(100, 120)), *((seed, "mixed") for seed in range(200, 220))]  # fmt: skip


@pytest.fixture(scope="module")
def games():
    return [played(seed, how) for seed, how in MANY]


def types_of(text):
    return Counter(json.loads(line)["type"] for line in text.splitlines())


# -- there and back ------------------------------------------------------------------------------------------------


def test_games_come_back_from_their_logs(games):
    met = Counter()
    for state in games:
        text = dumps(state)
        back, notes = read_game(parse_log(text))
        assert notes == []
        assert back.is_terminal
        assert told(back) == told(state)
        assert back.returns == state.returns
        assert back.record.points.tolist() == state.record.points.tolist()
        assert dumps(back) == text
        met += types_of(text)
    assert met["hora"] > 15
    assert met["ryukyoku"] > 15
    assert all(
        met[kind] for kind in ("reach", "reach_accepted", "chi", "pon", "daiminkan", "ankan", "kakan", "dora")
    ), met


def told(state):
    """All events but where tiles lie that nobody sees."""
    return [event for event in state.events() if event.kind != "lies_face_down"]


@pytest.mark.parametrize("options", [
    {"red_fives": False}, {"kan_dora": False, "ura_dora": False}, {"multiple_ron": "triple", "swap_calling": True},
    {"multiple_ron": "head_bump", "starting_points": 1000}, {"abortive_draws": False, "nagashi": False},
])  # fmt: skip
def test_options_decide_how_a_log_is_read(options):
    for seed in range(5):
        state = played(seed, "mixed", **options)
        back, _ = read_game(parse_log(dumps(state)), options=GAME.make_options(**options))
        assert told(back) == told(state)


def test_unfinished_games_are_read_up_to_their_last_line(games):
    for seed in range(12):
        state = played(seed, "mixed", most=7 * seed + 3)
        back, notes = read_game(parse_log(dumps(state)))
        assert dumps(back) == dumps(state)
        assert len(notes) == (not state.is_terminal)


def test_three_rons_come_back():
    deck = "1p 1p 2p 3p 4p 5p 6p 7p 8p 9p 2z 3z 4z" + " 2m 3m 4m 6m 6m 3s 4s 5s 7s 8s 5z 5z 5z"
    deck += " 2m 3m 4m 6m 6m 3s 4s 5s 7s 8s 6z 6z 6z" + " 2m 3m 4m 7m 7m 3s 4s 5s 7s 8s 7z 7z 7z" + " 1z 9s"
    for multiple, reason in (("double", "ryukyoku"), ("triple", "hora")):
        state = GAME.new_state(seed=1, deck=deck, multiple_ron=multiple)
        state.apply(state.action_from_label("discard 9s"))
        for _ in range(3):
            state.apply(actions.RON)
        text = dumps(state)
        assert types_of(text)[reason] == (1 if multiple == "double" else 3)
        back, _ = read_game(parse_log(text), options=GAME.make_options(multiple_ron=multiple))
        assert told(back) == told(state)


def test_matches_pass_the_check_of_every_round():
    rounds = 0
    for seed, length in ((1, "east"), (2, "east"), (3, "half"), (4, "east")):
        state = played(seed, "heuristic", length=length)
        log = parse_log(dumps(state))
        reports = list(check_log(log, state.options))
        assert [report.errors + report.notes for report in reports] == [[]] * len(log.rounds)
        assert len(log.rounds) == state.record.num_rounds
        assert [report.is_over for report in reports] == [False] * (len(reports) - 1) + [True]
        rounds += len(reports)
    assert rounds > 15


def test_a_replay_has_its_names():
    names = ["Ann", "Bö", "C", "D"]
    state = played(1, most=30)
    log = parse_log(dumps(Replay.of(state, names)))
    assert log.names == tuple(names)


def test_who_leaves_has_no_line():
    state = played(1, most=30)
    state.apply(FORFEIT + state.current_player)
    with pytest.raises(FormatError, match="has left the game"):
        dumps(state)


# -- what a seat saw -----------------------------------------------------------------------------------------------


def test_a_log_of_a_seat_hides_what_it_did_not_see():
    for seed in range(6):
        state = played(seed, "mixed")
        whole = [json.loads(line) for line in dumps(state).splitlines()]
        for seat in range(4):
            seen = [json.loads(line) for line in dumps(state, seat).splitlines()]
            assert seen[0].pop("id") == seat
            assert seen == [masked(line, seat) for line in whole]
            assert any(line.get("pai") == "?" for line in seen)


def masked(line, seat):
    line = dict(line)
    if line["type"] == "start_kyoku":
        line["tehais"] = [hand if p == seat else ["?"] * 13 for p, hand in enumerate(line["tehais"])]
    if line["type"] == "tsumo" and line["actor"] != seat:
        line["pai"] = "?"
    return line


def test_a_twin_of_a_seat_has_the_same_log():
    varied = 0
    for seed in range(6):
        state = played(seed, "mixed", most=60 + seed)
        for seat in range(4):
            twin = state.determinize(seat, seed=seed)
            assert dumps(twin, seat) == dumps(state, seat)
            varied += twin.record_bytes() != state.record_bytes()
    assert varied == 24


def test_a_log_of_a_seat_cannot_be_read_as_a_game():
    with pytest.raises(FormatError, match=r"^line 2 \(start_kyoku\): the hand of player_0 is hidden; this needs a log"):
        parse_log(dumps(played(1, most=20), viewer=1))


# -- bad lines -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def won():
    """Lines of a game with a riichi by player_1, who wins by ron from player_2."""
    deck = "1m 1m 1m 9m 9m 9m 1p 1p 9p 9p 1s 2z 3z" + " 2m 3m 4m 6m 6m 3s 4s 5s 7s 8s 5p 6p 7p"
    deck += (
        " 1z 1z 2z 2z 3z 3z 4z 4z 5z 5z 6z 6z 6s" + " 2p 2p 3p 3p 4p 4p 8p 8p 9p 9p 1s 2s 2s" + " 1z 2z 7z 6s 5z 4z 7z"
    )
    state = GAME.new_state(seed=1, deck=deck)
    for labels in ("discard 2z, pass, pass, pass", "riichi 7z, pass, pass, pass", "discard 6s, pass, pass, ron"):
        for label in labels.split(", "):
            state.apply(state.action_from_label(label))
    return dumps(state).splitlines()


def changed(lines, number, old, new):
    """Lines with one of them changed, or left out if `new` is None."""
    line = lines[number - 1]
    assert old in line
    return [*lines[: number - 1], *([] if new is None else [line.replace(old, new)]), *lines[number:]]


@pytest.mark.parametrize(("number", "old", "new", "message"), [
    (1, "player_3", "\\u202e", "line 1 (start_game): player_3 is called '\\u202e'"),
    (1, '"player_3"', "7", "line 1 (start_game): 'names' should have a text for player_3; got 7"),
    (2, '"E","dora', '"X","dora', "line 2 (start_kyoku): 'bakaze' should be E, S, W or N; got 'X'"),
    (2, '"oya":0', '"oya":4', "line 2 (start_kyoku): 'oya' should be an integer from 0 to 3; got 4"),
    (2, '"oya":0', '"oya":1', "so 'kyoku' should be 2"),
    (2, '"oya":0', '"oyo":1', "line 2 (start_kyoku): 'oya' is missing"),
    (2, '"honba":0', '"honba":true', "'honba' should be an integer from 0 to 100; got True"),
    (2, "25000,25000]", "1e9,25000]", "'scores' should have an integer for each player"),
    (2, '"1m","1m","1m"', '"1m","1m"', "'tehais' should have 13 tiles for player_0"),
    (2, '"1m","1m","1m"', '"1m","1m","1z"', "'1z' in 'tehais' is not a tile; tiles are 1m to 9s"),
    (2, '"1m","1m","1m"', '"1m","1m","?"', "line 2 (start_kyoku): the hand of player_0 is hidden"),
    (2, '"1m","1m","1m"', '"6m","6m","6m"', "line 2 (start_kyoku): there are more tiles 6m than the game has"),
    (3, '"S"', '"?"', "line 3 (tsumo): 'pai' is hidden; this needs a log that shows all hands and draws"),
    (3, '"actor":0', '"actor":1', "line 3 (tsumo): player_1 draws, but it is the turn of player_0"),
    (3, "tsumo", None, "line 3 (dahai): player_0 has not drawn; a line 'tsumo' is missing"),
    (3, "tsumo", "tsuno", "line 3: 'tsuno' is not a type of line in mjai; did you mean 'tsumo'?"),
    (4, "true", "1", "line 4 (dahai): 'tsumogiri' should be true or false; got 1"),
    (4, '"S"', '"W"', "line 4 (dahai): 'tsumogiri' is true, but the tile drawn is S"),
    (4, '"S","tsumogiri":true', '"8s","tsumogiri":false', "line 4 (dahai): riichi_v0: player_0 may not discard 8s: "),
    (4, '"actor":0', '"actor":3', "line 4 (dahai): player_3 acts, but it is the turn of player_0"),
    (5, "C", "E", "line 7 (dahai): 'tsumogiri' is true, but the tile drawn is E"),
    (6, "reach", "ankan", "line 6 (ankan): 'consumed' is missing"),
    (6, '"reach"', '"tsumo","pai":"E"', "line 6 (tsumo): nobody draws now: player_1 discards"),
    (6, '"reach","actor":1', '"hora","actor":1,"target":1', "line 6 (hora): riichi_v0: player_1 may not tsumo: "),
    (6, '"reach"', '"ryukyoku"', "line 6 (ryukyoku): riichi_v0: player_1 may not nine terminals and honours: "),
    (6, '"reach"', '"kakan","pai":"E"', "line 6 (kakan): player_1 has no E"),
    (6, '"reach"', '"ankan","consumed":["E","E","E","E"]', "line 6 (ankan): riichi_v0: player_1 may not closed kan"),
    (7, '"C"', '"6m"', "'tsumogiri' is true, but the tile drawn is C"),
    (8, '"actor":1', '"actor":2', "line 8 (reach_accepted): no such riichi stick is paid by the rules"),
    (8, "reach_accepted", None, "line 10 (hora): a line 'reach_accepted' of player_1 is missing before it"),
    (10, '"6s","tsumogiri":true', '"E","tsumogiri":false', "line 11 (hora): riichi_v0: player_1 may not ron: "),
    (11, '"target":2', '"target":3', "player_3 is said to have given the tile, but it was player_2"),
    (11, "9000", "9100", "line 11 (hora): 'deltas' are [0, 9100, -8000, 0]; by the rules [0, 9000, -8000, 0] ("),
    (11, '["P"]', "[]", "a winner in riichi turns up 1 ura indicators; 'ura_markers' has 0 (rules.md 5.5)"),
    (11, '"P"', '"5z"', "line 11 (hora): '5z' in 'ura_markers' is not a tile"),
    (11, "[0,9000,-8000,0]", "[0,9000]", "'deltas' should be a list of 4; got [0, 9000]"),
    (11, "hora", "ryukyoku", "line 11 (ryukyoku): the round does not end in a draw here by the rules"),
    (11, "hora", None, "line 10 (dahai): the round does not end with this line by the rules: the others are asked"),
    (11, '"hora"', '"pon","pai":"6s","consumed":["6s","6s"]', "line 11 (pon): riichi_v0: player_1 may not pon: "),
    (11, '"hora"', '"pon","pai":"6s","consumed":["6s","5s"]', "'consumed' should have 2 tiles of the kind that is"),
    (11, '"hora"', '"chi","pai":"6s","consumed":["7s","9s"]', "line 11 (chi): the tiles of a chi should be a run"),
    (11, '"hora"', '"chi","pai":"7s","consumed":["8s","9s"]', "player_2 is said to have discarded 7s, but"),
    (11, '"hora"', '"dora","dora_marker":"P"', "line 11 (dora): no indicator is turned up for this by the rules"),
    (12, "end_kyoku", "dahai", "line 12 (dahai): the round is over before this line by the rules"),
    (13, '{"type":"end_game"}', "{", "line 13 cannot be read as JSON"),
    (13, '{"type":"end_game"}', "[" * 5000, "line 13 cannot be read as JSON"),
    (13, '{"type":"end_game"}', "[1]", "line 13 is not one of mjai: it should be an object with a \"type\""),
    (13, '{"type":"end_game"}', '{"type":"end_game"}\n{"type":"end_game"}', "line 14 (end_game): nothing may follow"),
    (13, '{"type":"end_game"}', '{"type":"dahai"}', "line 13 (dahai): no round has begun"),
])  # fmt: skip
def test_a_bad_line_is_named(won, number, old, new, message):
    with pytest.raises(FormatError, match=re.escape(message)):
        read_game(parse_log("\n".join(changed(won, number, old, new))))


def test_an_empty_log_is_refused():
    with pytest.raises(FormatError, match="there is no round in it"):
        parse_log("\n\n")


def test_a_round_has_a_bounded_number_of_lines(won):
    with pytest.raises(FormatError, match="a round has at most 1,000 lines"):
        parse_log("\n".join(won[:3] + won[3:4] * 2_000))


def test_a_large_file_is_refused(tmp_path):
    path = tmp_path / "large.mjai"
    with path.open("wb") as file:
        file.truncate(17 << 20)
    with pytest.raises(FormatError, match="it is larger than"):
        read_log(path)


def test_scrambled_logs_give_errors_that_name_a_line(won):
    chooser = random.Random(1)
    texts = [won, dumps(played(203, "mixed")).splitlines(), dumps(played(104, "eager")).splitlines()]
    refused = 0
    for _ in range(200):
        lines = list(chooser.choice(texts))
        for _ in range(chooser.choice((1, 1, 2))):
            scramble(lines, chooser)
        errors = errors_in("\n".join(lines))
        assert all(error.startswith("line ") or "no round" in error for error in errors), errors
        refused += bool(errors)
    assert refused > 100


def errors_in(text):
    """What is wrong with a log; anything but a FormatError is a bug."""
    try:
        log = parse_log(text)
        found = [error for report in check_log(log) for error in report.errors]
        read_game(log)
    except FormatError as error:
        return [str(error)]
    return found


def scramble(lines, chooser):
    """Drop, double or exchange lines, or change a value in one of them."""
    i, j = chooser.randrange(len(lines)), chooser.randrange(len(lines))
    way = chooser.randrange(6)
    if way == 0:
        lines[i] = ""
    elif way == 1:
        lines.insert(j, lines[i])
    elif way == 2:
        lines[i], lines[j] = lines[j], lines[i]
    else:
        data = json.loads(lines[i]) if lines[i] else {}
        if data:
            name = chooser.choice(list(data))
            others = [json.loads(line) for line in lines if line]
            values = [other[name] for other in others if name in other]
            junk = [None, -1, 4, 10**30, 0.5, "", "?", "5mr", [], {}, [None] * 4, ["1m"] * 4, [[]] * 4, True, "hora"]
            data[name] = chooser.choice(values if way < 5 else junk)
            lines[i] = json.dumps(data)


def test_a_game_file_begins_with_east_1(won):
    later = changed(won, 2, '"kyoku":1,"honba":0,"kyotaku":0', '"kyoku":1,"honba":2,"kyotaku":1')
    later = changed(later, 2, "[25000,25000,", "[24000,25000,")
    with pytest.raises(FormatError) as caught:
        read_game(parse_log("\n".join(later)))
    assert "it begins without honba and riichi sticks, and here are 2 and 1; all players begin" in str(caught.value)
    assert "`cardenvs riichi check` plays every round" in str(caught.value)
    (report,) = check_log(parse_log("\n".join(later)))
    assert report.results[0]["deltas"] == [0, 10_600, -8_600, 0]
    (error,) = report.errors
    assert error.startswith("line 11 (hora): 'deltas' are [0, 9000, -8000, 0]; by the rules [0, 10600, -8600, 0]")


def test_a_round_in_the_middle_of_a_match_is_played_from_its_start(won):
    """The same deal, with player_3 as the dealer of south 4: all players move on by three."""
    moved = []
    for line in map(json.loads, won):
        for name in ("actor", "target"):
            if name in line:
                line[name] = (line[name] + 3) % 4
        if line["type"] == "start_kyoku":
            line |= {"bakaze": "S", "kyoku": 4, "oya": 3, "tehais": line["tehais"][1:] + line["tehais"][:1]}
        if "deltas" in line:
            line["deltas"] = line["deltas"][1:] + line["deltas"][:1]
        moved.append(json.dumps(line))
    (report,) = check_log(parse_log("\n".join(moved)))
    assert (report.name, report.errors) == ("south 4", [])
    assert report.results[0]["deltas"] == [9000, -8000, 0, 0]


def test_a_discard_like_the_tile_drawn_counts_as_that_one(won):
    log = parse_log("\n".join(changed(won, 4, "true", "false")))
    state, notes = read_game(log)
    assert notes == ["line 4: a tile from the hand that is like the tile drawn is played as that one (rules.md 3.1)"]
    assert state.is_terminal


def test_how_the_next_round_starts_is_compared():
    state = played(3, "heuristic", length="east")
    lines = dumps(state).splitlines()
    second = next(number for number, line in enumerate(lines[3:], 4) if "start_kyoku" in line)
    for old, new in (("scores", "100"), ("honba", "7"), ("kyotaku", "7")):
        data = json.loads(lines[second - 1])
        data[old] = [int(new)] * 4 if old == "scores" else int(new)
        report = next(check_log(parse_log("\n".join([*lines[: second - 1], json.dumps(data), *lines[second:]]))))
        (error,) = report.errors
        assert error.startswith(f"line {second} (start_kyoku): {old!r} is ")


# -- other programs ------------------------------------------------------------------------------------------------


def test_logs_of_riichienv_are_as_by_the_rules(games):
    """100 matches. Where they differ, riichienv pays a hand that waits only for tiles of which it holds all four."""
    pytest.importorskip("riichienv")
    counts, fields = Counter(), {}
    for seed in range(100):
        rows = match_of_riichienv(seed)
        for row in rows:
            fields.setdefault(row["type"], set()).update(row)
        log = parse_log("\n".join(json.dumps(row) for row in rows))
        for kyoku, report in zip(log.rounds, check_log(log), strict=True):
            counts["rounds"] += 1
            counts.update(f"{row['type']} {row.get('reason', '')}".strip() for row in report.results)
            if report.errors:
                assert has_dead_wait(kyoku), report.errors
                counts["dead waits"] += 1
    assert counts["rounds"] > 400
    assert counts["hora"] > 200
    assert counts["dead waits"] < 10
    for state in games[-40:]:
        for line in map(json.loads, dumps(state).splitlines()):
            assert line["type"] == "start_game" or set(line) <= fields[line["type"]], line


def match_of_riichienv(seed):
    """The rows of a match whose players come near to winning, and call, riichi and win."""
    import riichienv

    kinds, chooser = riichienv.ActionType, random.Random(seed)
    env = riichienv.RiichiEnv(game_mode="4p-red-east", rule=riichienv.GameRule.default_tenhou(), seed=seed)
    views = env.reset()

    def chosen(player, legal):
        of = lambda *types: [action for action in legal if action.action_type in types]  # noqa: E731
        for found, share in (
            (of(kinds.RON, kinds.TSUMO), 0.95), (of(kinds.RIICHI), 1), (of(kinds.KYUSHU_KYUHAI), 0.5),
            (of(kinds.ANKAN, kinds.KAKAN, kinds.DAIMINKAN), 0.8), (of(kinds.CHI, kinds.PON), 0.2),
        ):  # fmt: skip
            if found and chooser.random() < share:
                return chooser.choice(found)
        plain = of(kinds.DISCARD)
        return min(plain, key=lambda one: (distance(player, one), chooser.random())) if plain else of(kinds.PASS)[0]

    def distance(player, discard):
        return riichienv.calculate_shanten([tile for tile in env.hands[player] if tile != discard.tile])

    while not env.done():
        views = env.step({player: chosen(player, view.legal_actions()) for player, view in views.items()})
    return [json.loads(row) if isinstance(row, str) else row for row in env.mjai_log]


def has_dead_wait(kyoku):
    """Whether somebody waits at the end for tiles all of which are in the own hand."""
    state = play_round(kyoku, RULES).state
    kinds = [counts_of(state, p) for p in range(4)]
    return any(waits(kinds[p], int(state.record.num_melds[p])) and not state.record.waits[p] for p in range(4))


def counts_of(state, player):
    import numpy as np

    counts = np.zeros(NUM_KINDS, np.int8)
    copy_kinds(state.records[0], player, counts)
    return counts


def test_riichienv_reads_our_logs(tmp_path, games):
    riichienv = pytest.importorskip("riichienv")
    for number, state in enumerate(games):
        path = tmp_path / f"{number}.mjai"
        path.write_text(dumps(state))
        (kyoku,) = riichienv.MjaiReplay.from_jsonl(str(path)).take_kyokus()
        assert list(kyoku.end_scores) == state.record.points.tolist()


# -- hands ---------------------------------------------------------------------------------------------------------


def run(*words, code=0):
    ended = CliRunner().invoke(app, ["riichi", *map(str, words)], env={"COLUMNS": "80"})
    assert ended.exit_code == code, ended.output
    assert "Traceback" not in ended.output
    return ended


# Of section 12 of the notes on the rules: what the package `mahjong` and riichienv agree on.
@pytest.mark.parametrize(("words", "han", "fu", "total"), [
    ("234m567m345p67s22s --win 8s --tsumo", 3, 20, 2_700),
    ("234m567m345p67s22s --win 8s --riichi", 3, 30, 3_900),
    ("234m567m345p67s22s --win 8s --riichi --dora 1s --seat east", 5, 30, 12_000),
    ("234m567m345p67s22s --win 8s --riichi --dora 1s1s", 7, 30, 12_000),
    ("234m567m345p67s22s --win 8s --riichi --dora 9m --ura 1s", 5, 30, 8_000),
    ("234m567m345p67s22s --win 8s --riichi --ippatsu --tsumo --dora 1s --seat east", 7, 20, 18_000),
    ("234m567m345p67s22s --win 8s --riichi --ippatsu -o kiriage_mangan=true", 4, 30, 8_000),
    ("234m067m345p67s22s --win 8s --riichi", 4, 30, 7_700),
    ("234m567m345p67s22s --win 8s --riichi --honba 2 --sticks 1", 3, 30, 5_500),
    ("123m456p78s99p --meld chi_789m --win 6s --dora 8p", 0, 0, 0),
    ("234m456p67s55s --meld chi_345m --win 8s", 1, 30, 1_000),
    ("234m456p67s55s --meld chi_345m --win 8s -o open_tanyao=false", 0, 0, 0),
    ("1199m2288p5577s3z --win 3z", 2, 25, 1_600),
    ("1199m2288p5577s3z --win 3z --riichi --tsumo", 4, 25, 6_400),
    ("123m46m777p99p --win 5m --kan closed_1z --round south --seat east", 1, 70, 3_400),
    ("222m444p666s88s99m --win 9m", 4, 50, 8_000),
    ("222m444p666s88s99m --win 9m --tsumo", 13, 0, 32_000),
    ("123m45m11z --meld pon_7z --meld chi_789m --win 6m", 4, 30, 7_700),
    ("2233445566778m --win 8m --riichi --dora 1m --ura 6m", 16, 30, 32_000),
    ("19m19p19s1234567z --win 7z -o double_yakuman=true", 26, 0, 64_000),
    ("234m567m34p22s --kan closed_8s --win 5p --tsumo --after-kan", 3, 40, 5_200),
    ("123m456p789s11s78p --win 9p --tsumo --last-tile", 3, 20, 2_700),
    ("0m234p --kan closed_9p --kan closed_7z --kan open_1s --win 5m --seat west", 4, 110, 8_000),
    ("123m456p789s11z23s --win 1s --first-draw --tsumo --seat east", 13, 0, 48_000),
])  # fmt: skip
def test_hands_are_worth_what_others_say(words, han, fu, total):
    found = json.loads(run("score", *(word.replace("_", " ") if word[:2] != "--" and "=" not in word else word
                                      for word in words.split()), "--json").stdout)  # fmt: skip
    assert (found["han"], found["fu"], found["total"]) == (han, fu, total)
    assert sum(each for _, each in found["yaku"]) == han


def test_the_worth_of_a_hand_is_printed():
    printed = run("score", "234m567m345p67s22s", "--win", "8s", "--tsumo", "--honba", 1, "--sticks", 2).stdout
    for words in ("pinfu 1", "3 han 20 fu", "dealer pays 1,400", "each other player pays 800", "winner gets 5,000"):
        assert words in " ".join(printed.split())
    assert "no win: the hand has no yaku" in run("score", "123m456p78s99p", "--win", "6s", "--meld", "chi 789m").stdout
    assert "no win: the hand is not complete" in run("score", "123m456p78s99p11z2z", "--win", "6s").stdout


@pytest.mark.parametrize(("words", "message"), [
    (["score", "123m", "--win", "1m"], "with 0 melds a hand has 13 tiles beside the one that wins; got 3"),
    (["score", "123m456m789m1122p", "--win", "12p"], "--win takes one tile, as in --win 8s; got 2"),
    (["score", "1234m", "--win", "x"], "'x' in 'x' is not a suit"),
    (["score", "1111m456m789m112p", "--win", "1m"], "there are 5 tiles 1m; there are four of each kind"),
    (["score", "5555m456m789m11p", "--win", "1m"], "with 0 melds"),
    (["score", "5555m46m789m1122p", "--win", "1m"], "there are 4 tiles 5m; one of the four is the red five, 0m"),
    (["score", "0055m46m789m1122p", "--win", "1m"], "there are too many tiles 0m; the game has one red five in each"),
    (["score", "0555m46m789m1122p", "--win", "1m", "-o", "red_fives=no"], "the game has none with red_fives=false"),
    (["score", "1m", "--win", "1m", "--meld", "chi 135m"], "a chi has three tiles in a row, as in chi 345m"),
    (["score", "1m", "--win", "1m", "--meld", "chi 891m"], "a chi has three tiles in a row"),
    (["score", "1m", "--win", "1m", "--meld", "pong 7z"], 'a meld is written as in "chi 345m" or "pon 7z"'),
    (["score", "1m", "--win", "1m", "--meld", "pon 76z"], "a meld of 3 tiles of one kind is written as 7z or 777z"),
    (["score", "1m", "--win", "1m", "--kan", "7z"], 'a kan is written as in "open 1z" or "closed 5m"'),
    (["score", "1m", "--win", "1m", "--seat", "up"], "--seat takes east, south, west or north; got 'up'"),
    (["score", "123m456p78s99p", "--win", "6s", "--meld", "chi 789m", "--riichi"], "riichi needs a closed hand"),
    (["score", "123m456p78s99p123z", "--win", "6s", "--ippatsu"], "ippatsu needs riichi"),
    (["score", "123m456p78s99p123z", "--win", "6s", "--ura", "1m"], "only riichi counts ura indicators"),
    (["score", "123m456p78s99p123z", "--win", "6s", "--after-kan"], "a win after a kan needs a kan and tsumo"),
    (["score", "123m456p78s99p123z", "--win", "6s", "--first-draw"], "a win on the first draw is a tsumo"),
    (["score", "123m456p78s99p123z", "--win", "6s", "--robbing", "--tsumo"], "robbing a kan is a ron, not a tsumo"),
    (["score", "123m456p78s99p123z", "--win", "6s", "--dora", "123456m"], "there are at most 5 indicators of a sort"),
    (["waits", "123m"], "a hand has 13 or 14 tiles, and 3 less for each meld: 10 or 11, 7 or 8, ...; got 3"),
    (["waits", "1" * 300 + "m"], "a text of tiles has at most 200 characters; got 301"),
    (["waits", "11111m"], "there are 5 tiles 1m"),
])  # fmt: skip
def test_what_is_refused(words, message):
    ended = CliRunner().invoke(app, ["riichi", *words], env={"COLUMNS": "300"})
    assert ended.exit_code == 2
    assert message in ended.stderr


def test_waits_and_draws():
    assert "tenpai" in run("waits", "234m567m345p67s22s").stdout
    for hand, shanten, discard, tiles in (
        ("234m567m345p67s22s", 0, None, {"5s": 4, "8s": 4}),
        ("19m19p19s1234566z", 0, None, {"7z": 4}),
        ("4p", 0, None, {"4p": 3}),
        ("67s22s", 0, None, {"5s": 4, "8s": 4}),
        ("234m567m345p68s22s9m", 0, "9m", {"7s": 4}),
        ("1155m", 0, None, {"1m": 2, "5m": 2}),
        ("0555m", 1, None, {tile: 4 for tile in LABELS[:34] if tile != "5m"}),
    ):  # fmt: skip
        found = json.loads(run("waits", hand, "--json").stdout)
        best = found["draws"][0]
        assert (found["shanten"], best["discard"], best["tiles"]) == (shanten, discard, tiles), hand


def test_a_complete_hand_has_shanten_minus_1():
    assert "The hand is complete. After a discard:" in run("waits", "234m567m345p678s22s").stdout


def test_a_kan_of_fives_has_the_red_one():
    closed = hands.parse_kan("closed 5p")
    assert sorted(closed.faces) == [13, 13, 13, 35]
    assert set(hands.parse_kan("closed 5p", red_fives=False).faces) == {13}
    assert sorted(hands.parse_meld("pon 0p").faces) == [13, 13, 35]
    with pytest.raises(DeckError):
        hands.parse_kan("closed 55p")
    held = tuple(hands.tiles_of("123m456m789m1s"))
    with pytest.raises(OptionError, match="robbing a kan is a ron"):
        hands.score(hands.Win(held, held[-1], (closed,), frozenset({"robbing", "tsumo"})), RULES)


# -- commands ------------------------------------------------------------------------------------------------------


def test_games_are_exported_imported_and_checked(tmp_path):
    state = played(201, "mixed")
    game, log, back = tmp_path / "game.json", tmp_path / "game.mjai", tmp_path / "back.json"
    Replay.of(state, ["Ann", "Ben", "Cay", "Dot"]).save(game)
    assert run("export", game).stdout == dumps(Replay.load(game))
    run("export", game, "--out", log)
    assert log.read_text() == dumps(Replay.load(game))
    assert '"?"' in run("export", game, "--seat", 2).stdout
    run("import", log, "--out", back)
    replay = Replay.load(back)
    assert replay.players == ("Ann", "Ben", "Cay", "Dot")
    assert dumps(replay) == log.read_text()
    assert "1 round: 1 by the rules, 0 not" in run("check", log).stdout
    assert run("import", log, "--out", back, "--round", 2, code=2).stderr.count("has 1 round") == 1
    Replay.of(get_game("kuhn_poker").new_state(seed=1)).save(game)
    assert "mjai logs have games of riichi_v0" in run("export", game, code=2).stderr.replace("\n", " ")


def test_a_log_that_differs_is_told(tmp_path, won):
    path, out = tmp_path / "game.mjai", tmp_path / "game.json"
    path.write_text("\n".join(changed(won, 11, "9000", "9100")))
    ended = run("check", path, code=1)
    assert "the log differs" in ended.stdout
    assert "line 11 (hora): 'deltas' are [0, 9100, -8000, 0]; by the rules [0, 9000, -8000, 0]" in ended.stderr
    (report,) = json.loads(run("check", path, "--json", code=1).stdout)
    assert report["errors"][0].startswith("line 11 (hora)")
    assert "line 11 (hora)" in run("import", path, "--out", out, code=2).stderr
    assert not out.exists()


@pytest.mark.parametrize("place", ["before the draw", "before the discard", "after the discard"])
def test_an_indicator_may_be_written_at_other_places(place):
    """That of an open kan, which the rules turn up before the discard; programs differ."""
    state = next(state for state in (played(seed, "eager") for seed in range(100, 200)) if has_open_kan(state))
    lines = dumps(state).splitlines()
    kan = next(number for number, line in enumerate(lines) if '"daiminkan"' in line)
    assert ['"tsumo"' in lines[kan + 1], '"dora"' in lines[kan + 2], '"dahai"' in lines[kan + 3]] == [True] * 3
    dora = lines.pop(kan + 2)
    lines.insert({"before the draw": kan + 1, "before the discard": kan + 2, "after the discard": kan + 3}[place], dora)
    back, _ = read_game(parse_log("\n".join(lines)))
    assert told(back) == told(state)
    lines.remove(dora)
    with pytest.raises(FormatError, match="a line 'dora' is missing"):
        read_game(parse_log("\n".join(lines)))


def has_open_kan(state):
    lines = dumps(state).splitlines()
    kans = [number for number, line in enumerate(lines) if '"daiminkan"' in line]
    return bool(kans) and '"dora"' in lines[kans[0] + 2] and '"dahai"' in lines[kans[0] + 3]
