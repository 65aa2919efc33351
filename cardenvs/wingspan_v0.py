"""Wingspan in PettingZoo: `wingspan_v0.env(**options)` and `wingspan_v0.raw_env(**options)`."""

from cardenvs.envs.aec import environment_functions

__all__ = ["env", "raw_env"]

env, raw_env = environment_functions("wingspan_v0", __name__)
