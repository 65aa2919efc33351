"""Texas hold'em in PettingZoo: `texas_holdem_v0.env(**options)` and `texas_holdem_v0.raw_env(**options)`."""

from cardenvs.envs.aec import environment_functions

__all__ = ["env", "raw_env"]

env, raw_env = environment_functions("texas_holdem_v0", __name__)
