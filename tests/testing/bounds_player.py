"""Plays games in a process of its own, started with NUMBA_BOUNDSCHECK=1: `python bounds_player.py GAME STEPS GAMES`.

Random play in a batch, with what every interface asks of kernels: lists, masks, observations of all players, policies,
twins. Prints how many games were finished. An index out of bounds raises in the kernel and ends the process.
"""

import sys

import numpy as np

import cardenvs

_LOOK_EVERY = 16  # steps, for what takes longer than a step


def look(vec, step):
    """Ask what else can be asked in the present positions."""
    for player in range(vec.num_players):
        vec.observe(player)
    state = vec.state(step % vec.num_envs)
    for player in range(vec.num_players):
        state.observation(player)
        state.determinize(player, step)
    state.explain_illegal(step % vec.num_actions)
    if step % (4 * _LOOK_EVERY) == 0:
        for policy in sorted(vec.game.policies):
            vec.policy_actions(policy, [step % vec.num_envs], 0, step)


def main(name, games, num_envs):
    """Play until so many games are over."""
    vec = cardenvs.make_vec(name, num_envs, seed=7, num_threads=1)
    batch, finished, step = vec.reset(), 0, 0
    while finished < games:
        if step % _LOOK_EVERY == 0:
            look(vec, step)
        batch = vec.step(vec.sample_actions())
        finished += int(np.count_nonzero(batch.terminated | batch.truncated))
        step += 1
    print(finished)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
