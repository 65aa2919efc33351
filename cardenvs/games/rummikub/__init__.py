"""Rummikub (Sabra rules): engine, exact legality and exact solver. Rules: rules.md."""

from cardenvs.games.rummikub.solve import Solution, solve

__all__ = ["Solution", "solve"]
