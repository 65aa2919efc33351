"""Agents for the tests of the arena, given as python:arena_agents:NAME."""

import multiprocessing
import os
import signal
import time

from cardenvs.core.codes import FORFEIT


class First:
    """Plays the first legal action."""

    def __init__(self, game, options):
        self.name = "first"

    def reset(self, seed):
        """Nothing to keep."""

    def act(self, turn):
        """The lowest id."""
        return turn.legal_actions[0]


class Raises(First):
    """Fails in every third game or so."""

    def reset(self, seed):
        """Draw whether to fail."""
        self.fails = seed % 3 == 0

    def act(self, turn):
        """Fails, in time."""
        if self.fails:
            raise ZeroDivisionError("I cannot\ngo on")
        return turn.legal_actions[-1]


class Crashes(First):
    """Fails at its first decision."""

    def act(self, turn):
        """Fails."""
        raise RuntimeError("I give up")


class Folds(First):
    """Folds or checks: loses slowly."""

    def act(self, turn):
        """Fold if that is legal, else check."""
        return turn.legal_actions[0]


class ShovesAndFolds(First):
    """Loses a stack as fast as it can: goes all-in, and folds if it is raised before."""

    def act(self, turn):
        """The largest raise, else a call."""
        return turn.legal_actions[-1]


class QuitsWhenBehind(First):
    """Plays as the policy `heuristic`, but fails if its playouts promise less than a forfeit."""

    def reset(self, seed):
        """Keep the seed of the playouts."""
        self.seed = seed

    def act(self, turn):
        """An illegal action, if that promises more."""
        action, world = turn.policy_action("heuristic"), turn.determinize(self.seed)
        left = world.clone()
        left.apply(FORFEIT + turn.player)
        promised = world.simulate([action], self.seed, 20, policy="heuristic").mean()
        return action if promised > left.returns[turn.player] else -1


class BadReset(First):
    """Fails before it plays."""

    def reset(self, seed):
        """Fails."""
        raise OSError("no memory")


class Illegal(First):
    """Chooses what there is not."""

    def act(self, turn):
        """An id that no game has."""
        return 999


class Forfeits(First):
    """Would throw the opponent out."""

    def act(self, turn):
        """The code for it."""
        return FORFEIT + 1 - turn.player


class Keeper(First):
    """Keeps something from turn to turn, and draws from it: right only if each game has its own."""

    def reset(self, seed):
        """Start the sum."""
        self.sum = seed

    def act(self, turn):
        """Draws from all it has seen in this game."""
        self.sum += turn.decision + 1
        return turn.legal_actions[self.sum % len(turn.legal_actions)]


class Together(First):
    """Answers in batches, from each turn's seed alone."""

    largest = 0

    def act(self, turn):
        """As in a batch."""
        return self.act_batch([turn])[0]

    def act_batch(self, turns):
        """A legal action drawn from the turn's seed."""
        Together.largest = max(Together.largest, len(turns))
        return [turn.legal_actions[turn.seed % len(turn.legal_actions)] for turn in turns]


class TooFew(Together):
    """Loses an answer."""

    def act_batch(self, turns):
        """One too few."""
        return super().act_batch(turns)[1:]


class Dies(First):
    """Takes its worker process with it."""

    def act(self, turn):
        """Plays in the first process, and kills any other."""
        if multiprocessing.parent_process() is not None:
            os.kill(os.getpid(), signal.SIGKILL)
        return turn.legal_actions[0]


class Slow(First):
    """Takes its time."""

    def act(self, turn):
        """Draws from the seed, slowly."""
        time.sleep(0.004)
        return turn.legal_actions[turn.seed % len(turn.legal_actions)]


class DiesAlways(First):
    """Takes its process with it, whichever it is."""

    def act(self, turn):
        """The end."""
        os.kill(os.getpid(), signal.SIGKILL)
