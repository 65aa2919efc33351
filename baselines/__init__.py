"""Baselines: a policy trained for every game, and a board on which it meets random, rule and search agents."""

import cardenvs.training  # noqa: F401  before torch: it tells torch's threads to sleep while they wait
