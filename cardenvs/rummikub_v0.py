"""Rummikub as a PettingZoo environment: `rummikub_v0.env(**options)` and `rummikub_v0.raw_env(**options)`."""

from cardenvs.envs.aec import environment_functions

__all__ = ["env", "raw_env"]

env, raw_env = environment_functions("rummikub_v0", __name__)
