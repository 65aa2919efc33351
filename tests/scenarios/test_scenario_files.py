"""Scenario files themselves: what is refused and how, what a failure says, and the commands."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cardenvs.cli import app
from cardenvs.core.errors import FileError, FormatError
from cardenvs.testing.scenarios import ScenarioError, read_scenarios

LEDUC = "game: leduc_poker\nscenarios:\n  - name: one\n    deck: K Q J\n    steps:\n"
GIN = """\
game: gin_rummy
scenarios:
  - name: one
    deck: [4h 5h 6h 9s 9d 9c Ks Kh Kd 2c, 7h 8h 3h 2s 3s 4s Qd Qh Jc Td, Ac, 7d 8d]
    steps:
"""


@pytest.fixture
def written(tmp_path):
    """A function that writes a scenario file and returns its path."""

    def write(text, name="one.yaml"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (LEDUC + "      - {do: check, expct: {player: 1}}", 6, "there is no such setting; did you mean 'expect'?"),
        (LEDUC + "      - do: check\n        expect:\n          playr: 1", 8, "did you mean 'player'?"),
        (LEDUC + "      - {do: check, forfeit: 0}", 6, "one of do, auto and forfeit; this has do and forfeit"),
        (LEDUC + "      - {}", 6, "a step needs do, auto, forfeit or expect"),
        (LEDUC + "      - do: check\n        do: bet", 7, "'do' appears twice"),
        (LEDUC + "      - {do: yes}", 6, "YAML reads this as True; put the text in quotes"),
        (LEDUC + "      - {do: check, expect: {returns: 3}}", 6, "Input should be a valid list (got 3)"),
        (LEDUC + "      - auto: {policy: randon}", 6, "no policy 'randon'; did you mean 'random'?"),
        (LEDUC + "      - auto: {until: over}", 6, "give either `policy` or `prefer`"),
        (LEDUC.replace("K Q J", "K Q Z") + "      - do: check", 3, "'Z' is not one of J, Q, K"),
        (LEDUC.replace("K Q J", "5") + "      - do: check", 4, "YAML reads this as the number 5"),
        (LEDUC.replace("K Q J", "[K, 5]") + "      - do: check", 4, "YAML reads this as the number 5"),
        (LEDUC.replace("leduc", "ledoc") + "      - do: check", 1, "did you mean 'leduc_poker_v0'?"),
        ("game: leduc_poker\noptions: {antee: 1}\nscenarios: [{name: x, steps: [{do: bet}]}]", 3, "mean 'ante'?"),
        (LEDUC + "      - do: check\n  - name: one\n    steps: [do: check]", 7, "another scenario has the name 'one'"),
        ("game: leduc_poker", 1, "scenarios: Field required"),
    ],
)  # fmt: skip
def test_a_mistake_is_named_with_its_line(written, text, line, message):
    with pytest.raises(FormatError) as error:
        read_scenarios(written(text))
    assert f"one.yaml, line {line}: " in str(error.value)
    assert message in str(error.value)


def test_files_that_are_no_scenario_files(written, tmp_path):
    for text, message in [("- a", "must be a mapping"), ("a: [", "cannot be read"), ("", "must be a mapping")]:
        with pytest.raises(FormatError, match=message):
            read_scenarios(written(text))
    with pytest.raises(FormatError, match="larger than 256 KiB"):
        read_scenarios(written("#" * (257 << 10)))
    with pytest.raises(FileError, match="no such file"):
        read_scenarios(tmp_path / "missing.yaml")
    (tmp_path / "empty").mkdir()
    with pytest.raises(FormatError, match="has no scenario files"):
        read_scenarios(tmp_path / "empty")


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ("{do: fold}", "do: expected fold; leduc_poker_v0: no legal action reads 'fold'; legal: check (1), bet (2)"),
        ("{do: 0}", "do: expected 0; leduc_poker_v0: player_0 may not fold: nothing is owed"),
        ("{do: 99}", "do: expected 99; leduc_poker_v0: there is no action 99"),
        ("{forfeit: 1}", "forfeit: expected player_1 forfeits; leduc_poker_v0: player_1 cannot forfeit now"),
        ("{expect: {player: 1}}", "player: expected 1; player_0 is to act"),
        ("{expect: {phase: second_round}}", "phase: expected second_round; it is first_round"),
        ("{expect: {over: true}}", "over: expected true; it is false"),
        ("{expect: {winner: 0}}", "winner: expected [0]; the game is not over"),
        ("{expect: {returns: [0]}}", "returns: expected [0]; it is [0, 0]"),
        ("{expect: {legal: [check, fold]}}", "legal: expected check, fold; not legal: fold; also legal: bet"),
        ("{expect: {legal_includes: f*}}", "legal_includes: expected f*; legal are check, bet"),
        ("{expect: {legal_excludes: B*}}", "legal_excludes: expected B*; legal are bet"),
        ("{expect: {num_legal: 3}}", "num_legal: expected 3; it is 2"),
        ("{expect: {illegal: {fold: whatever}}}", "illegal fold: expected whatever; the reason is: player_0 may not"),
        ("{expect: {illegal: {bet: whatever}}}", "illegal bet: expected whatever; it is legal"),
        ("{expect: {illegal: {jump: whatever}}}", "no action has the label 'jump' here; give its id"),
        ("{expect: {table: {hand/0: J}}}", "table hand/0: expected J; it is K"),
        ("{expect: {table: {hand/2: J}}}", "there is no player '2'; write hand/0 to hand/1"),
        ("{expect: {table: {hand: J}}}", "each player has one; write hand/0, or a list of 2"),
        ("{expect: {table: {hand: [K, J]}}}", "of player_1: it is Q"),
        ("{expect: {table: {deck/0: J}}}", "deck belongs to no player; write deck"),
        ("{expect: {table: {deck: 3}}}", "table deck: expected 3; it has 4: J J Q K"),
        ("{expect: {table: {deck: J J X}}}", "'X' is not one of J, Q, K"),
        ("{expect: {table: {dek: 3}}}", "there is no such pile or counter; did you mean 'deck'?"),
        ("{expect: {table: {chips_in/0: 2}}}", "table chips_in/0: expected 2; it is 1"),
        ("{expect: {table: {chips_in/0: one}}}", "a counter is a number"),
        ("{expect: {events: bets}}", "events: expected bets; the last events are: "),
        ("{expect: {no_events: antes 1}}", "no_events: expected antes 1; there is: player_1 antes 1."),
        ("{expect: {facts: {0: {own_rank: J}}}}", "facts 0 own_rank: expected J; it is K"),
        ("{expect: {facts: {0: {card: J}}}}", "there is no such fact; "),
        ("{expect: {facts: {7: {card: J}}}}", "there is no such player; there are 0 to 1"),
        ("{expect: {seen_by: {1: {table: {hand/0: K}}}}}", "seen_by 1 table hand/0: expected K; it is ?"),
        ("{expect: {seen_by: {2: {events: a}}}}", "there is no such player; there are 0 to 1, and `spectator`"),
        ("{expect: {seen_by: {spectator: {events: dealt K}}}}", "seen_by spectator events: expected dealt K"),
        ("{auto: {prefer: fold}}", "auto: expected play until over True; nothing that is preferred is legal"),
        ("{auto: {policy: random, until: {ply: 99}}}", "the game ended first (ply: expected 99; it is "),
        ("{auto: {prefer: check, at_most: 2}}", "not so after 2 actions (over: expected true; it is false)"),
    ],
)  # fmt: skip
def test_a_failure_says_what_was_expected_and_what_is(written, step, message):
    (scenario,) = read_scenarios(written(f"{LEDUC}      - expect: {{ply: 0}}\n      - {step}"))
    with pytest.raises(ScenarioError) as error:
        scenario.check()
    text = str(error.value)
    assert "one.yaml, line 7: step 2 of 'one' failed" in text
    assert message in text
    assert "hand K" in text


def test_what_holds_holds(written):
    expectations = """\
      - expect:
          player: 0
          legal_includes: [take ac, "TAKE  *"]
          table: {hand/0: "... 2c 4h", hand/1: 10, stock: "... 8d 7d", discard_pile: [Ac], hands_won: [0, 0]}
          seen_by:
            0: {table: {hand/1: "? ? ? ? ? ? ? ? ? ?", stock: 31}, events: dealt 2c, no_events: dealt Td}
            spectator: {table: {discard_pile: ac}}
      - {do: 54, expect: {ply: 1, rewards: [0, 0], active: [true, true]}}
      - auto: {policy: heuristic, seed: 3, until: {over: true}}
"""
    (scenario,) = read_scenarios(written(GIN + expectations))
    scenario.check()
    assert [step.line for step in scenario.play()] == [6, 13, 14]


def test_files_of_a_folder_in_order(written, tmp_path):
    (tmp_path / "inner").mkdir()
    for name in ("b.yaml", "inner/a.yaml", "a.yaml"):
        written(LEDUC + "      - do: check", name)
    assert [scenario.where for scenario in read_scenarios(tmp_path)] == [
        str(tmp_path / name) for name in ("a.yaml", "b.yaml", "inner/a.yaml")
    ]


def invoke(*words):
    return CliRunner().invoke(app, ["scenario", *map(str, words)], env={"COLUMNS": "120"})


def test_run_exits_with_1_if_an_expectation_fails(written):
    good = written(LEDUC + "      - {do: bet, expect: {player: 1}}", "good.yaml")
    bad = written(LEDUC + "      - {do: bet, expect: {player: 0}}", "bad.yaml")
    done = invoke("run", good)
    assert done.exit_code == 0, done.output
    assert "ok    step 1: player 1" in done.output
    assert "1 scenarios, 1 expectations: all hold" in done.output
    done = invoke("run", good, bad, "-q")
    assert done.exit_code == 1
    assert "bad.yaml:6: step 1: player: expected 0; player_1 is to act" in done.output
    assert "2 scenarios, 2 expectations: 1 failed, in 1 scenarios" in done.output
    assert invoke("run", good, "--name", "two").exit_code == 2


def test_inspect_shows_positions_and_legal_actions(written):
    path = written(LEDUC + "      - {do: [bet, call], expect: {phase: second_round}}")
    done = invoke("inspect", path)
    assert done.exit_code == 0, done.output
    for text in ("hand Q", "check (1)   bet (2)", "player_1: call", "second_round, player_0 to act"):
        assert text in done.output
    assert "out of range" in invoke("inspect", path, "--player", "2").output


def test_inspect_for_a_player_shows_nothing_hidden(written):
    """Two deals that player 0 cannot tell apart print the same."""
    outputs = set()
    for deck in ("K Q J Q", "K J J K"):
        path = written(LEDUC.replace("K Q J", deck) + "      - {do: [bet, call, check], expect: {table: {hand/1: Q}}}")
        done = invoke("inspect", path, "--player", "0")
        assert done.exit_code == 0, done.output
        assert "player_1 calls" in done.output
        outputs.add(done.output)
    assert len(outputs) == 1


def test_the_scenario_on_the_page_holds(written):
    page = Path(__file__).parents[2].joinpath("docs", "scenarios.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^```yaml\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    (scenario,) = read_scenarios(written(code))
    scenario.check()


def test_the_page_lists_every_setting():
    from cardenvs.testing.scenarios.schema import Auto, Expect, ScenarioFile, ScenarioSection, Step

    page = Path(__file__).parents[2].joinpath("docs", "scenarios.md").read_text(encoding="utf-8")
    listed = {name for row in re.findall(r"^\| (`.*?) \|", page, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)}
    for section in (ScenarioFile, ScenarioSection, Step, Auto, Expect):
        assert set(section.model_fields) <= listed
