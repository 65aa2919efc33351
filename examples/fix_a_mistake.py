"""A policy for gin rummy with its most expensive mistake removed by a rule, against the policy as it was.

    python -m examples.fix_a_mistake
    python -m examples.fix_a_mistake --deals 10000 --seed 2

`cardenvs review` says that discards cost the trained policy most (docs/review.md). The patched policy leaves discards
to the rule agent, and all else to the network. Both play the same deals, each from both seats.
"""

import argparse

from cardenvs.agents.base import Agent, Turn
from cardenvs.agents.specs import make_agent
from cardenvs.arena import Match, Summary, run_match

GAME, POLICY = "gin_rummy_v0", "zoo:gin_rummy_v0/ppo"


class Patched(Agent):
    """The policy, except that the rule agent chooses among discards."""

    name = "patched"

    def __init__(self, game, options):
        self.policy, self.rule = make_agent(POLICY, game, options), make_agent("heuristic", game, options)

    def reset(self, seed: int) -> None:
        """Begin a game."""
        self.policy.reset(seed)
        self.rule.reset(seed)

    def act(self, turn: Turn) -> int:
        """Return the rule agent's discard where the policy would discard too, else the policy's action."""
        own, rule = self.policy.act(turn), self.rule.act(turn)
        both_discard = all(turn.label(action).startswith("discard") for action in (own, rule))
        return rule if both_discard else own


def compare(deals: int, seed: int) -> Summary:
    """Play the patched policy against the policy on duplicate deals."""
    return run_match(Match.of(GAME, [Patched, POLICY], deals=deals, seed=seed))


def main() -> None:
    """Print what the patch gains."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--deals", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    gain = compare(arguments.deals, arguments.seed).advantage(0, 1)
    print(f"the patch gains {gain.mean:+.2f} points a hand, 95% interval {gain.low:+.2f} to {gain.high:+.2f}")


if __name__ == "__main__":
    main()
