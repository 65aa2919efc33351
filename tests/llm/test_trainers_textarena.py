import copy
import itertools

import pytest
from scripted import fallible, good

textarena = pytest.importorskip("textarena")

import cardenvs  # noqa: E402
import cardenvs.llm.trainers.textarena  # noqa: E402
from cardenvs.core.errors import OptionError  # noqa: E402
from cardenvs.llm import TextSeatEnv  # noqa: E402
from cardenvs.llm.trainers import as_text  # noqa: E402

LEDUC = "cardenvs/leduc_poker_v0"


def as_messages(text):
    """An observation as the scripted model reads it."""
    return [{"role": "user", "content": text}]


def play(env, model, num_players, seed=None, most=200):
    """Play a game. Returns who was asked what, and what `close` returns."""
    env.reset(num_players=num_players, seed=seed)
    asked, done = [], False
    while not done and len(asked) < most:
        player, observation = env.get_observation()
        asked.append((player, observation))
        done, _ = env.step(model(as_messages(observation)))
    return asked, env.close()


@pytest.mark.parametrize("name", cardenvs.list_games())
def test_every_game_is_made_and_played(name):
    env = textarena.make(f"cardenvs/{name}")
    players = cardenvs.get_game(name).make_options().num_players
    asked, (rewards, game_info) = play(env, fallible, players, seed=3)
    has_forfeit = not all(env.game_state.active)
    assert has_forfeit or {player for player, _ in asked} == set(range(players))
    for player, observation in asked:
        assert f"You are player_{player}." in observation
    if rewards is not None:
        assert rewards == dict(enumerate(env.game_state.returns))
        for player, info in game_info.items():
            assert info["turn_count"] == sum(1 for asked_player, _ in asked if asked_player == player)


def test_models_are_asked_what_the_text_environment_asks():
    env = TextSeatEnv("leduc_poker_v0", opponents=lambda turn: turn.candidates[0].actions[0])
    messages, _ = env.reset(seed=5)
    expected, over = [], False
    while not over:
        expected.append(as_text(messages))
        messages, _, over, _, _ = env.step('<answer>{"id":"c0"}</answer>')
    asked, _ = play(textarena.make(LEDUC), lambda messages: '<answer>{"id":"c0"}</answer>', 2, seed=5)
    assert [observation for player, observation in asked if player == 0] == expected


def test_the_same_seed_plays_the_same_game_and_rewards_are_returns():
    env = textarena.make(LEDUC)
    games = [play(env, fallible, 2, seed=seed) for seed in range(20)]
    assert games == [play(env, fallible, 2, seed=seed) for seed in range(20)]
    assert any(abs(rewards[0]) > 1 for _, (rewards, _) in games)
    assert all(sum(rewards.values()) == 0 for _, (rewards, _) in games)
    play(env, good, 3)  # without a seed, and with another number of players
    assert env.game_state.num_players == 3


def test_who_runs_out_of_attempts_forfeits():
    env = textarena.make(LEDUC, retries=1)
    env.reset(num_players=2, seed=1)
    player, prompt = env.get_observation()
    done, info = env.step("?")
    assert (done, info["player"], info["outcome"]) == (False, player, "unparsable")
    again = env.get_observation()
    assert again[0] == player
    assert again[1].startswith(prompt)
    assert info["reason"] in again[1]
    assert env.step("")[0]
    assert env.get_observation()[1] == ""
    rewards, game_info = env.close()
    assert rewards[player] < 0 < rewards[1 - player]
    assert [game_info[number]["invalid_move"] for number in (player, 1 - player)] == [True, False]
    assert game_info[player]["reason"] == "forfeit: the reply is empty"
    assert game_info[1 - player]["reason"] == "the game is over"
    assert game_info[player]["outcomes"] == {"unparsable": 1, "empty": 1, "forfeit": 1}
    with pytest.raises(RuntimeError, match="call reset"):
        env.step("x")


def test_what_the_others_hold_is_in_no_observation():
    differing = 0
    for seed in range(30):
        env = textarena.make(f"{LEDUC}-raw")
        env.reset(num_players=2, seed=seed)
        player, observation = env.get_observation()
        assert observation[0][0] == textarena.GAME_ID
        twin = textarena.make(f"{LEDUC}-raw")
        twin.reset(num_players=2, seed=seed)
        twin.game_state = env.game_state.determinize(player, seed + 1)
        twin._play_on()
        differing += twin.game_state.to_bytes() != env.game_state.to_bytes()
        assert twin.get_observation() == (player, observation)
        for one in (env, twin):
            one.step("?")
        assert twin.get_observation() == env.get_observation()
    assert differing > 10


def test_a_copy_plays_on_by_itself():
    env = textarena.make(LEDUC)
    env.reset(num_players=2, seed=1)
    twin = copy.deepcopy(env)
    player, observation = env.get_observation()
    env.step(good(as_messages(observation)))
    assert twin.get_observation() == (player, observation)
    assert twin.step(good(as_messages(observation)))[1]["outcome"] == "ok"
    assert twin.get_observation() == env.get_observation()


def test_settings_that_cannot_be_used():
    with pytest.raises(OptionError, match="retries"):
        textarena.make(LEDUC, retries=-1)
    with pytest.raises(OptionError, match="num_players"):
        textarena.make("cardenvs/gin_rummy_v0").reset(num_players=3)
    with pytest.raises(OptionError, match="colour"):
        textarena.make(LEDUC, colour=1)


def test_games_differ_without_a_seed():
    env = textarena.make(LEDUC)
    assert len({play(env, good, 2)[0][0][1] for _ in itertools.repeat(None, 12)}) > 1
