"""Baselines: a policy trained for every game, and a board on which it meets random, rule and search agents."""
