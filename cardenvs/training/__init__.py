"""Training: masked PPO with self-play (`cardenvs.training.ppo`) and tabular solvers (`cardenvs.training.cfr`)."""

import os

# Torch's threads wait for each other after every operation, by default in a busy loop. If other work needs a core, they
# compete with the thread they wait for, and training gets ten times slower. Set this before torch is loaded.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
