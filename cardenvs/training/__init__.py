"""Training: masked PPO with self-play (`cardenvs.training.ppo`) and tabular solvers (`cardenvs.training.cfr`)."""

import os

# Torch's threads wait for each other after every operation, by default spinning. If other work needs a core, they spin
# against the thread they wait for, and training becomes ten times slower. This must be set before torch is loaded.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
