import copy
import itertools
import json
import random
from collections import Counter
from concurrent.futures import Future

import pytest
from gymnasium.error import ResetNeeded
from scripted import choices, fallible, good, play

from cardenvs.agents.seating import Seat
from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import AgentError, AgentFailureError, DeckError, OptionError
from cardenvs.envs.single import SeatEnv
from cardenvs.llm import LLMAgent, LLMConfig, PromptSettings, TextSeatEnv
from cardenvs.llm.answers import LONGEST_REPLY
from cardenvs.llm.client import Call
from cardenvs.llm.text_player import TextPlayer

LEDUC = "leduc_poker_v0"
PLIES = 60  # of the long games


class Recorder:
    """A client for LLMAgent that answers as a scripted model and keeps what it was asked."""

    def __init__(self, model):
        self.model, self.asked = model, []

    def ask(self, messages, budget_s):
        self.asked.append([dict(message) for message in messages])
        reply = self.model(messages)
        future = Future()
        future.set_result([Call("ok" if reply else "empty", reply, "" if reply else "the reply is empty")])
        return future


def play_as_in_matches(game, model, seed, **settings):
    """Play the episode of a SeatEnv with an LLMAgent, which a match would seat; return what the model was asked."""
    env = SeatEnv(game, max_plies=PLIES, **settings)
    _, info = env.reset(seed=seed)
    recorder = Recorder(model)
    agent = LLMAgent(
        game, env.options, LLMConfig.of({"name": "m", "policy": "scripted", "script": ["x"]}, {}), recorder
    )
    seat, over, rewards = Seat(agent, info["player"], 5), False, 0.0
    seat.begin(env.game_state)
    while not over:
        try:
            action = seat.decide(env.game_state).action
        except AgentFailureError:
            _, reward, terminated, truncated, info = env.forfeit()
        else:
            _, reward, terminated, truncated, info = env.step(action)
        rewards += reward
        over = terminated or truncated
    return recorder.asked, rewards, agent.outcomes


@pytest.mark.parametrize("model", [good, fallible])
def test_a_model_is_asked_what_it_would_be_asked_in_a_match(every_game, model):
    seat = min(1, every_game.make_options().num_players - 1)
    env = TextSeatEnv(every_game, seat=seat, opponents="random", max_plies=PLIES)
    for seed in (3, 4):
        asked, rewards, infos = play(env, model, seed=seed)
        asked_in_match, total, outcomes = play_as_in_matches(every_game, model, seed, seat=seat, opponents="random")
        assert asked == asked_in_match
        assert sum(rewards) == total
        without_forfeits = {kind: n for kind, n in infos[-1]["outcomes"].items() if kind != "forfeit"}
        assert without_forfeits == outcomes


def test_rewards_reach_the_seat(every_game):
    env = TextSeatEnv(every_game, seat="rotate", opponents="random")
    rounds = 1 if every_game.max_length(env.options) > 300 else 4
    for seed, player in itertools.product(range(rounds), range(env.options.num_players)):
        asked, rewards, infos = play(env, fallible, seed=seed if player == 0 else None)
        if every_game.name == "liars_dice_v0":  # a seat that could only call was not asked; then the next one is
            player = infos[0]["player"]
        assert {info["player"] for info in infos} == {player}
        assert f"You are player_{player}." in asked[0][1]["content"]
        assert sum(rewards) == pytest.approx(infos[-1]["returns"][player])
        assert all("returns" not in info for info in infos[:-1])
        if every_game.name == "rummikub_v0" or env.game.max_length(env.options) > 300:
            break


def test_nobody_is_asked_when_there_is_one_choice(every_game):
    env = TextSeatEnv(every_game, opponents="random", max_plies=PLIES)
    unasked = Counter()
    for seed in range(4):
        asked, _, infos = play(env, good, seed=seed)
        assert all(len(choices(messages)) > 1 for messages in asked)
        unasked.update(infos[-1]["outcomes"])
    if every_game.name in ("rummikub_v0", "wingspan_v0"):
        assert unasked["single"] > 0


def test_the_same_seed_plays_the_same_episode():
    for options in ({"seat": "random"}, {"seat": "rotate", "opponents": "search:simulations=5"}):
        one, other = TextSeatEnv(LEDUC, **options), TextSeatEnv(LEDUC, **options)
        play(other, good, seed=99)
        first = [play(one, fallible, seed=7), *(play(one, fallible) for _ in range(5))]
        assert first == [play(other, fallible, seed=7), *(play(other, fallible) for _ in range(5))]
        assert len({str(episode) for episode in first}) > 3


def test_a_copy_plays_on_by_itself():
    env = TextSeatEnv("gin_rummy_v0")
    messages, _ = env.reset(seed=2)
    twin = copy.copy(env)
    for _ in range(5):
        step = env.step(good(messages))
        assert step == twin.step(good(messages))
        messages = step[0]
    env.step(good(messages))
    assert twin.messages == messages


# -- unusable replies -------------------------------------------------------------------------------------------


def test_a_model_tries_again_and_is_shown_its_last_reply_only():
    env = TextSeatEnv(LEDUC, opponents="random", failure_reward=-0.25)
    prompt, info = env.reset(seed=1)
    assert (info["attempt"], info["outcome"], info["skipped_returns"]) == (1, "", [])
    before = env.game_state.to_bytes()
    again, reward, terminated, truncated, info = env.step("I raise!")
    assert (reward, terminated, truncated) == (-0.25, False, False)
    assert (info["attempt"], info["outcome"], info["outcomes"]) == (2, "unparsable", {"unparsable": 1})
    assert again[:2] == prompt
    assert again[2] == {"role": "assistant", "content": "I raise!"}
    assert info["reason"] in again[3]["content"]
    again, reward, _, _, info = env.step('<answer>{"id":"c7"}</answer>')
    assert (reward, info["attempt"], info["outcome"]) == (-0.25, 3, "illegal")
    assert [message["role"] for message in again] == ["system", "user", "assistant", "user"]
    assert "I raise" not in str(again)
    assert env.game_state.to_bytes() == before
    _, _, _, _, info = env.step(good(prompt))
    assert info["outcome"] == "ok"
    assert info["outcomes"] == {"unparsable": 1, "illegal": 1, "ok": 1}


def test_the_last_unusable_reply_forfeits():
    env = TextSeatEnv(LEDUC, opponents="random", retries=1, failure_reward=-2)
    env.reset(seed=1)
    env.step("")
    messages, reward, terminated, truncated, info = env.step("?")
    assert (messages, terminated, truncated, info["attempt"]) == ([], True, False, 0)
    assert info["outcomes"] == {"empty": 1, "unparsable": 1, "forfeit": 1}
    assert info["returns"][0] < 0
    assert reward == info["returns"][0] - 2


def test_or_the_safe_action_is_played():
    env = TextSeatEnv(LEDUC, opponents="random", retries=0, on_failure="forced_action")
    env.reset(seed=1)
    safe = env.game_state.forced_action()
    player = env.game_state.current_player
    seen = len(env.game_state.actions)
    _, _, _, _, info = env.step("?")
    assert env.game_state.actions[seen] == safe
    assert env.game_state.current_player == player or env.game_state.is_terminal
    assert info["outcomes"]["forced"] == 1


def test_whoever_stops_in_the_middle_loses_what_a_forfeit_costs():
    env = TextSeatEnv(LEDUC, opponents="random")
    env.reset(seed=1)
    messages, reward, terminated, _, info = env.forfeit()
    assert (messages, terminated, info["outcomes"]) == ([], True, {"forfeit": 1})
    assert reward == info["returns"][0] < 0


def test_replies_are_bounded():
    env = TextSeatEnv(LEDUC)
    messages, _ = env.reset(seed=1)
    answer = good(messages)
    again, _, _, _, info = env.step("x" * LONGEST_REPLY + answer)
    assert info["outcome"] == "truncated"
    assert len(again[2]["content"]) < 5000
    again, _, _, _, info = env.step(answer, finish_reason="length")
    assert info["outcome"] == "truncated"
    _, _, _, _, info = env.step("x" * (LONGEST_REPLY - len(answer)) + answer, finish_reason="stop")
    assert info["outcome"] == "ok"


def test_halves_of_characters_do_not_come_back():
    env = TextSeatEnv(LEDUC)
    env.reset(seed=1)
    messages, *_ = env.step("\ud800")
    json.dumps(messages, ensure_ascii=False).encode()


# -- hidden information -----------------------------------------------------------------------------------------

REPLIES = (
    "",
    "?",
    '<answer>{"id":"c998"}</answer>',
    '<answer>{"move":"fly"}</answer>',
    '<answer>{"action":"raise","amount":1}</answer>',
)


@pytest.mark.rotating
@pytest.mark.parametrize("answer", ["candidate", "label", "game"])
def test_what_a_player_cannot_see_is_in_no_message(every_game, answer):
    if answer == "game" and not every_game.view.answer_form():
        pytest.skip("the game has no form of its own for answers")
    rng, differing = random.Random(5), 0
    for seed in range(2 if every_game.max_length(every_game.make_options()) > 100 else 40):
        state = every_game.new_state(seed=seed)
        while not state.is_terminal and state.ply < PLIES:
            if rng.random() < 0.25:
                twin = state.determinize(state.current_player, rng.getrandbits(60))
                differing += twin.to_bytes() != state.to_bytes()
                assert _dialogue(twin, answer) == _dialogue(state, answer)
            state.apply(rng.choice(state.legal_actions()))
    assert differing > 3


def _dialogue(state, answer):
    """All that a model is sent at a decision, if none of its replies is usable."""
    player = TextPlayer(state.game, PromptSettings(answer=answer), retries=len(REPLIES) - 1, on_failure="forfeit")
    sent = [player.ask(state), player.messages]
    for reply in REPLIES if player.messages else ():
        action = player.answer(state, reply)
        sent += [action, player.messages, player.outcome, player.reason, dict(player.outcomes)]
    if player.outcome:
        assert action == FORFEIT + state.current_player
    return sent


def test_infos_hold_nothing_else():
    env = TextSeatEnv("texas_holdem_v0", opponents="random")
    _, _, infos = play(env, fallible, seed=3)
    common = {"player", "attempt", "outcome", "reason", "outcomes"}
    assert set(infos[0]) == common | {"skipped_returns"}
    assert all(set(info) == common for info in infos[1:-1])
    assert set(infos[-1]) == common | {"returns"}


# -- settings and errors ----------------------------------------------------------------------------------------


def test_prompts_follow_their_settings():
    env = TextSeatEnv(LEDUC, prompt=PromptSettings(answer="label", rules=False))
    messages, _ = env.reset(seed=1)
    assert "# Rules" not in messages[0]["content"]
    label = env.game_state.action_label(env.game_state.legal_actions()[0])
    assert env.step(f'<answer>{{"move":"{label}"}}</answer>')[4]["outcome"] == "ok"


def test_answers_in_the_games_form_have_the_defaults_of_matches():
    env = TextSeatEnv("texas_holdem_v0", prompt=PromptSettings(answer="game"))
    assert (env.retries, env.on_failure) == (1, "forced_action")
    env = TextSeatEnv("texas_holdem_v0")
    assert (env.retries, env.on_failure) == (2, "forfeit")


def test_deals_without_a_question_are_skipped_and_reported():
    def folds_half_of_its_hands(turn):
        return turn.legal_actions[turn.seed % 2]

    one_hand = {"format": "cash", "num_hands": 1, "num_players": 2}
    env = TextSeatEnv("texas_holdem_v0", seat=1, opponents=folds_half_of_its_hands, **one_hand)
    skipped = [env.reset(seed=seed)[1]["skipped_returns"] for seed in range(5)]
    assert any(skipped)


@pytest.mark.parametrize(
    ("settings", "error", "text"),
    [
        ({"retries": -1}, OptionError, "retries takes None or an integer of at least 0; got -1"),
        ({"retries": 1.5}, OptionError, "retries"),
        ({"on_failure": "fold"}, OptionError, "on_failure takes None, forfeit, forced_action; got 'fold'"),
        ({"failure_reward": float("nan")}, OptionError, "failure_reward takes a finite number; got nan"),
        ({"failure_reward": "-1"}, OptionError, "failure_reward"),
        ({"seat": 2}, OptionError, "seat takes a player from 0 to 1"),
        ({"colour": 1}, OptionError, "colour"),
        ({"opponents": "nobody"}, AgentError, "nobody"),
        ({"prompt": {"recap": 3}}, OptionError, "prompt takes None or PromptSettings; got {'recap': 3}"),
        ({"prompt": PromptSettings(answer="game")}, AgentError, "no form of its own"),
    ],
)
def test_settings_that_cannot_be_used(settings, error, text):
    with pytest.raises(error, match=text):
        TextSeatEnv(LEDUC, **settings)


def test_no_episode_is_running_before_a_reset_nor_after_the_end():
    env = TextSeatEnv(LEDUC)
    assert env.messages == []
    for method in (lambda: env.step("x"), env.forfeit):
        with pytest.raises(ResetNeeded, match="call reset"):
            method()
    play(env, good, seed=1)
    with pytest.raises(ResetNeeded):
        env.step("x")
    env.reset(seed=1)
    with pytest.raises(TypeError, match="a reply is a str; got 3"):
        env.step(3)
    assert env.step("x")[4]["attempt"] == 2
    with pytest.raises(DeckError):
        env.reset(options={"deck": "Zz"})
    with pytest.raises(ResetNeeded):
        env.step("x")


def test_an_error_of_an_opponent_ends_the_episode():
    def breaks(turn):
        raise ZeroDivisionError

    env = TextSeatEnv("gin_rummy_v0", opponents=breaks)
    with pytest.raises(ZeroDivisionError):
        play(env, good, seed=2)
    assert env.messages == []
    with pytest.raises(ResetNeeded):
        env.step("x")
