"""Training on cardenvs: masked PPO with self-play (`training.ppo`) and tabular CFR+ (`training.cfr`)."""
