"""Memory does not grow, however long one plays.

The long form (`-m slow`) plays 140 million steps in batches, shared out by speed.
"""

import gc
import random
import tracemalloc

import psutil
import pytest

import cardenvs

STEPS = {
    "kuhn_poker_v0": 50_000_000,
    "leduc_poker_v0": 40_000_000,
    "casino_v0": 20_000_000,
    "durak_v0": 20_000_000,
    "gin_rummy_v0": 20_000_000,
    "texas_holdem_v0": 20_000_000,
    "wingspan_v0": 8_000_000,
    "rummikub_v0": 2_000_000,
}
OTHER_STEPS = 1_000_000  # of a game that is not listed
OPTIONS = {"rummikub_v0": {"steps": "loose"}}
SHORT = 1000  # by which the short form is shorter
STATE_SHARE, AEC_SHARE = 2000, 1000  # by which States and AEC environments play less than batches
MOST_RESIDENT, MOST_TRACED = 48 << 20, 1 << 20  # bytes


def measured():
    gc.collect()
    return psutil.Process().memory_info().rss, tracemalloc.get_traced_memory()[0]


def soak(play, steps):
    """Play so many steps by calling `play(steps)`, and fail if memory grows after the first half."""
    play(steps // 4)  # compiles, untraced
    gc.freeze()  # what the tests before have left, which takes seconds to look through
    tracemalloc.start()
    try:
        play(steps // 4)
        resident, traced = measured()
        play(steps // 2)
        resident, traced = (now - before for now, before in zip(measured(), (resident, traced), strict=True))
    finally:
        tracemalloc.stop()
        gc.unfreeze()
    assert traced < MOST_TRACED, f"{traced:,} more bytes in Python's objects and arrays after {steps:,} steps"
    assert resident < MOST_RESIDENT, f"{resident:,} more bytes resident after {steps:,} steps"


def soak_batches(name, steps):
    envs = 1024 if steps >= 100_000 else 32
    vec = cardenvs.make_vec(name, envs, seed=1, num_threads=2, **OPTIONS.get(name, {}))
    vec.reset()

    def play(wanted):
        for _ in range(-(-wanted // envs)):
            vec.step(vec.sample_actions())

    soak(play, steps)
    vec.close()


def soak_states(name, steps):
    game = cardenvs.get_game(name)
    options = OPTIONS.get(name, {})
    generator = random.Random(1)

    def play(wanted):
        while wanted > 0:
            state = game.new_state(seed=generator.getrandbits(60), **options)
            while not state.is_terminal and wanted > 0:
                if wanted % 20 == 0:
                    state = game.from_bytes(state.clone().to_bytes())
                    state.determinize(state.current_player, 1).render(0)
                    state.recap(0)
                state.observation(state.current_player)
                state.apply(generator.choice(state.legal_actions()))
                wanted -= 1

    soak(play, steps)


def soak_aec(name, steps):
    env = cardenvs.make(name, **OPTIONS.get(name, {}))
    generator = random.Random(1)

    def play(wanted):
        while wanted > 0:
            env.reset(seed=generator.getrandbits(60))
            for _ in env.agent_iter():
                observation, _, terminated, truncated, _ = env.last()
                over = terminated or truncated
                env.step(None if over else generator.choice(observation["action_mask"].nonzero()[0]))
                wanted -= 1
                if wanted <= 0:
                    break

    soak(play, steps)
    env.close()


KINDS = {"batches": (soak_batches, 1), "states": (soak_states, STATE_SHARE), "aec": (soak_aec, AEC_SHARE)}


@pytest.mark.parametrize("kind", KINDS)
def test_memory_does_not_grow(every_game, kind):
    run, share = KINDS[kind]
    run(every_game.name, max(300, STEPS.get(every_game.name, OTHER_STEPS) // SHORT // share))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_memory_does_not_grow_in_a_long_run(every_game, kind):
    run, share = KINDS[kind]
    run(every_game.name, STEPS.get(every_game.name, OTHER_STEPS) // share)
