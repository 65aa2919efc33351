import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cardenvs
from cardenvs.agents import Turn
from cardenvs.llm.answers import ILLEGAL, OUTCOMES, UNPARSABLE, AnswerError, read_answer, retry_text
from cardenvs.llm.prompt import PromptSettings, write_prompt
from cardenvs.llm.stub import _HOSTILE

LEDUC = cardenvs.get_game("leduc_poker_v0")
HOLDEM = cardenvs.get_game("texas_holdem_v0")


def after_a_bet():
    """Three candidates: fold, call, raise."""
    state = LEDUC.new_state(seed=7)
    state.apply(state.action_from_label("bet"))
    return state


def asked(answer="candidate", state=None):
    state = state or after_a_bet()
    turn = Turn(state, 0)
    settings = PromptSettings(answer=answer, rules=False)
    return write_prompt(turn, settings), turn


def read(text, answer="candidate", state=None):
    prompt, turn = asked(answer, state)
    return read_answer(text, prompt, turn)


def refused(text, answer="candidate", state=None):
    with pytest.raises(AnswerError) as caught:
        read(text, answer, state)
    return caught.value.outcome, str(caught.value)


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ('<answer>{"id":"c0"}</answer>', 0),
        ('I think.\n\n<answer>\n{ "id" : "c2" }\n</answer>\n', 2),
        ('<answer>{"id":"c0"}</answer> no, wait <answer>{"id":"c1"}</answer>', 1),
        ('the form is <answer>{"id":"cX"}</answer>: <answer>{"id":"c2"}</answer>', 2),
        ('<answer>c0</answer> is not JSON; <answer>{"id":"c2"}</answer>', 2),
        ('<answer><answer>{"id":"c1"}</answer>', 1),
        ('```\n<answer>{"id":"c1"}</answer>\n```\n', 1),
        ('<think>c0? <answer>{"id":"c0"}</answer></think><answer>{"id":"c1"}</answer>', 1),
        ('it is bad, or is it?</THINKING> <answer>{"id":"c1"}</answer>', 1),
    ],
)
def test_the_last_answer_counts(text, action):
    state = after_a_bet()
    assert read(text) == (state.legal_actions()[action],)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "c1",
        "I choose c1.",
        '{"id":"c1"}',
        '<answer>c1</answer>',
        '<answer>"c1"</answer>',
        '<answer>{"id":1}</answer>',
        '<answer>{"id":"1"}</answer>',
        '<answer>{"id":"C1"}</answer>',
        '<answer>{"id":"c01"}</answer>',
        '<answer>{"id":"c1 "}</answer>',
        '<answer>{"id":"c1","why":"it is best"}</answer>',
        '<answer>{"id":"c0","id":"c1"}</answer>',
        '<answer>{"move":"call"}</answer>',
        "<answer>{'id':'c1'}</answer>",
        '<answer>{"id":"c1"}',
        '</answer>{"id":"c1"}<answer>',
        '<Answer>{"id":"c1"}</Answer>',
        '<answer>[{"id":"c1"}]</answer>',
        '<answer>' + '{"id":' * 900 + '</answer>',
        '<answer>{"id":"c\u0661"}</answer>',
        '<answer>{"id":"c1"}' + " " * 3000 + "</answer>",
        _HOSTILE,
    ],
)  # fmt: skip
def test_nothing_is_rescued(text):
    assert refused(text)[0] == UNPARSABLE


@pytest.mark.parametrize(
    ("after", "reason"),
    [
        ('. Final: <answer>{"id":"c1","reason":"better"}</answer>', r"of the form \{"),
        (". No: c1", 'text follows the last answer: ". No: c1"'),
        (' {"id":"c1"}', "text follows"),
        (' <answer>{"id":"C1"}</answer>', "of the form"),
        (' <answer>{"id":"c1"}', "not closed"),
        ("<answer>", "not closed"),
        ("</answer>", "text follows"),
        (' <Answer>{"id":"c1"}</Answer>', "is written <answer>, not <Answer>"),
        (' ```json\n{"id":"c1"}\n```', "text follows"),
        (" <answer>c1</answer>", "not a JSON object"),
        (' <answer>{"id":"c1"}' + " " * 3000 + "</answer>", "not a JSON object"),
        (" <think>or c1?", "the thoughts are not closed"),
        (" <think>or c1?</think>", "there is no <answer>"),
        (' <think>or c1? <answer>{"id":"c1"}</answer></think>', "there is no <answer>"),
        (' <answer>{"id":"cX"}</answer>', "of the form"),
    ],
)
def test_an_answer_that_may_be_withdrawn_is_not_played(after, reason):
    outcome, why = refused('Not <answer>{"id":"c0"}</answer>' + after)
    assert outcome == UNPARSABLE
    assert re.search(reason, why)


def test_an_id_that_is_not_listed_is_illegal_and_the_reason_names_those_that_are():
    assert refused('<answer>{"id":"c0"}</answer><answer>{"id":"c3"}</answer>') == (
        ILLEGAL, "c3 is not a candidate; the candidates are c0 to c2",
    )  # fmt: skip


def test_labels_may_be_the_answer():
    state = LEDUC.new_state(seed=7)
    bet = state.action_from_label("bet")
    assert read('<answer>{"move":" BET "}</answer>', "label", state) == (bet,)
    assert refused('<answer>{"move":"fold"}</answer>', "label", state) == (
        ILLEGAL, 'no action that you may do now reads "fold"',
    )  # fmt: skip
    assert refused('<answer>{"id":"c1"}</answer>', "label")[0] == UNPARSABLE


def facing_a_bet():
    return HOLDEM.new_state(seed=7, num_players=2)  # the small blind owes half of the big one


def test_in_the_games_own_form_amounts_are_totals_for_the_street():
    state = facing_a_bet()
    for text, wanted in [
        ('{"action":"fold"}', ("fold", None)),
        ('{"action":"call"}', ("call", None)),
        ('{"action":"call","amount":10}', ("call", None)),
        ('{"action":"raise","amount":70}', ("raise", 70)),
        ('{"action":"all_in"}', ("all_in", None)),
    ]:
        (action,) = read(f"<answer>{text}</answer>", "game", state)
        other = state.clone()
        other.act(*wanted)
        state_after = state.clone()
        state_after.apply(action)
        assert state_after.record_bytes() == other.record_bytes()


@pytest.mark.parametrize(
    ("text", "outcome", "reason"),
    [
        ('{"action":"dance"}', UNPARSABLE, '"action" is one of fold, check'),
        ('{"amount":70}', UNPARSABLE, "got None"),
        ('{"action":"raise","amount":70.5}', UNPARSABLE, "whole number"),
        ('{"action":"raise","amount":"70"}', UNPARSABLE, "whole number"),
        ('{"action":"raise","amount":true}', UNPARSABLE, "whole number"),
        ('{"action":"raise","amount":70,"why":"bluff"}', UNPARSABLE, "why"),
        ('{"action":["fold"]}', UNPARSABLE, "one of"),
        ('{"action":"check"}', ILLEGAL, "may not check now; may fold, call, raise, all_in"),
        ('{"action":"bet","amount":70}', ILLEGAL, "may not bet now"),
        ('{"action":"raise"}', ILLEGAL, "takes the total for the street"),
        ('{"action":"raise","amount":30}', ILLEGAL, "a raise goes to 40 at least"),
        ('{"action":"raise","amount":99999}', ILLEGAL, "the stack reaches to 2000"),
        ('{"action":"raise","amount":-5}', ILLEGAL, "takes a number of chips; got -5"),
        ('{"action":"raise","amount":1' + "0" * 300 + "}", ILLEGAL, "number of chips"),
    ],
)
def test_what_is_wrong_in_the_games_own_form_is_said_exactly(text, outcome, reason):
    found, why = refused(f"<answer>{text}</answer>", "game", facing_a_bet())
    assert found == outcome
    assert reason in why


def test_every_outcome_but_ok_has_its_own_message():
    texts = {retry_text(outcome, "reason", "form") for outcome in OUTCOMES if outcome != "ok"}
    assert len(texts) == len(OUTCOMES) - 1
    assert all(text.endswith("form") for text in texts)
    assert "c3 is not a candidate" in retry_text(ILLEGAL, "c3 is not a candidate", "form")


def test_a_long_reply_is_read_in_linear_time():  # in quadratic time this test would take minutes
    for piece in ("<answer>", "</answer>", "<answer></answer>", '<answer>{"id":"cX"}</answer>', '{"id":"c0"}'):
        assert refused(piece * 100_000)[0] == UNPARSABLE


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            ["<answer>", "</answer>", '{"id":"c0"}', '{"id":"c9"}', "{", "}", '"', "\\", "\x00", "c1", "\n"]
        )
        | st.text(max_size=5),
        max_size=12,
    ).map("".join)
)
def test_any_text_is_an_answer_or_is_refused(text):
    try:
        (action,) = read(text)
    except AnswerError as error:
        outcome, action = error.outcome, None
        assert outcome in (UNPARSABLE, ILLEGAL)
    if action is not None:
        assert action == after_a_bet().legal_actions()[0]
        assert '<answer>{"id":"c0"}</answer>' in text
