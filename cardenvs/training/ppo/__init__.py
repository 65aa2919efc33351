"""Masked PPO with self-play on `VectorEnv`: one network plays every seat of a game and learns from all of them.

    from cardenvs.training.ppo import train

    train("gin_rummy_v0", seconds=90, out="runs/gin")

Where to look: begin.py begins and resumes runs, loop.py is their loop, run.py a run with its parts and checkpoint.
collect.py plays, trajectories.py cuts play into the trajectories of each player, minibatch.py, learn.py and losses.py
are the update, monte_carlo.py is the other method, and evaluate.py and evaluator.py evaluate. Settings are in
cardenvs/training/config.py, the display in progress.py, files in folder.py, the network in cardenvs/agents/network.py.

Sources: J. Schulman et al., "Proximal Policy Optimization Algorithms" (2017) for the clipped loss; J. Schulman et
al., "High-Dimensional Continuous Control Using Generalized Advantage Estimation" (2016); S. Huang et al., "The 37
Implementation Details of Proximal Policy Optimization" (2022) and CleanRL for details; S. Huang and S. Ontañón, "A
Closer Look at Invalid Action Masking in Policy Gradient Algorithms" (2020) for the mask.
"""

from cardenvs.training.ppo.begin import resume, train
from cardenvs.training.ppo.run import Run

__all__ = ["Run", "resume", "train"]
