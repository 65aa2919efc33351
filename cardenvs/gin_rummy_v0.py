"""Gin rummy as a PettingZoo environment: `gin_rummy_v0.env(**options)` and `gin_rummy_v0.raw_env(**options)`."""

from cardenvs.envs.aec import environment_functions

__all__ = ["env", "raw_env"]

env, raw_env = environment_functions("gin_rummy_v0", __name__)
