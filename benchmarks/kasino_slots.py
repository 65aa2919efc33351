"""How often a card of Kasino has more captures than slots: python -m benchmarks.kasino_slots [DEALS]."""

import sys

import cardenvs
from cardenvs.games.kasino.state import COMPOSE, SLOTS, TAKE_0


def main(deals: int = 2000) -> None:
    """Print the share of decisions at which some capture is not listed, by policy."""
    game = cardenvs.get_game("kasino_v0")
    for policy in ("random", "heuristic"):
        decisions = crowded = 0
        for seed in range(deals):
            state = game.new_state(seed=seed)
            while not state.is_terminal:
                legal = state.legal_actions()
                decisions += 1
                crowded += any(action < TAKE_0 and action % SLOTS == COMPOSE for action in legal)
                state.apply(state.policy_action(policy, seed))
        print(f"{policy}: {crowded} of {decisions:,} decisions ({crowded / decisions:.2%})")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
