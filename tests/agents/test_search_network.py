"""Search whose playouts are a network's: equal to playing out world by world, and a valid part of specs."""

import itertools

import numpy as np
import pytest

from cardenvs.agents.base import Turn
from cardenvs.agents.playouts import NetworkPlayouts
from cardenvs.agents.search import SearchAgent
from cardenvs.agents.specs import agent_fingerprint, make_agent
from cardenvs.core.errors import AgentError
from cardenvs.core.events import NO_LOG
from cardenvs.core.registry import get_game

KUHN, LEDUC, GIN = get_game("kuhn_poker_v0"), get_game("leduc_poker_v0"), get_game("gin_rummy_v0")
HANABI, HEARTS = get_game("hanabi_v0"), get_game("hearts_v0")
PASS, BET = 0, 1


class Linear:
    """A network of one layer with fixed random weights, whose scores depend on all that it sees."""

    def __init__(self, sample=False):
        self.sample = sample

    def single_precision(self):
        return self

    def reads(self, game, options):
        return options

    def log_probs(self, observation, mask):
        weights = np.random.default_rng(1).normal(size=(observation.shape[1], mask.shape[1]))
        scores = np.where(mask != 0, observation.astype(np.float64) @ weights, -np.inf)
        scores -= scores.max(1, keepdims=True)
        return scores - np.log(np.exp(scores).sum(1, keepdims=True))

    def evaluate(self, observation, mask):
        values = np.random.default_rng(2).normal(size=observation.shape[1])
        return np.exp(self.log_probs(observation, mask)), (observation.astype(np.float64) * values).sum(1)

    def act(self, turn):
        return int(self.log_probs(turn.observation[None], turn.action_mask[None]).argmax())


def position(game, plies, seed=3):
    state = game.new_state(seed=seed)
    for ply in range(plies):
        state.apply(state.policy_action("random", ply))
    assert len(state.legal_actions()) > 1
    return state


def played_one_by_one(world, plays, seed, rounds, network, depth):
    """The same playouts, each alone and action by action."""
    game, player = world.game, world.current_player
    returns = np.zeros((rounds, len(plays)))
    for row in range(rounds):
        records = world.worlds_after(plays, seed, 1, first_round=row)
        for k in range(len(plays)):
            returns[row, k] = played_alone(game, world.options, records[k : k + 1], player, network, depth)
    return returns


def played_alone(game, options, record, player, network, depth):
    """Play a position on until `player` is next to act after `depth` plies, and return what it then expects to get."""
    legal = np.zeros(game.max_legal(options), np.int32)
    expected = 0.0
    for ply in itertools.count():
        if record["terminal"][0]:
            break
        masks, seen = game.decisions(options, record)
        if ply >= depth and record["current_player"][0] == player and masks.sum() > 1:
            expected = network.evaluate(seen, masks)[1][0]
            break
        n = game.engine.legal(record, 0, legal)
        assert sorted(legal[:n]) == np.flatnonzero(masks[0]).tolist()
        game.engine.apply(record, 0, int(network.log_probs(seen, masks).argmax()), NO_LOG, legal)
    return record["returns"][0, player] + expected


def test_playouts_are_computed_in_single_precision():
    class Exact(Linear):
        def single_precision(self):
            return Linear()

        def log_probs(self, observation, mask):
            raise AssertionError("playouts of twice the precision take twice as long")

    state = position(HANABI, 5)
    world = state.determinize(state.current_player, 1)
    plays = [(action,) for action in state.legal_actions()[:2]]
    returns = NetworkPlayouts(Exact()).returns(world, plays, 5, 3, 0, 60)
    assert returns.tolist() == NetworkPlayouts(Linear()).returns(world, plays, 5, 3, 0, 60).tolist()


@pytest.mark.parametrize(
    ("game", "plies", "depth"),
    [
        (LEDUC, 1, 100),
        (LEDUC, 0, 1),
        pytest.param(GIN, 4, 40, marks=pytest.mark.rotating),
        (GIN, 4, 3),
        (HANABI, 5, 60),
        (HANABI, 5, 7),
        (HEARTS, 8, 2),
    ],
)
def test_playouts_are_those_of_each_world_alone(game, plies, depth):
    state = position(game, plies)
    world = state.determinize(state.current_player, 1)
    plays = [(action,) for action in state.legal_actions()[:4]]
    network = Linear()
    returns = NetworkPlayouts(network).returns(world, plays, 5, 6, 0, depth)
    assert returns.tolist() == played_one_by_one(world, plays, 5, 6, network, depth).tolist()
    assert len(np.unique(returns)) > 1
    parts = [NetworkPlayouts(network).returns(world, plays, 5, 3, first, depth) for first in (0, 3)]
    assert np.concatenate(parts).tolist() == returns.tolist()


@pytest.mark.parametrize("game", [LEDUC, pytest.param(GIN, marks=pytest.mark.rotating), HANABI])
def test_worlds_are_those_of_simulate(game):
    state = position(game, 1)
    plays = [(action,) for action in state.legal_actions()]
    records = state.worlds_after(plays, 7, 5, first_round=2)
    returns = records["returns"][:, state.current_player].reshape(5, len(plays))
    assert returns.tolist() == state.simulate(plays, 7, 5, first_round=2, max_plies=0).tolist()
    assert state.worlds_after(plays, 7, 0).shape == (0,)
    rng, legal = np.zeros(4, np.uint64), np.zeros(game.max_legal(state.options), np.int32)
    if game.playout_policy == "heuristic" and game is not HANABI:  # it draws nothing at random
        for i in range(len(records)):
            game.engine.playout("heuristic")(records, i, rng, legal, 10_000, NO_LOG)
        expected = state.simulate(plays, 7, 5, first_round=2, policy="heuristic")
        assert records["returns"][:, state.current_player].reshape(5, len(plays)).tolist() == expected.tolist()


def test_a_network_that_samples_shares_its_luck_among_the_plays_of_a_world():
    class Coin(Linear):
        def log_probs(self, observation, mask):
            return np.where(mask != 0, np.log(0.5), -np.inf)

    state = KUHN.new_state(seed=1, deck="Q J K")
    playouts = NetworkPlayouts(Coin(sample=True))
    twice = playouts.returns(state, [(BET,), (BET,)], 3, 400, 0, None)
    assert (twice[:, 0] == twice[:, 1]).all()
    assert set(twice[:, 0]) == {1.0, -2.0, 2.0}  # the others fold, or call with the king or the jack
    assert np.mean(twice[:, 0] == 1.0) == pytest.approx(0.5, abs=0.1)


def test_its_own_action_stands_unless_another_is_clearly_better():
    state = position(LEDUC, 1)
    turn = Turn(state, 1)
    network = Linear()
    assert SearchAgent(LEDUC, simulations=2, network=network).act(turn) == network.act(turn)  # too few worlds to tell
    king = KUHN.new_state(seed=1, deck="J K Q")
    king.apply(BET)  # whatever the network thinks, the king calls
    for sign in (1, -1):
        network = Linear()
        network.log_probs = lambda seen, mask, sign=sign: np.where(mask != 0, sign * np.arange(2.0) - 1, -np.inf)
        assert SearchAgent(KUHN, simulations=100, network=network).act(Turn(king, 2)) == BET


# ---------------------------------------------------------------------------------------------------------------
# Specs


@pytest.fixture
def checkpoint(tmp_path):
    pytest.importorskip("torch")
    pytest.importorskip("safetensors")
    from agents.untrained import untrained

    from cardenvs.agents.checkpoint_file import write_weights

    path = tmp_path / "leduc.safetensors"
    write_weights(untrained(LEDUC), path)
    return path


@pytest.mark.parametrize("kind", ["search", "ismcts"])
def test_a_network_is_a_file_or_a_policy_of_the_zoo(checkpoint, kind):
    options = LEDUC.make_options()
    for network in (checkpoint, "zoo:leduc_poker_v0/magnet"):
        spec = f"{kind}:simulations=20,network={network}"
        turn = Turn(LEDUC.new_state(seed=5), 3)
        assert make_agent(spec, LEDUC, options).act(turn) in turn.legal_actions
        assert turn.notes["search"]["values"]
        assert len(agent_fingerprint(spec)) == 16
    assert agent_fingerprint(f"{kind}:simulations=20") == ""
    zoo = agent_fingerprint(f"{kind}:network=zoo:leduc_poker_v0/magnet")
    assert zoo == agent_fingerprint("zoo:leduc_poker_v0/magnet") != agent_fingerprint(f"{kind}:network={checkpoint}")


@pytest.mark.parametrize("kind", ["search", "ismcts"])
def test_what_is_no_network_is_refused(kind, tmp_path):
    options = LEDUC.make_options()
    with pytest.raises(AgentError, match=f"{kind}: there is no network"):
        make_agent(f"{kind}:network={tmp_path}/none.pt", LEDUC, options)
    with pytest.raises(AgentError, match="the zoo has no policy 'leduc_poker_v0/none'"):
        make_agent(f"{kind}:network=zoo:leduc_poker_v0/none", LEDUC, options)


def test_a_network_and_a_playout_policy_are_refused():
    with pytest.raises(AgentError, match="search takes a network or playout"):
        SearchAgent(LEDUC, playout="random", network=Linear())
