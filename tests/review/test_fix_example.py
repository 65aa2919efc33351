"""examples/fix_a_mistake.py: the patched policy differs from the policy in its discards only."""

from cardenvs.agents import Turn
from cardenvs.core.registry import get_game
from examples.fix_a_mistake import Patched, compare


def test_the_patch_changes_discards_only():
    game = get_game("gin_rummy_v0")
    options = game.make_options()
    changed = 0
    for seed in range(3):
        state = game.new_state(seed=seed)
        agent = Patched(game, options, "search:simulations=20")
        agent.reset(seed)
        while not state.is_terminal:
            turn = Turn(state, seed, state.ply)
            own, found = agent.policy.act(turn), agent.act(turn)
            if own != found:
                changed += 1
                assert turn.label(own).startswith("discard")
                assert turn.label(found).startswith("discard")
            state.apply(found)
    assert changed


def test_both_play_the_same_deals():
    summary = compare(deals=2, seed=1, by="heuristic")
    assert summary.games == 4
    assert summary.advantage(0, 1).deals == 2
