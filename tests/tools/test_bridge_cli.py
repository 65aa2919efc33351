"""The commands `cardenvs bridge ...`: what they print and write, how they go on after a stop, and what they refuse."""

import json
import re
import tempfile
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

pytest.importorskip("endplay")

from cardenvs.cli import app
from cardenvs.core.registry import get_game
from cardenvs.core.replay import Replay
from cardenvs.games.bridge.bank import FILE, read_bank, unpack
from cardenvs.tools.bridge import solving
from cardenvs.tools.bridge.board_files import read_boards
from cardenvs.tools.bridge.deals import dealt_hands, hands_of_seed
from cardenvs.tools.bridge.double_dummy import tables
from cardenvs.tools.bridge.results import BANK_SEED

CLUB = Path(__file__).parent / "bridge" / "club.pbn"
GAME = get_game("bridge_v0")


def run(*words, code=0):
    ended = CliRunner().invoke(app, ["bridge", *map(str, words)], env={"COLUMNS": "80"})
    assert ended.exit_code == code, ended.output
    assert "Traceback" not in ended.output
    printed = [line for line in ended.stdout.splitlines() if tempfile.gettempdir() not in line]  # paths may be long
    assert all(len(line) <= 80 for line in printed), ended.stdout
    return ended


@pytest.fixture
def free(monkeypatch):
    """Tables that cost nothing."""
    monkeypatch.setattr(solving, "tables", lambda hands: np.full((len(hands), 5, 4), 7, np.int8))


def test_boards_are_listed_and_converted(tmp_path):
    out = tmp_path / "a.pbn"
    ended = run("boards", CLUB, "--out", out)
    assert "3NT by S" in ended.stdout
    assert "11 claimed" in ended.stdout
    assert "+660" in ended.stdout
    assert len(list(read_boards(out))) == 4
    run("boards", CLUB, "--board", 1, "--out", tmp_path / "a.lin")
    run("boards", tmp_path / "a.lin", "--out", tmp_path / "a.json")
    assert len(Replay.load(tmp_path / "a.json").actions) == 18


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["boards", CLUB, "--out", "a.txt"], "--out ends with .pbn, .lin or .json; got a.txt"),
        (["boards", CLUB, "--out", "a.json"], "a replay has one board; choose one of the 4 with --board"),
        (["bank", "--out", "."], "it is a folder"),
        (["boards", CLUB, "--board", 10**30], "--board"),
        (["boards", CLUB, "--board", 9], "has no board 9"),
        (["boards", CLUB, "--out", CLUB], "--out would overwrite"),
        (["solve"], "give a file of boards or --seeds, one of the two"),
        (["solve", CLUB, "--seeds", "0:1"], "give a file of boards or --seeds, one of the two"),
        (["solve", "--seeds", "1:1"], "--seeds is FIRST:END with FIRST below END"),
        (["solve", "--seeds", "0:99999999"], "--seeds takes at most 1,000,000 deals"),
        (["solve", "--seeds", "0:1", "--out", "a.txt"], "--out ends with .jsonl, .csv or .pbn"),
        (["annotate", CLUB], "has 4 boards; choose one with --board, from 1 to 4"),
        (["duel", "--agents", "random"], "a duel has two agents; got 1"),
        (["duel", "--agents", "random,heuristic", "--resume"], "--resume needs the --store"),
        (["duel", "--agents", "random,pimc:worlds=0", "--boards", 1], "pimc takes 1 to 200 worlds"),
    ],
)
def test_what_is_refused(tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    ended = CliRunner().invoke(app, ["bridge", *map(str, words)], env={"COLUMNS": "300"})
    assert ended.exit_code == 2
    assert message in ended.stderr
    assert not list(tmp_path.iterdir()), "nothing is written"


@pytest.mark.parametrize("suffix", [".jsonl", ".csv", ".pbn"])
def test_tables_are_written_in_three_forms(tmp_path, suffix):
    out = tmp_path / f"a{suffix}"
    run("solve", "--seeds", "7:9", "--out", out, "-p", 1)
    assert sorted(path.name for path in tmp_path.iterdir()) == [out.name], "the part file is gone"
    text = out.read_text()
    if suffix == ".jsonl":
        first = json.loads(text.splitlines()[0])
        assert first["tricks"]["N"] == {"C": 5, "D": 7, "H": 8, "S": 5, "NT": 5}
        assert first["par_NS"] == 110
    elif suffix == ".csv":
        assert text.splitlines()[0].startswith("board,deal,N_NT,N_S,N_H,N_D,N_C,E_NT")
        assert text.splitlines()[1].startswith("1,N:J65.Q9853.KT62.8 ")
        assert ",5,5,8,7,5," in text.splitlines()[1]
    else:
        assert "N NT  5\nN  S  5\nN  H  8\n" in text
        for seed, board in zip((7, 8), read_boards(out), strict=True):
            assert (dealt_hands(board.state) == hands_of_seed(seed)).all()


def test_one_deal_is_shown_as_a_table():
    shown = run("solve", "--seeds", "7:8").stdout
    assert "North       5   5   8   7   5" in shown
    assert "par: 1H by N, 8 tricks, +110" in shown


def test_deals_of_a_file_are_solved(free):
    shown = run("solve", CLUB).stdout
    assert len(re.findall(r"^[5678] +7 ", shown, re.MULTILINE)) == 4


def test_a_stopped_command_goes_on(tmp_path, monkeypatch):
    out = tmp_path / "a.jsonl"
    solved = []

    def few(hands):
        if len(solved) == 2:
            raise KeyboardInterrupt
        solved.append(len(hands))
        return np.full((len(hands), 5, 4), 6, np.int8)

    monkeypatch.setattr(solving, "tables", few)
    ended = run("solve", "--seeds", "0:20", "--out", out, "-p", 1, code=130)
    assert "repeat the command, and it resumes" in " ".join(ended.stderr.split())
    assert not out.exists()
    solved.clear()
    run("solve", "--seeds", "0:20", "--out", out, "-p", 1)
    assert solved == [4]
    assert len(out.read_text().splitlines()) == 20


def test_a_bank_has_the_deals_of_its_seeds_and_is_the_same_again(tmp_path, free):
    one, two = tmp_path / "one.npy", tmp_path / "two.npy"
    run("bank", "--deals", 9, "--out", one, "-p", 1)
    run("bank", "--deals", 9, "--out", two, "-p", 1)
    assert one.read_bytes() == two.read_bytes()
    owners, tricks = unpack(read_bank(one))
    for k in range(9):
        hands = [sum(1 << int(card) for card in np.flatnonzero(owners[k] == p)) for p in range(4)]
        assert hands == hands_of_seed(BANK_SEED + k).tolist()
    assert (tricks == 7).all()


def test_the_bank_of_the_package_has_the_deals_of_its_seeds_and_their_results():
    owners, tricks = unpack(read_bank(FILE))
    assert len(owners) == 5000
    for k in (0, 1, 2499, 4999):
        hands = [sum(1 << int(card) for card in np.flatnonzero(owners[k] == p)) for p in range(4)]
        assert hands == hands_of_seed(BANK_SEED + k).tolist()
    assert (tables(hands_of_seed(BANK_SEED + 4321)[None])[0] == tricks[4321]).all()


def test_a_replay_is_annotated(tmp_path):
    state = GAME.new_state(seed=11)
    while not state.is_terminal:
        state.apply(state.policy_action("heuristic", 0))
    Replay.of(state).save(tmp_path / "game.json")
    shown = run(
        "annotate", tmp_path / "game.json", "--json", tmp_path / "a.json", "--html", tmp_path / "a.html"
    ).stdout  # fmt: skip
    assert "declarer makes" in shown
    assert "tricks lost by cards" in shown
    assert len(json.loads((tmp_path / "a.json").read_text())["cards"]) == 52
    assert (tmp_path / "a.html").read_text().startswith("<!doctype html>")


def test_a_duel_is_kept_and_resumed(tmp_path):
    words = ["duel", "--agents", "heuristic,random", "--boards", 3, "--seed", 1, "--store", tmp_path / "a.db"]
    first = run(*words, "--out", tmp_path / "a.pbn").stdout
    assert re.search(r"[+-]\d+\.\d\d IMPs a board, 95% interval [+-]", first)
    assert len(list(read_boards(tmp_path / "a.pbn"))) == 6
    assert run(*words, "--resume").stdout == first.partition("boards: ")[0]


@pytest.mark.parametrize("command", ["boards", "solve", "bank", "annotate", "duel"])
def test_help_has_examples(command):
    shown = run(command, "--help").stdout
    assert "Examples:" in shown
    assert f"cardenvs bridge {command}" in " ".join(shown.split())


def test_a_file_with_a_bad_board(tmp_path):
    bad, out = tmp_path / "bad.pbn", tmp_path / "out.lin"
    bad.write_text(CLUB.read_text().replace("T86 J976", "T8 J976", 1))
    ended = run("boards", bad, "--out", out, code=1)
    assert "4Sx by N" in ended.stdout
    errors = " ".join(ended.stderr.split())
    assert "bad.pbn: board 1, line 16, Deal: N has 12 cards; everybody has 13" in errors
    assert "4 boards: 0 read with notes, 1 not read" in errors
    assert "LIN has no place for:" in errors
    assert len(list(read_boards(out))) == 3
    assert "1NT by N" in run("boards", bad, "--board", 4).stdout
    ended = CliRunner().invoke(app, ["bridge", "boards", str(bad), "--board", "1"])
    assert (ended.exit_code, "board 1, line 16" in " ".join(ended.stderr.split())) == (2, True)
    ended = CliRunner().invoke(app, ["bridge", "boards", str(bad), "--strict"])
    assert (ended.exit_code, "board 1, line 16" in " ".join(ended.stderr.split())) == (2, True)
