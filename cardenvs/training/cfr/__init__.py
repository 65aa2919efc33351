"""Tabular solvers: CFR and its variants, MCCFR, exact best responses. Sources are named where the methods are.

`tree.py` lists a game as arrays, with `worlds.py` and `numbering.py`; `passes.py` has the kernels that pass over them;
`solvers.py` and `sampling.py` are the methods, `run.py` is a run with files, `query.py` has the policies of agents.
"""

from cardenvs.training.cfr.passes import Method
from cardenvs.training.cfr.query import agent_policy
from cardenvs.training.cfr.run import Report, Run
from cardenvs.training.cfr.sampling import Sampler
from cardenvs.training.cfr.solvers import METHODS, Solver
from cardenvs.training.cfr.tree import Tree

__all__ = ["METHODS", "Method", "Report", "Run", "Sampler", "Solver", "Tree", "agent_policy"]
