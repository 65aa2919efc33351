"""Masked PPO with self-play, as `cardenvs train`; the algorithm is in cardenvs/training/ppo.

python training/ppo.py gin_rummy_v0 --seconds 90 --out runs/gin
python training/ppo.py --resume runs/gin/latest.pt --seconds 180
python training/ppo.py --help
"""

import sys

from cardenvs.cli import app

if __name__ == "__main__":
    app(["train", *sys.argv[1:]], prog_name="cardenvs")
