"""AgileRL: PPO with masked actions against copies of itself, one seat learning at a time.

python examples/trainers/agilerl_ppo.py leduc_poker_v0 --steps 40000
"""

import argparse

import numpy as np
import torch
from agilerl.algorithms.ppo import PPO
from agilerl.rollouts.on_policy import collect_rollouts
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import cardenvs

NUM_ENVS = 8


def make_env(game, opponents, num_envs=NUM_ENVS, **options):
    """Make a batch of games. The learner takes each seat in turn; `opponents` play the others."""
    return SyncVectorEnv(
        [lambda: cardenvs.SeatEnv(game, seat="rotate", opponents=opponents, **options)] * num_envs,
        autoreset_mode=AutoresetMode.SAME_STEP,  # so that every mask in the infos is that of a turn
    )


def make_agent(env):
    """Return a PPO agent for these games."""
    return PPO(
        env.single_observation_space,
        env.single_action_space,
        net_config={"encoder_config": {"hidden_size": [64]}},
        num_envs=env.num_envs,
        learn_step=512,
        batch_size=128,
        lr=1e-3,
        gamma=1.0,
        ent_coef=0.02,
    )


def choose(agent, observation, mask):
    """Return an action of the agent for one observation (D,) and mask (A,)."""
    return int(agent.get_action(observation[None], action_mask=mask[None])[0][0])


def train(game, steps, renew=4, **options):
    """Train, printing progress, and return the agent.

    The opponents become copies of it every `renew` updates.
    """
    past = []

    def opponent(turn):
        return choose(past[-1], turn.observation, turn.action_mask) if past else turn.legal_actions[0]

    env = make_env(game, opponent, **options)
    agent = make_agent(env)
    past.append(agent.clone())
    obs, info = env.reset(seed=1)
    running = {
        "last_obs": obs,
        "last_done": np.zeros(NUM_ENVS),
        "last_scores": np.zeros(NUM_ENVS),
        "last_info": info,
    }
    played, updates = 0, 0
    while played < steps:
        scores, *latest = collect_rollouts(agent, env, **running)
        running = dict(zip(running, latest, strict=True))
        agent.learn()
        played, updates = played + 512, updates + 1
        if updates % renew == 0:
            past[:] = [agent.clone()]
        print(f"{played:>8,} steps   mean return against the copy {np.mean(scores):+.2f}", flush=True)
    return agent


def mean_return(agent, game, games=1000, **options):
    """Return the mean return of the agent, in each seat in turn, against random play."""
    env, total = cardenvs.SeatEnv(game, seat="rotate", opponents="random", **options), 0.0
    env.reset(seed=0)
    for _ in range(games):
        observation, _ = env.reset()
        over = False
        while not over:
            action = choose(agent, observation, env.action_masks())
            observation, reward, terminated, truncated, _ = env.step(action)
            total += reward
            over = terminated or truncated
    return total / games


def main():
    """Train, printing progress, and play against random."""
    parser = argparse.ArgumentParser()
    parser.add_argument("game", nargs="?", default="leduc_poker_v0", choices=cardenvs.list_games())
    parser.add_argument("--steps", type=int, default=40_000, help="decisions of the learner")
    arguments = parser.parse_args()
    torch.manual_seed(1)
    agent = train(arguments.game, arguments.steps)
    print(f"mean return against random: {mean_return(agent, arguments.game):+.2f}")


if __name__ == "__main__":
    main()
