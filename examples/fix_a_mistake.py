"""A policy for gin rummy without its most expensive kind of mistake, against the policy as it was.

    python -m examples.fix_a_mistake
    python -m examples.fix_a_mistake --by heuristic --deals 8000 --seed 2

`cardenvs review` says that discards cost the trained policy most (docs/review.md). The patched policy looks ahead
before it discards, and leaves all else to the network. Both play the same deals, each from both seats.
"""

import argparse

from cardenvs.agents.base import Agent, Turn
from cardenvs.agents.specs import make_agent
from cardenvs.arena import Match, Summary, run_match

GAME, POLICY = "gin_rummy_v0", "zoo:gin_rummy_v0/ppo"


class Patched(Agent):
    """The policy, except that another agent chooses among discards."""

    name = "patched"

    def __init__(self, game, options, by):
        self.policy = make_agent(POLICY, game, options)
        self.other = make_agent(by, game, options)

    def reset(self, seed: int) -> None:
        """Begin a game."""
        self.policy.reset(seed)
        self.other.reset(seed)

    def act(self, turn: Turn) -> int:
        """Return the other agent's discard where the policy would discard, else the policy's action."""
        own = self.policy.act(turn)
        if not turn.label(own).startswith("discard"):
            return own
        found = self.other.act(turn)
        return found if turn.label(found).startswith("discard") else own


def compare(deals: int, seed: int, by: str) -> Summary:
    """Play the patched policy against the policy on duplicate deals."""

    def patched(game, options):
        return Patched(game, options, by)

    return run_match(Match.of(GAME, [patched, POLICY], deals=deals, seed=seed))


def main() -> None:
    """Print what the patch gains."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--deals", type=int, default=700)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--by", default="search:simulations=600", metavar="AGENT", help="who discards")
    given = parser.parse_args()
    gain = compare(given.deals, given.seed, given.by).advantage(0, 1)
    print(f"the patch gains {gain.mean:+.2f} points a hand, 95% interval {gain.low:+.2f} to {gain.high:+.2f}")


if __name__ == "__main__":
    main()
