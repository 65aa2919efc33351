"""examples/fix_a_mistake.py: the patched agent differs from the agent only where it would knock."""

from cardenvs.agents import Turn
from cardenvs.core.registry import get_game
from examples.fix_a_mistake import Patched, compare


def test_the_patch_decides_only_where_the_agent_would_make_such_a_move():
    game = get_game("gin_rummy_v0")
    options = game.make_options()
    asked = changed = 0
    for seed in range(6):
        state = game.new_state(seed=seed)
        patched = Patched(game, options, "greedy", "knock", "search:simulations=20")
        patched.reset(seed)
        while not state.is_terminal:
            turn = Turn(state, seed, state.ply)
            own, found = patched.agent.act(turn), patched.act(turn)
            asked += turn.label(own).startswith("knock")
            if own != found:
                changed += 1
                assert turn.label(own).startswith("knock")
                assert found == patched.other.act(turn)
            state.apply(found)
    assert asked > changed > 0


def test_both_play_the_same_deals():
    summary = compare("greedy", "knock", "heuristic", deals=2, seed=1)
    assert summary.games == 4
    assert summary.advantage(0, 1).deals == 2
