"""Masked PPO with self-play on `VectorEnv`: one network plays every seat of a game and learns from all of them.

    from cardenvs.training.ppo import train

    train("gin_rummy_v0", seconds=90, out="runs/gin")

How play is cut into each player's own trajectories is in trajectories.py, how it is collected in collect.py, the update
in learn.py, the other method, deep Monte Carlo, in monte_carlo.py, evaluation in evaluate.py, checkpoints in run.py,
the loop in loop.py. Settings are in cardenvs/training/config.py, display and logs in cardenvs/training/progress.py, the
network in cardenvs/agents/network.py.

Sources: J. Schulman et al., "Proximal Policy Optimization Algorithms" (2017) for the clipped loss; J. Schulman et
al., "High-Dimensional Continuous Control Using Generalized Advantage Estimation" (2016); S. Huang et al., "The 37
Implementation Details of Proximal Policy Optimization" (2022) and CleanRL for details; S. Huang and S. Ontañón, "A
Closer Look at Invalid Action Masking in Policy Gradient Algorithms" (2020) for the mask.
"""

from cardenvs.training.ppo.loop import train
from cardenvs.training.ppo.run import Run

__all__ = ["Run", "train"]
