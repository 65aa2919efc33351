"""Opponents from outside: bots of OpenSpiel, models of RLCard, and plain players of hold'em."""

import random

import numpy as np
import pytest

from cardenvs.agents.base import Turn
from cardenvs.agents.specs import make_agent
from cardenvs.core.errors import AgentError
from cardenvs.core.registry import get_game
from cardenvs.games.gin_rummy.actions import KNOCK_0
from cardenvs.kits.cards import NUM_CARDS, cards_of, parse_cards
from cardenvs.tools.foreign.rlcard_models import MODELS
from cardenvs.tools.texas_holdem.plain_agents import equity_against_random
from cardenvs.training.cfr import Tree

HOLDEM, GIN, LEDUC, UNO, DOU_DIZHU = (
    get_game(f"{name}_v0") for name in ("texas_holdem", "gin_rummy", "leduc_poker", "uno", "dou_dizhu")
)
SINGLE = {"num_players": 2, "format": "cash"}


def agent(spec, game, **options):
    return make_agent(spec, game, game.make_options(**options))


def holdem(hands="As Ah  7d 2c", board="", **options):
    """A hand of two; player_0 has the button and acts first."""
    return HOLDEM.new_state(seed=1, deck=f"{hands} {board}", **SINGLE, **options)


def played_out(game, agents, seed, **options):
    """A game between agents; each choice is legal and repeats, and is the same for all that the player cannot tell."""
    state = game.new_state(seed=seed, **options)
    while not state.is_terminal:
        player = state.current_player
        turn = Turn(state, seed)
        action = agents[player].act(turn)
        assert action in state.legal_actions()
        if state.ply % 5 == 0:
            twin = state.determinize(player, turn.seed)
            assert agents[player].act(Turn(state, seed)) == action
            assert agents[player].act(Turn(twin, seed)) == action, "it knows more than its player"
        state.apply(action)
    return state


# ---------------------------------------------------------------------------------------------------------------
# Plain players of hold'em


@pytest.mark.parametrize("betting", ["pot_fractions", "full", "fcpa"])
def test_fixed_styles_do_one_thing(betting):
    state = holdem(betting=betting)  # blinds 10 and 20: the pot after a call is 40, so a raise by it goes to 60
    labels = {
        style: state.action_label(agent(f"always:{style}", HOLDEM, betting=betting, **SINGLE).act(Turn(state, 1)))
        for style in ("call", "pot", "least_raise")
    }
    assert labels["call"] == "call 10"
    assert labels["pot"].startswith("raise to 60")
    assert labels["least_raise"].startswith("raise to 60" if betting == "fcpa" else "raise to 40")


def test_fixed_styles_never_fold():
    state = holdem()
    state.act("all_in")
    assert {agent(f"always:{style}", HOLDEM, **SINGLE).act(Turn(state, 1)) for style in ("call", "pot")} == {1}


def test_the_equity_player_knows_the_odds():
    pair = np.array(parse_cards("As Ah"))
    assert equity_against_random(pair, np.zeros(0, np.int64), 1, 4000, 1) == pytest.approx(0.852, abs=0.02)
    assert equity_against_random(pair, np.zeros(0, np.int64), 8, 4000, 1) == pytest.approx(0.347, abs=0.03)
    player = agent("plain_equity", HOLDEM, **SINGLE)
    state = holdem("As Ah  7d 2c")
    assert state.action_label(player.act(Turn(state, 1))).startswith("raise to 60")
    state.act("all_in")
    assert state.action_label(player.act(Turn(state, 1))) == "fold"
    called = holdem("7d 2c  As Ah")
    called.act("all_in")
    assert "call" in called.action_label(player.act(Turn(called, 1)))


@pytest.mark.parametrize("spec", ["always:pot", "plain_equity:samples=20"])
def test_plain_players_play_whole_games_and_know_no_more_than_their_player(spec):
    options = {"num_players": 3, "format": "cash", "num_hands": 3}
    own = agent(spec, HOLDEM, **options)
    for seed in range(4):
        played_out(HOLDEM, [own, own, agent("random", HOLDEM, **options)], seed, **options)


# ---------------------------------------------------------------------------------------------------------------
# OpenSpiel


def test_the_gin_bot_sees_what_its_player_sees():
    pytest.importorskip("pyspiel")
    from cardenvs.tools.foreign.openspiel_bots import their_gin_state

    compared = 0
    for seed in range(6):
        state = GIN.new_state(seed=seed)
        while not state.is_terminal:
            s, player = state.record, state.current_player
            found = their_gin_state(Turn(state, seed)) if len(state.legal_actions()) > 1 else None
            if found is not None:
                theirs, me = found
                tensor = np.array(theirs.observation_tensor(me), np.int8)
                hands, rest = tensor[2:106].reshape(2, NUM_CARDS), tensor[106:]
                upcard, pile, stock = rest[12:64], rest[64:116], rest[116:168]
                assert np.flatnonzero(hands[me]).tolist() == cards_of(int(s.hands[player]))
                assert np.flatnonzero(upcard).tolist() == [int(s.discard_pile[s.num_discards - 1])] * bool(upcard.any())
                assert np.flatnonzero(upcard | pile).tolist() == cards_of(int(s.discards))
                assert stock.sum() == s.num_stock
                assert {a for a in state.legal_actions() if a < KNOCK_0} <= set(theirs.legal_actions())
                compared += 1
            state.apply(state.policy_action("heuristic" if state.ply % 3 else "random", seed))
    assert compared > 60


def test_the_gin_bot_plays_and_knows_no_more_than_its_player():
    pytest.importorskip("pyspiel")
    bot, other = agent("openspiel_bot:simple_gin_rummy", GIN), agent("heuristic", GIN)
    ended = [played_out(GIN, [bot, other][:: 1 if seed % 2 else -1], seed) for seed in range(6)]
    assert any(state.actions[-1] >= KNOCK_0 for state in ended)


@pytest.mark.parametrize("spec", ["openspiel_bot:uniform", "openspiel_bot:ismcts,simulations=10"])
def test_bots_of_openspiel_play_every_game(spec):
    pytest.importorskip("pyspiel")
    for game in (LEDUC, GIN):
        bot = agent(spec, game)
        state = game.new_state(seed=2)
        while not state.is_terminal and state.ply < 12:
            turn = Turn(state, 5)
            action = bot.act(turn)
            assert action in turn.legal_actions
            assert bot.act(Turn(state.determinize(state.current_player, turn.seed), 5)) == action
            state.apply(action)


# ---------------------------------------------------------------------------------------------------------------
# RLCard


def test_models_of_rlcard_do_what_they_do_there():
    pytest.importorskip("rlcard")
    raiser = agent("rlcard:leduc-holdem-rule-v1", LEDUC)
    assert LEDUC.new_state(seed=1).action_label(raiser.act(Turn(LEDUC.new_state(seed=1), 1))) == "bet"
    careful = agent("rlcard:leduc-holdem-rule-v2", LEDUC)
    paired = LEDUC.new_state(seed=0, deck="K Q K")
    for label in ("check", "check"):
        paired.apply(paired.action_from_label(label))
    assert paired.action_label(careful.act(Turn(paired, 1))) == "bet", "its card is the public one"
    options = {"betting": "limit", **SINGLE}
    limit = agent("rlcard:limit-holdem-rule-v1", HOLDEM, **options)
    labels = {}
    for hands in ("5s 5h  7d 2c", "7d 2c  5s 5h", "Ks Jd  2c 2d"):
        state = holdem(hands, betting="limit")
        labels[hands] = state.action_label(limit.act(Turn(state, 1))).split()[0]
    assert list(labels.values()) == ["raise", "fold", "raise"]


WITH = {  # options that a model needs
    "limit-holdem-rule-v1": {"betting": "limit", **SINGLE},
    "uno-rule-v1": {"rlcard": True, "num_players": 2},
    "doudizhu-rule-v1": {"bidding": "none"},
}


@pytest.mark.parametrize("name", MODELS)
def test_models_of_rlcard_play_whole_games_and_know_no_more_than_their_player(name):
    pytest.importorskip("rlcard")
    game, options = get_game(MODELS[name].game), WITH.get(name, {})
    model, other = agent(f"rlcard:{name}", game, **options), agent("random", game, **options)
    n = game.make_options(**options).num_players
    for seed in range(12 if game in (LEDUC, HOLDEM) else 4):
        is_alone = seed % 4 > 0
        played_out(game, [other if is_alone and p != seed % n else model for p in range(n)], seed, **options)


def test_the_trained_model_of_leduc_knows_all_states_and_draws():
    pytest.importorskip("rlcard")
    model, states = agent("rlcard:leduc-holdem-cfr", LEDUC), Tree(LEDUC).infosets
    assert len(states) == 288
    for state in states:
        assert {model.act(Turn(state, seed)) for seed in range(5)} <= set(state.legal_actions())
    king = LEDUC.new_state(seed=0, deck="K Q J")
    bets = [king.action_label(model.act(Turn(king, seed))) == "bet" for seed in range(500)]
    assert np.mean(bets) == pytest.approx(0.663, abs=0.07), "its weights are 0.330 call, 0.663 raise, 0.007 fold"
    jack = LEDUC.new_state(seed=0, deck="J Q K")
    assert "check" in {jack.action_label(model.act(Turn(jack, seed))) for seed in range(5)}, "there it would fold"


def leduc_in_rlcard(ranks):
    """RLCard's Leduc with given cards, and who has the small blind: our player_0."""
    rlcard = pytest.importorskip("rlcard")
    from rlcard.games.base import Card

    env = rlcard.make("leduc-holdem")
    env.reset()
    small = env.game.game_pointer
    env.game.players[small].hand, env.game.players[1 - small].hand = Card("S", ranks[0]), Card("S", ranks[1])
    env.game.dealer.deck = [Card("H", ranks[2])]
    return env, small


def test_the_trained_model_of_leduc_sees_what_it_sees_in_rlcard():
    met = set()
    for seed in range(60):
        chooser = random.Random(seed)
        ranks = chooser.sample("JJQQKK", 3)
        env, small = leduc_in_rlcard(ranks)
        state = LEDUC.new_state(seed=0, deck=" ".join(ranks), ante=2)
        while not state.is_terminal:
            player = (small + state.current_player) % 2
            if player != env.game.game_pointer:  # the big blind has raised last, and begins the second round
                break
            seen = MODELS["leduc-holdem-cfr"].state(Turn(state, seed))["obs"]
            assert (seen == env.get_state(player)["obs"]).all()
            met.add(seen.tobytes())
            label = state.action_label(chooser.choice(state.legal_actions()))
            theirs = "call" if state.ply == 0 and label == "check" else {"bet": "raise"}.get(label, label)
            state.apply(state.action_from_label(label))
            env.game.step(theirs)
    assert len(met) > 40


def test_a_novice_knocks_as_soon_as_it_can():
    pytest.importorskip("rlcard")
    novice, seen = agent("rlcard:gin-rummy-novice-rule", GIN), 0
    for seed in range(12):
        state = GIN.new_state(seed=seed)
        while not state.is_terminal:
            if any(action >= KNOCK_0 for action in state.legal_actions()):
                assert novice.act(Turn(state, 1)) >= KNOCK_0
                seen += 1
            state.apply(state.policy_action("heuristic", seed))
    assert seen


# ---------------------------------------------------------------------------------------------------------------
# What is refused


@pytest.mark.parametrize(
    ("spec", "game", "options", "message"),
    [
        ("always:raise", HOLDEM, {}, "always takes one of call, pot, least_raise"),
        ("always:call", LEDUC, {}, "always plays texas_holdem_v0; got leduc_poker_v0"),
        ("plain_equity:samples=0", HOLDEM, {}, "plain_equity takes 1 to 100,000 samples"),
        ("openspiel_bot:simple_gin", GIN, {}, "openspiel_bot has no 'simple_gin'; did you mean 'simple_gin_rummy'"),
        ("openspiel_bot:simple_gin_rummy", LEDUC, {}, "simple_gin_rummy plays gin_rummy_v0; got leduc_poker_v0"),
        ("openspiel_bot:simple_gin_rummy", GIN, {"layoff": "manual"}, "cannot play with layoff=manual"),
        ("openspiel_bot:uniform,simulations=3", LEDUC, {}, "openspiel_bot:uniform takes no parameters"),
        ("openspiel_bot:ismcts,simulations=0", LEDUC, {}, "takes 1 to 1,000,000 simulations; got 0"),
        ("rlcard:leduc", LEDUC, {}, "rlcard has no model 'leduc'"),
        ("rlcard:leduc-holdem-cfr", LEDUC, {"num_players": 3}, "it plays with two players, an ante of 1 or 2"),
        ("rlcard:leduc-holdem-cfr", LEDUC, {"ante": 3}, "an ante of 1 or 2"),
        ("rlcard:leduc-holdem-cfr", LEDUC, {"raise_size": (2, 5)}, "raise_size=2,4"),
        ("rlcard:leduc-holdem-cfr", LEDUC, {"max_raises": 3}, "max_raises=2"),
        ("rlcard:doudizhu-rule-v1", DOU_DIZHU, {}, "rlcard:doudizhu-rule-v1: it plays with bidding=none"),
        ("rlcard:doudizhu-rule-v1", DOU_DIZHU, {"bidding": "none", "rocket_kicker": True}, "plays that rocket_kicker"),
        ("rlcard:doudizhu-rule-v1", DOU_DIZHU, {"bidding": "none", "ambiguous_kickers": True}, "plays that ambiguous"),
        ("rlcard:uno-rule-v1", UNO, {}, "rlcard:uno-rule-v1: it plays with rlcard=true"),
        ("rlcard:limit-holdem-rule-v1", HOLDEM, {}, "it plays with betting=limit"),
        ("rlcard:gin-rummy-novice-rule", LEDUC, {}, "plays gin_rummy_v0; got leduc_poker_v0"),
    ],
)
def test_what_cannot_be_played_is_refused(spec, game, options, message):
    with pytest.raises(AgentError, match=message):
        agent(spec, game, **options)
