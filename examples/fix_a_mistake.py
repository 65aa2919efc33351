"""An agent for gin rummy without its most expensive kind of mistake, against the agent as it was.

    python -m examples.fix_a_mistake
    python -m examples.fix_a_mistake --by heuristic --deals 8000 --seed 2
    python -m examples.fix_a_mistake --agent zoo:gin_rummy_v0/ppo --kind discard

`cardenvs review` says that the rule agent `greedy` loses most by its knocks (docs/review.md). The patched agent looks
ahead where `greedy` would knock, and plays like `greedy` in all else. Both play the same deals, each from both seats.
"""

import argparse

from cardenvs.agents.base import Agent, Turn
from cardenvs.agents.specs import make_agent
from cardenvs.arena import Match, Summary, run_match

GAME = "gin_rummy_v0"


class Patched(Agent):
    """An agent, except that another one decides where it would make moves of a kind."""

    name = "patched"

    def __init__(self, game, options, agent, kind, by):
        self.agent, self.kind = make_agent(agent, game, options), kind
        self.other = make_agent(by, game, options)

    def reset(self, seed: int) -> None:
        """Begin a game."""
        self.agent.reset(seed)
        self.other.reset(seed)

    def act(self, turn: Turn) -> int:
        """Return the other agent's action where the agent's own is of the kind, else its own."""
        own = self.agent.act(turn)
        return self.other.act(turn) if turn.label(own).startswith(self.kind) else own


def compare(agent: str, kind: str, by: str, deals: int, seed: int) -> Summary:
    """Play the patched agent against the agent on duplicate deals."""

    def patched(game, options):
        return Patched(game, options, agent, kind, by)

    return run_match(Match.of(GAME, [patched, agent], deals=deals, seed=seed))


def main() -> None:
    """Print what the patch gains."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agent", default="greedy", help="whom to patch")
    parser.add_argument("--kind", default="knock", help="the word with which the labels of its mistakes begin")
    parser.add_argument("--by", default="search:simulations=600", metavar="AGENT", help="who decides there")
    parser.add_argument("--deals", type=int, default=700)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    gain = compare(given.agent, given.kind, given.by, given.deals, given.seed).advantage(0, 1)
    print(f"the patch gains {gain.mean:+.2f} points a hand, 95% interval {gain.low:+.2f} to {gain.high:+.2f}")


if __name__ == "__main__":
    main()
