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
    """Plays Leduc poker by what it may know, or, if it finds out more of the deal, by that."""

    name = "cheat"

    def __init__(self, game, options):
        pass

    def reset(self, seed):
        """Knows nothing yet."""

    def found(self, turn):
        """Cards that are hidden from it: the token by place in the deck."""
        return {}

    def act(self, turn):
        """The best that it knows."""
        found = self.found(turn)
        turn.notes["found"] = bool(found)
        if not found:
            labels = {turn.label(action): action for action in turn.legal_actions}
            return labels.get("call", labels.get("check", turn.legal_actions[0]))
        world = next(world for world in map(turn.determinize, range(10_000)) if has_cards(world, found))
        return max(turn.legal_actions, key=lambda action: (played_out(world.clone(), action, turn.player), action))


def has_cards(world, found):
    """Whether these cards are at these places."""
    return all(world.record.deck[place] == token for place, token in found.items())


def played_out(world, action, player):
    """What `player` gets if it does `action` and then everybody calls or checks."""
    world.apply(action)
    while not world.is_terminal:
        labels = {world.action_label(one): one for one in world.legal_actions()}
        world.apply(labels.get("call", labels.get("check", world.legal_actions()[0])))
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

    def found(self, turn):
        """All cards, if the deal was found."""
        if self.deal_seed is None:
            return {}
        return dict(enumerate(LEDUC.new_state(seed=self.deal_seed).record.deck[:3].tolist()))


class Steals(Cheat):
    """Looks for the true state in its turn, in the frames that called it and among all objects.

    It falsifies what it finds. A line of the file `steals` in CARDENVS_TEST_FOLDER tells of each try.
    """

    def act(self, turn):
        """Look, and play anything."""
        seen = list(vars(turn).values())
        frame = sys._getframe()
        while frame is not None:
            seen += frame.f_locals.values()
            frame = frame.f_back
        seen += gc.get_objects()
        # By type, not `isinstance`: a dead proxy or a lazy module answers that with an error.
        true = [one for one in seen if issubclass(type(one), State) and one.has_history]
        turn.notes["found"] = bool(true)
        for state in true:
            with contextlib.suppress(Exception):
                state._states["returns"][0] = [500, -500]
        if "CARDENVS_TEST_FOLDER" in os.environ:
            with (FOLDER / "steals").open("a") as file:
                file.write(f"{bool(true)}\n")
        return turn.legal_actions[0]


class Remembers(Cheat):
    """Keeps what it has seen in this process, and recognises a deal that it has played before by its seed."""

    games, memory = 0, {}

    def reset(self, seed):
        """Another game."""
        Remembers.games += 1
        self.seed, self.known = seed, Remembers.memory.get(seed)

    def found(self, turn):
        """What the mirrored game has shown: there, it had the card that the other has here."""
        turn.notes |= {"games": Remembers.games, "seed": self.seed}
        own = turn.determinize(0).record.deck
        Remembers.memory.setdefault(self.seed, {turn.player: int(own[turn.player])})
        return self.known or {}


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
