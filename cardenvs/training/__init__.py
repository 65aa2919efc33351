"""Training: masked PPO with self-play (`cardenvs.training.ppo`) and tabular CFR+ (`cardenvs.training.cfr`)."""

import os

# Torch's threads wait for each other after every operation. By default they do so spinning; where anything else wants a
# core, they then spin against the very thread they wait for, and training is ten times slower. It has to be said before
# torch is loaded.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
