"""Networks with random weights."""

import torch

from cardenvs.agents.network import Network


def untrained(game, options=None, hidden=(8,), reward_scale=0.5):
    """What `read_checkpoint` would return for a network with random weights and these hidden layers."""
    options = options or game.make_options()
    torch.manual_seed(0)
    network = Network.for_game(game, options, hidden, "relu")
    return {
        "game": game.name, "options": options.as_dict(), "layout": game.layout(options).hash, "shape": network.shape,
        "steps": 7, "reward_scale": reward_scale, "method": "ppo", "model": network.state_dict(),
    }  # fmt: skip
