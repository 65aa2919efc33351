"""`Scenario`: a game played step by step, with checks after each step."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import IllegalActionError
from cardenvs.core.events import OMNISCIENT
from cardenvs.core.game import Game
from cardenvs.core.rng import derived_seed
from cardenvs.core.state import State
from cardenvs.testing.scenarios.expectations import Check, checks, labels, matching
from cardenvs.testing.scenarios.schema import Auto, Step


class ScenarioError(AssertionError):
    """A scenario failed. The message gives the step, what was expected, the actions so far, and the position."""


@dataclass(frozen=True)
class PlayedStep:
    """A step of a scenario that has been played."""

    number: int  # from 1
    line: int  # of the step in its file, from 1
    actions: list[str]  # what was done, as in "player_0: pass"
    checks: list[Check]  # the expectations, and a failed "do", "auto" or "forfeit" if the actions could not be played
    state: State  # the position after the step. Later steps change it.

    @property
    def failures(self) -> list[Check]:
        """The checks that failed."""
        return [check for check in self.checks if check.problem]


@dataclass(frozen=True)
class Scenario:
    """A scenario of a file. `read_scenarios` makes them."""

    name: str  # what it shows
    where: str  # its file, as given
    line: int  # where it starts in the file, from 1
    game: Game  # the Game
    options: dict[str, Any]  # options of the game by name
    seed: int  # of all chance that the deck leaves open
    deck: str | None  # explicit cards in dealing order, or None
    steps: tuple[Step, ...]  # what is played, and what must hold
    step_lines: tuple[int, ...]  # where each step starts in the file

    def __str__(self) -> str:
        return f"{self.where}: {self.name}"

    def start(self) -> State:
        """Return the position after the deal."""
        return self.game.new_state(seed=self.seed, deck=self.deck, **self.options)

    def play(self) -> Iterator[PlayedStep]:
        """Play the steps, and yield each with its checks. Ends at a step whose actions cannot be played."""
        state = self.start()
        for number, (step, line) in enumerate(zip(self.steps, self.step_lines, strict=True), 1):
            actions: list[str] = []
            failure = _play_step(state, step, actions)
            found = checks(state, step.expect) if failure is None else [failure]
            yield PlayedStep(number, line, actions, found, state)
            if failure is not None:
                return

    def check(self) -> None:
        """Play all steps.

        Raises:
            ScenarioError: an expectation does not hold, or an action is illegal. Later steps are not played.
        """
        actions: list[str] = []
        for step in self.play():
            actions += step.actions
            if step.failures:
                raise ScenarioError(self._failure_text(step, actions))

    def _failure_text(self, step: PlayedStep, actions: list[str]) -> str:
        lines = [f"{self.where}, line {step.line}: step {step.number} of {self.name!r} failed"]
        lines += [f"  {failure_text(check)}" for check in step.failures]
        lines += ["actions so far:", *(f"  {action}" for action in actions or ["none"])]
        lines += [f"position: {step.state!r}", *(f"  {row}" for row in step.state.render(OMNISCIENT).splitlines())]
        return "\n".join(lines)


def failure_text(check: Check) -> str:
    """Return a failed check as a line."""
    return f"{check.what}: expected {check.expected}; {check.problem}"


def _play_step(state: State, step: Step, actions: list[str]) -> Check | None:
    """Play a step, add what was done to `actions`, and return a failed check if something cannot be played."""
    try:
        for action in _choices(state, step):
            what = state.action_label(action) if action < FORFEIT else "forfeit"
            player = state.current_player
            state.apply(action)
            actions.append(f"player_{player}: {what}")
    except (IllegalActionError, ScenarioError) as error:
        name = next(name for name in ("do", "auto", "forfeit") if name in step.model_fields_set)
        return Check(name, _wanted(step), str(error))
    return None


def _choices(state: State, step: Step) -> Iterator[int]:
    """Yield the actions and codes of a step, each chosen after the one before has been applied to `state`."""
    if step.auto is not None:
        yield from _automatic_choices(state, step.auto)
    if step.forfeit is not None:
        yield FORFEIT + step.forfeit
    for action in step.do:
        if isinstance(action, int):
            state.check_legal(action)
            yield action
        else:
            yield state.action_from_label(action)


def _automatic_choices(state: State, auto: Auto) -> Iterator[int]:
    for played in range(auto.at_most + 1):
        missing = [failure_text(check) for check in checks(state, auto.until) if check.problem]
        if not missing:
            return
        if state.is_terminal:
            raise ScenarioError(f"the game ended first ({missing[0]})")
        if played < auto.at_most:
            yield _automatic_choice(state, auto)
    raise ScenarioError(f"not so after {auto.at_most} actions ({missing[0]})")


def _automatic_choice(state: State, auto: Auto) -> int:
    if auto.policy is not None:
        return state.policy_action(auto.policy, derived_seed(auto.seed, "scenario", state.ply))
    legal = labels(state)
    preferred = [label for pattern in auto.prefer for label in matching(pattern, legal)]
    if not preferred:
        raise ScenarioError(f"nothing that is preferred is legal; legal: {', '.join(legal)}")
    return state.legal_actions()[legal.index(preferred[0])]


def _wanted(step: Step) -> str:
    """Return what a step should do, for a failed check."""
    if step.auto is not None:
        until = step.auto.until
        conditions = ", ".join(f"{name} {getattr(until, name)}" for name in until.model_fields_set)
        return f"play until {conditions or 'the start'}"
    return ", ".join(map(str, step.do)) if step.do else f"player_{step.forfeit} forfeits"
