"""Leduc poker as a PettingZoo environment: `leduc_poker_v0.env(**options)` and `leduc_poker_v0.raw_env(**options)`."""

from cardenvs.envs.aec import environment_functions

__all__ = ["env", "raw_env"]

env, raw_env = environment_functions("leduc_poker_v0", __name__)
