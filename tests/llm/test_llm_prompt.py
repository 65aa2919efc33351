import json
import random
import re

import pytest

import cardenvs
from cardenvs.agents import Turn
from cardenvs.core.errors import AgentError
from cardenvs.core.events import OMNISCIENT
from cardenvs.llm.prompt import PromptSettings, answer_text, system_text, without_strategy, write_prompt

LEDUC = cardenvs.get_game("leduc_poker_v0")
ADVICE = re.compile(
    r"\b(should|best|better|prefer|avoid|recommend|good (move|play|idea)|bad (move|idea)|try to|aim to|careful|wise"
    r"|strateg\w*|tactic\w*|bluff|win rate|optimal)\b",
    re.IGNORECASE,
)
SETTINGS = {
    "plain": PromptSettings(),
    "labels": PromptSettings(candidates=False, answer="label", rules=False, recap=None, thinking=False),
    "bare": PromptSettings(rules=False, recap=0, thinking=False),
}


def positions(game, plies=(0, 1, 3, 7, 15), **options):
    """States of random play in which somebody is to act."""
    for seed in range(3):
        state = game.new_state(seed=seed, **options)
        for ply in range(max(plies) + 1):
            if state.is_terminal:
                break
            if ply in plies:
                yield state
            state.apply(state.policy_action("random", seed + ply))


def prompt_of(state, settings=None, seed=0):
    return write_prompt(Turn(state, seed), settings or PromptSettings())


@pytest.mark.rotating
@pytest.mark.parametrize("name", SETTINGS)
def test_with_hidden_cards_dealt_anew_the_prompt_is_the_same_byte_for_byte(every_game, name):
    changed = 0
    for state in positions(every_game):
        prompt = prompt_of(state, SETTINGS[name])
        for seed in range(3):
            twin = state.determinize(state.current_player, seed)
            assert json.dumps(prompt_of(twin, SETTINGS[name]).messages) == json.dumps(prompt.messages)
            assert prompt_of(twin, SETTINGS[name]).candidates == prompt.candidates
            changed += twin.table(OMNISCIENT).normal() != state.table(OMNISCIENT).normal()
    assert changed > 5  # what is hidden was dealt anew indeed


def test_the_same_in_the_games_own_form():
    game = cardenvs.get_game("texas_holdem_v0")
    settings = PromptSettings(candidates=False, answer="game")
    for state in positions(game, num_players=4):
        twin = state.determinize(state.current_player, 5)
        assert prompt_of(twin, settings).messages == prompt_of(state, settings).messages


def test_the_prompt_differs_where_the_player_sees_something_else():
    one, other = (prompt_of(LEDUC.new_state(seed=1, deck=deck)).user for deck in ("K J", "Q J"))
    assert "K" in one
    assert "K" not in other


def test_what_only_the_player_sees_stands_under_private_alone():
    state = LEDUC.new_state(seed=1, deck="K Q")
    user = prompt_of(state, PromptSettings(recap=0)).user
    public, private = user.split("# Private")[0], user.split("# Private")[1].split("# Facts")[0]
    assert "K" in private
    assert "K" not in public
    assert "Q" not in user


def test_candidates_are_numbered_sorted_and_unique(every_game):
    for state in positions(every_game):
        prompt = prompt_of(state)
        assert list(prompt.candidates) == [f"c{k}" for k in range(len(prompt.candidates))]
        sequences = [one.actions for one in prompt.candidates.values()]
        assert sequences == sorted(set(sequences))
        listed = re.findall(r"^(c\d+): (.*)$", prompt.user.rpartition("# Candidates\n")[2], re.MULTILINE)
        assert listed == [(name, one.label) for name, one in prompt.candidates.items()]
        assert len({label for _, label in listed}) == len(listed)


def test_the_system_message_stays_the_same_through_a_game_and_for_every_player(every_game):
    systems = {prompt_of(state).system for state in positions(every_game)}
    assert len(systems) == 1
    options = every_game.make_options()
    assert systems == {system_text(every_game, options, PromptSettings())}


def test_no_part_of_a_prompt_gives_advice(every_game):
    for state in positions(every_game):
        for settings in SETTINGS.values():
            prompt = prompt_of(state, settings)
            system = system_text(every_game, state.options, PromptSettings(rules=False, answer=settings.answer,
                                                                           candidates=settings.candidates))  # fmt: skip
            assert not ADVICE.search(system), ADVICE.search(system)
            assert not ADVICE.search(prompt.user), ADVICE.search(prompt.user)


def test_rules_are_shown_without_their_strategy_section(every_game):
    system = prompt_of(every_game.new_state(seed=1)).system
    first = next(line for line in every_game.rules_text.splitlines() if re.match(r"1\.1 ", line))
    assert first in system
    assert not re.search(r"^#+ .*strateg", system, re.IGNORECASE | re.MULTILINE)
    assert first not in prompt_of(every_game.new_state(seed=1), PromptSettings(rules=False)).system


def test_a_strategy_section_goes_with_all_that_stands_below_it():
    rules = """# Game

## 1. Deal

Deal cards.

## 2. Strategy tips

Bluff.

### Openings

Bluff more.

```
# not a heading
```

## 3. Score

Count.

### Hints

Cheat.

### Ties

Split."""
    kept = without_strategy(rules)
    assert "Deal cards." in kept
    assert "Count." in kept
    assert "Split." in kept
    for gone in ("Bluff", "Openings", "not a heading", "Cheat", "Hints", "Strategy"):
        assert gone not in kept


def test_the_recap_is_as_long_as_asked_for():
    game = cardenvs.get_game("gin_rummy_v0")
    *_, state = positions(game)
    recap = state.recap(state.current_player)
    assert len(recap) > 20
    whole = prompt_of(state, PromptSettings(recap=None)).user
    lines, _ = Turn(state, 0).folded_recap()
    assert "\n".join(lines) in whole
    assert len(lines) < len(recap)
    some = prompt_of(state, PromptSettings(recap=5)).user
    assert "\n".join(Turn(state, 0).folded_recap(5)[0]) in some
    assert f"({len(recap) - 5} earlier events are left out)" in some
    assert "# What happened" not in prompt_of(state, PromptSettings(recap=0)).user


@pytest.mark.rotating
@pytest.mark.parametrize("name", [name for name in cardenvs.list_games() if cardenvs.get_game(name).view.remembered])
def test_facts_that_remember_for_the_player_can_be_turned_off(name):
    """The names a game gives are those of facts, and their contents are nowhere else in the prompt's facts."""
    game, found = cardenvs.get_game(name), set()
    for seed in range(6):
        state, rng = game.new_state(seed=seed), random.Random(seed)
        for ply in range(300):
            if state.is_terminal:
                break
            if ply % 7 == 0:
                facts = Turn(state, 0).facts
                found |= facts.keys() & game.view.remembered
                with_memory, without = (
                    prompt_of(state, PromptSettings(rules=False, memory=memory)).user.partition("# Facts")[2]
                    for memory in (True, False)
                )
                for fact in facts.keys() & game.view.remembered:
                    assert f'"{fact}"' in with_memory
                    assert f'"{fact}"' not in without
                for fact in facts.keys() - game.view.remembered:
                    assert f'"{fact}"' in without
            state.apply(rng.choice(state.legal_actions()))
    assert found == game.view.remembered


def test_conditions_change_the_prompt():
    state = LEDUC.new_state(seed=1)
    thinking, silent = (answer_text(LEDUC, PromptSettings(thinking=value)) for value in (True, False))
    assert "what you like before it" in thinking
    assert "Write nothing before it" in silent
    assert "# Candidates" in prompt_of(state).user
    assert "# Candidates" not in prompt_of(state, PromptSettings(candidates=False, answer="label")).user


def test_conditions_that_do_not_fit_are_refused():
    with pytest.raises(AgentError, match="not listed"):
        PromptSettings(candidates=False)
    with pytest.raises(AgentError, match="one of candidate, label, game"):
        PromptSettings(answer="smoke")
    with pytest.raises(AgentError, match="has no form of its own"):
        prompt_of(LEDUC.new_state(seed=1), PromptSettings(answer="game"))


def test_in_no_limit_with_every_amount_the_candidates_are_few():
    game = cardenvs.get_game("texas_holdem_v0")
    state = game.new_state(seed=1, num_players=3, betting="full")
    labels = [one.label for one in state.candidates()]
    assert len(state.legal_actions()) > 1000
    assert labels[:2] == ["fold", "call 20"]
    assert "raise to 40" in labels
    assert labels[-1] == "raise to 2000, all in"
    assert len(labels) < 12


def test_a_prompt_of_holdem_has_all_that_the_table_shows():
    state = cardenvs.get_game("texas_holdem_v0").new_state(
        format="cash", stacks=[2000, 300, 2000], blinds=(50, 100), button=0, betting="full",
        deck="As Ks  Qd Qc  7h 2c   2d 7d 9h Js 3d",
    )  # fmt: skip
    for act in (("raise_to", 250), ("all_in",), ("call",), ("call",)):
        state.act(*act)
    assert state.current_player == 2
    state.act("bet", 400)
    user = prompt_of(state, PromptSettings(answer="game")).user
    assert user.startswith("You are player_0.")
    for shown in (
        '"board": "2♦ 7♦ 9♥"', '"hand_number": 1', '"small_blind": 50, "big_blind": 100, "button": 0, "pot": 1300',
        '"stack": {"player_0": 1700, "player_1": 0, "player_2": 1300}',
        '"bet": {"player_0": 0, "player_1": 0, "player_2": 400}', '"seats_from_the_button": 0', '"to_call": 400',
        '{"chips": 900, "players": ["player_0", "player_1", "player_2"]}',
        '{"chips": 400, "players": ["player_0", "player_2"]}',
        "player_0 raises to 250.", "player_1 raises to 300", "player_2 bets 400.",
    ):  # fmt: skip
        assert shown in user, shown
    assert "Q♦" not in user
    assert "7♥" not in user


@pytest.mark.parametrize(
    "settings", [{"recap": 2.5}, {"recap": True}, {"recap": "x"}, {"recap": -1}, {"candidates": "no"}, {"rules": 1}]
)
def test_settings_of_another_type_are_refused(settings):
    (name,) = settings
    with pytest.raises(AgentError, match=f"prompt.{name} is "):
        PromptSettings(**settings)
