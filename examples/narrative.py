"""Tell a game of Wingspan as a spectator sees it: what each turn was for, and what came of it.

    python -m examples.narrative

An observer is told of questions, actions, events and effects as they happen (cardenvs.agents.observers). This one joins
the effects of a turn in one paragraph, and counts the questions.
"""

import textwrap
from collections import Counter

import cardenvs
from cardenvs.agents.guarded.proxy import AgentProxy, play
from cardenvs.agents.observers import GameObserver

WIDTH = 100


class Story(GameObserver):
    """Prints a paragraph for each turn."""

    def __init__(self):
        self.asked = Counter()
        self._turn, self._told = None, []

    def on_prompt(self, player, prompt, labels):
        """A turn begins when another player is asked."""
        self.asked[player] += 1
        if player != self._turn:
            self._print()
            self._turn = player

    def on_event(self, event, text):
        """Keep the sentence for the end of the turn."""
        self._told.append(text)

    def on_effect(self, event, text):
        """Keep the sentence for the end of the turn."""
        self._told.append(text)

    def on_end(self, returns):
        """Tell the last turn, and what came of the game."""
        self._print()
        print("\nreturns:", ", ".join(f"player_{p} {value:+g}" for p, value in enumerate(returns)))
        print("questions:", ", ".join(f"player_{p} {number}" for p, number in sorted(self.asked.items())))

    def _print(self):
        if self._told:
            print(textwrap.fill(" ".join(dict.fromkeys(self._told)), WIDTH, subsequent_indent="    "))
        self._told.clear()


def tell(seed: int = 3) -> None:
    """Play one game between the rule agents, and tell it."""
    game = cardenvs.get_game("wingspan_v0")
    options = game.make_options(num_players=2)
    with AgentProxy.of("planner", game, options) as first, AgentProxy.of("greedy", game, options) as second:
        play(game.new_state(seed=seed, **options.as_dict()), [first, second], seeds=[1, 2], observers=[Story()])


if __name__ == "__main__":
    tell()
