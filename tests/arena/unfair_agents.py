"""Agents that cheat, for the tests of fair matches."""

import contextlib
import gc
import hashlib
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from cardenvs.agents.base import Agent
from cardenvs.agents.seeds import MatchSeed
from cardenvs.core.registry import get_game
from cardenvs.core.rng import SEED_MASK
from cardenvs.core.state import State

LEDUC = get_game("leduc_poker_v0")


class Cheat(Agent):
    """Bets and calls with the better card if it knows both, else plays by its own card."""

    name = "cheat"

    def __init__(self, game, options):
        self.other = None

    def reset(self, seed):
        """Knows nothing yet."""
        self.other = None

    def known_world(self, turn):
        """The true state, if it has been found."""
        return

    def act(self, turn):
        """The best that it knows."""
        world = self.known_world(turn)
        labels = {turn.label(action): action for action in turn.legal_actions}
        if world is None:
            return labels.get("call", labels.get("pass", turn.legal_actions[0]))
        # Plays it out both ways against somebody who calls.
        return max(turn.legal_actions, key=lambda action: (played_out(world.clone(), action, turn.player), action))


def played_out(world, action, player):
    """What `player` gets if it does `action` and then everybody calls or passes."""
    world.apply(action)
    while not world.is_terminal:
        labels = {world.action_label(one): one for one in world.legal_actions()}
        world.apply(labels.get("call", labels.get("pass", world.legal_actions()[0])))
    return world.returns[player]


def old_seed(*what):
    """How seeds were derived when they could be found."""
    digest = hashlib.sha256(repr(what).encode()).digest()
    return int.from_bytes(digest[:8], "little") & SEED_MASK


class FindsSeed(Cheat):
    """Hashes (seed, deal, name) triples until one gives its own seed: the deal is known then."""

    def reset(self, seed):
        """Try a few thousand."""
        self.deal_seed = None
        for match_seed in range(20):
            for deal in range(100):
                found = MatchSeed.of(match_seed).deal(deal)
                for name in ("python:unfair_agents:FindsSeed", "cheat"):
                    tries = (old_seed(found, "agent", name), old_seed(found, "player", 0), old_seed(found, "player", 1))
                    if seed in tries or seed == found:
                        self.deal_seed = found

    def known_world(self, turn):
        """The deal, played on to here, if it was found."""
        turn.notes["found"] = self.deal_seed is not None
        return None if self.deal_seed is None else LEDUC.new_state(seed=self.deal_seed)


class Steals(Cheat):
    """Looks for the true state in its turn, in the frames that called it and among all objects."""

    def known_world(self, turn):
        """Any state that has its whole history."""
        found = [value for value in vars(turn).values() if isinstance(value, State)]
        frame = sys._getframe()
        while frame is not None:
            found += [value for value in frame.f_locals.values() if isinstance(value, State)]
            frame = frame.f_back
        found += [one for one in gc.get_objects() if isinstance(one, State)]
        true = [state for state in found if state.has_history and not state.is_terminal and state.actions]
        turn.notes["found"] = bool(true)
        if true:
            with contextlib.suppress(Exception):
                true[0]._states["returns"][0] = [500, -500]
        return true[0] if true else None


class Remembers(Cheat):
    """Keeps all that it has seen in this process and recognises the seed or the deal that it has played before."""

    games, memory = 0, {}

    def reset(self, seed):
        """Another game."""
        Remembers.games += 1
        self.seed, self.is_again = seed, seed in Remembers.memory
        Remembers.memory[seed] = True

    def act(self, turn):
        """Say what it remembers."""
        turn.notes |= {"games": Remembers.games, "again": self.is_again, "seed": self.seed}
        return turn.legal_actions[-1]


FOLDER = Path(os.environ.get("CARDENVS_TEST_FOLDER", tempfile.gettempdir()))
DAEMON = (
    "import os, sys, time\n"
    "if os.fork(): os._exit(0)\n"
    "os.setsid()\n"
    "if os.fork(): os._exit(0)\n"
    "open(sys.argv[1] + '/' + str(os.getpid()), 'w').close()\n"
    "time.sleep(600)\n"
)


class Breeds(Cheat):
    """Starts a child, and a daemon that has left its session and its parent."""

    def act(self, turn):
        """Start both and wait for the daemon."""
        if turn.decision == 0:
            child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
            (FOLDER / str(child.pid)).touch()
            before = len(list(FOLDER.iterdir()))
            subprocess.run([sys.executable, "-c", DAEMON, str(FOLDER)], check=True)
            while len(list(FOLDER.iterdir())) <= before:
                time.sleep(0.01)
        return turn.legal_actions[0]


class Talks(Cheat):
    """Names thousands of failures, and notes more than anybody wants to read."""

    def act(self, turn):
        """As much as it can."""
        from cardenvs.agents.base import Failure

        turn.notes["much"] = "x" * 200_000
        turn.failures += [Failure(f"\x1b[31mkind {turn.seed} {k}" + "y" * 1000, "z" * 10_000) for k in range(5000)]
        return turn.legal_actions[0]


class Environment(Cheat):
    """Tells what it was given."""

    def act(self, turn):
        """Note it."""
        turn.notes["environment"] = dict(os.environ)
        return turn.legal_actions[0]
