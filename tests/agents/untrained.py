"""Networks with random weights."""

import torch

from cardenvs.agents.ppo import Network


def untrained(game, options=None, width=8, **fields):
    """What `read_checkpoint` would return for a network with random weights and one hidden layer.

    `fields` replace its own.
    """
    options = options or game.make_options()
    torch.manual_seed(0)
    network = Network.for_game(game, options, (width,), "relu")
    return {
        "game": game.name, "options": {}, "layout": game.layout(options).hash, "shape": network.shape, "steps": 7,
        "reward_scale": 0.5, "method": "ppo", "model": network.state_dict(), **fields,
    }  # fmt: skip
