"""RLlib: PPO with self-play and masked actions on its new API stack, one module for all seats.

python examples/trainers/rllib_ppo.py leduc_poker_v0 --steps 40000
"""

import argparse

import ray
import torch
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module import MultiRLModuleSpec, RLModuleSpec
from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule
from ray.tune.registry import register_env

import cardenvs

MODULE = "shared"


def make_env(config):
    """Make the environment of one env runner. `config` has the name of the game and its options."""
    env = cardenvs.make(**config, observation_key="observations", observation_dtype="float32")
    return PettingZooEnv(env)


def make_config(game, seed=1, **options):
    """Return the settings of the algorithm."""
    register_env("cardenvs", make_env)
    layers = {"fcnet_hiddens": [64, 64], "head_fcnet_hiddens": []}
    module = RLModuleSpec(module_class=ActionMaskingTorchRLModule, model_config=layers)
    return (
        PPOConfig()
        .environment(
            "cardenvs",
            env_config={"name": game, **options},
            disable_env_checking=True,  # the check plays illegal actions
        )
        .env_runners(num_env_runners=0, num_envs_per_env_runner=8)
        .multi_agent(policies={MODULE}, policy_mapping_fn=lambda agent, episode, **_: MODULE)
        .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs={MODULE: module}))
        .training(
            train_batch_size_per_learner=2000,
            minibatch_size=256,
            num_epochs=4,
            lr=1e-3,
            gamma=1.0,
            entropy_coeff=0.05,
            vf_clip_param=100.0,
        )
        .debugging(seed=seed, log_level="ERROR")
    )


def choose(module, observation, mask):
    """Return an action of the module for one observation (D,) and mask (A,)."""
    seen = {"observations": torch.from_numpy(observation)[None].float(), "action_mask": torch.from_numpy(mask)[None]}
    logits = module.forward_inference({"obs": seen})["action_dist_inputs"]
    return int(torch.distributions.Categorical(logits=logits).sample())


def mean_return(module, game, games=1000, **options):
    """Return the mean return of the module, in each seat in turn, against random play."""
    env, total = cardenvs.SeatEnv(game, seat="rotate", opponents="random", **options), 0.0
    env.reset(seed=0)
    for _ in range(games):
        observation, _ = env.reset()
        over = False
        while not over:
            action = choose(module, observation, env.action_masks())
            observation, reward, terminated, truncated, _ = env.step(action)
            total += reward
            over = terminated or truncated
    return total / games


def main():
    """Train, printing progress, and play against random."""
    parser = argparse.ArgumentParser()
    parser.add_argument("game", nargs="?", default="leduc_poker_v0", choices=cardenvs.list_games())
    parser.add_argument("--steps", type=int, default=40_000, help="decisions of all players together")
    arguments = parser.parse_args()
    ray.init(include_dashboard=False, logging_level="ERROR", log_to_driver=False)
    algorithm = make_config(arguments.game).build_algo()
    steps = 0
    while steps < arguments.steps:
        result = algorithm.train()
        steps = result["env_runners"]["num_env_steps_sampled_lifetime"]
        entropy = result["learners"][MODULE]["entropy"]
        print(f"{steps:>8,.0f} steps   entropy {entropy:.3f}", flush=True)
    print(f"mean return against random: {mean_return(algorithm.get_module(MODULE), arguments.game):+.2f}")
    algorithm.stop()
    ray.shutdown()


if __name__ == "__main__":
    main()
