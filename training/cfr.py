"""Solve a small game by CFR+; the algorithm is in cardenvs/training/cfr.py.

python training/cfr.py kuhn_poker_v0 --iterations 1000 --strategy
python training/cfr.py --help
"""

import sys

from cardenvs.training.cfr import main

if __name__ == "__main__":
    sys.exit(main())
