"""`TextSeatEnv`: one seat of a game for training a language model, messages out and text in.

    env = TextSeatEnv(game, seat="rotate", opponents="heuristic")
    messages, info = env.reset(seed=7)
    messages, reward, terminated, truncated, info = env.step('<answer>{"id":"c0"}</answer>')

A model is asked exactly what `LLMAgent` asks it in a match, and its replies are read by the same code, so what it
learns here is what the arena measures.
"""

import copy
import math
from collections.abc import Sequence
from typing import Any, Self

import gymnasium

from cardenvs.core.checks import short
from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import OptionError
from cardenvs.core.game import Game
from cardenvs.core.state import State
from cardenvs.envs.arguments import MOST_SKIPPED
from cardenvs.envs.single import Opponent, SeatEnv
from cardenvs.llm.prompt import PromptSettings
from cardenvs.llm.text_player import Messages, TextPlayer

Step = tuple[Messages, float, bool, bool, dict[str, Any]]


class TextSeatEnv:
    """One seat of a game as an environment of chat messages and text.

    An episode is one game from the seat's point of view, as in SeatEnv, with the same rewards, opponents and seats. A
    step is one reply of the model, so a decision takes several steps if replies are unusable. Each step's messages are
    complete: send them as they are, without those of earlier steps. Decisions with a single candidate, and the rest of
    a play of several actions, are played without asking, as in matches.

    `info` has these keys, and nothing that the seat may not know:

    - "player": int, the seat in this game.
    - "attempt": int, number of the attempt that the messages ask for, from 1; 0 once the episode is over.
    - "outcome": of the last reply: "ok", "empty", "truncated", "unparsable" or "illegal"; "" after `reset`.
    - "reason": what was wrong with the last reply, "" if nothing was.
    - "outcomes": dict, how often each outcome has occurred in this episode. "forced" and "forfeit" count decisions
      without a usable reply, "single" and "planned" those played without asking.
    - "returns": list of float, the total reward of each player; only at the end of an episode.
    - "skipped_returns": list of float, the seat's returns in games that ended without a question to it; only after
      `reset`. Include them when you compare mean returns.

    Attributes:
        game: the Game.
        options: its validated options.
        prompt: the PromptSettings.
        retries: further attempts after an unusable reply.
        on_failure: "forfeit" or "forced_action".
        failure_reward: see the constructor.
    """

    def __init__(
        self,
        game: str | Game,
        seat: int | str = 0,
        opponents: Opponent | Sequence[Opponent] | None = None,
        *,
        prompt: PromptSettings | None = None,
        retries: int | None = None,
        on_failure: str | None = None,
        failure_reward: float = 0.0,
        max_plies: int | None = None,
        guests_key: str | None = None,
        **options: Any,
    ) -> None:
        """Set up the opponents. Call `reset` to deal.

        Args:
            game: name of a game, or a Game.
            seat: the learner's player number. "random" draws it for each deal; "rotate" takes 0, 1, ... in turn.
            opponents: as in SeatEnv: an agent spec, an Agent or a function from Turn to action, or a list of them. By
                default the game's `default_opponent`.
            prompt: what the model sees and how it answers; PromptSettings() by default.
            retries: further attempts at a decision after an unusable reply; by default as many as in matches: 2, or 1
                with answers in the game's own form.
            on_failure: what follows the last attempt. "forfeit" takes the seat out of the game, which costs at
                least what the worst play would; "forced_action" plays the game's safe action. By default as in
                matches: "forfeit", so that a model does not learn to let the safe action play for it, or
                "forced_action" with answers in the game's own form.
            failure_reward: added to the reward of each step with an unusable reply; 0 or less is sensible.
            max_plies: truncate episodes after this many plies; by default the game's own bound, which no game exceeds.
            guests_key: as in SeatEnv.
            options: game options.

        Raises:
            GameNotFoundError: no game has this name.
            OptionError: unknown option or invalid value.
            AgentError: an opponent cannot be used, or the prompt's settings do not fit the game.
        """
        self._env = SeatEnv(game, seat, opponents, max_plies=max_plies, guests_key=guests_key, **options)
        self.game, self.options = self._env.game, self._env.options
        self._model = TextPlayer(self.game, prompt, retries, on_failure)
        self.prompt, self.retries, self.on_failure = self._model.prompt, self._model.retries, self._model.on_failure
        self.failure_reward = _checked_reward(self.game, failure_reward)
        self._running = False

    def __repr__(self) -> str:
        return f"<TextSeatEnv of {self.game.name}>"

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Messages, dict[str, Any]]:
        """Deal a game and play until the seat has something to choose. After an error no episode is running.

        Args:
            seed: seed of the deal and of everything after it, as in SeatEnv. None continues with the environment's
                random generator.
            options: {"deck": text or tokens} deals these cards first. Other keys are ignored.

        Returns:
            the messages to answer, and `info`.

        Raises:
            DeckError, AgentError, ArenaError: as SeatEnv.reset.
            RuntimeError: 1000 deals in a row ended without a question to the seat.
        """
        self._running = False
        skipped: list[float] = []
        while len(skipped) < MOST_SKIPPED:
            _, info = self._env.reset(seed=seed, options=options)
            skipped += info["skipped_returns"]
            self._player = info["player"]
            self._reward, self._terminated, self._truncated = 0.0, False, False
            self._model.begin()
            self._ask()
            if self._running:
                return self.messages, {**self._info(), "skipped_returns": skipped}
            skipped.append(self.game_state.returns[self._player])
            seed = options = None
        raise RuntimeError(f"{self.game.name}: {MOST_SKIPPED} deals in a row ended without a choice for the seat")

    def step(self, text: str, *, finish_reason: str | None = None) -> Step:
        """Read a reply and, if it has a valid answer, play it and everything up to the seat's next choice.

        Args:
            text: the reply of the model to `messages`.
            finish_reason: why the reply ended, if known. "length" marks one that was cut off, which is unusable.

        Returns:
            the messages to answer next (empty at the end of an episode), the reward, `terminated`, `truncated` and
            `info`. An unusable reply moves nothing unless it was the last attempt: its messages are the prompt again,
            the reply, and what was wrong.

        Raises:
            ResetNeeded: no episode is running.
            TypeError: `text` is not a str.
            AgentError, ArenaError: as SeatEnv.step; no episode is running afterwards.
        """
        self._check_running("step")
        action = self._model.answer(self.game_state, text, finish_reason)
        if self._model.outcome != "ok":
            self._reward += self.failure_reward
        return self._finish_step(action)

    def forfeit(self) -> Step:
        """Take the seat out of the game; the others play on to the end. Returns what `step` does.

        Call it when the model cannot be asked any more, as when its budget of tokens is spent. An episode that is
        simply dropped would teach a model to stall where it expects to lose.

        Raises:
            ResetNeeded, AgentError, ArenaError: as `step`.
        """
        self._check_running("forfeit")
        return self._finish_step(self._model.give_up(self.game_state, "forfeit"))

    @property
    def messages(self) -> Messages:
        """The chat messages to answer now, a list of {"role", "content"}; empty if no episode is running."""
        return self._model.messages if self._running else []

    @property
    def game_state(self) -> State:
        """The state of the game, including hidden information. Clone it before you apply actions to it.

        Raises:
            ResetNeeded: there was no `reset` yet.
        """
        return self._env.game_state

    def close(self) -> None:
        """Close the opponents, which ends their processes."""
        self._env.close()

    def __copy__(self) -> Self:
        return copy.deepcopy(self)

    # -- helpers ------------------------------------------------------------------------------------------------

    def _check_running(self, method: str) -> None:
        if not self._running:
            raise gymnasium.error.ResetNeeded(
                f"{self.game.name}: call reset() before {method}(); no episode is running"
            )

    def _finish_step(self, action: int | None) -> Step:
        if action is not None:
            self._play(action)
            self._ask()
        reward, self._reward = self._reward, 0.0
        return self.messages, reward, self._terminated, self._truncated, self._info()

    def _ask(self) -> None:
        """Play what needs no question; then ask the next one, unless the episode is over."""
        while not (self._terminated or self._truncated):
            action = self._model.ask(self.game_state)
            if action is None:
                self._running = True
                return
            self._play(action)

    def _play(self, action: int) -> None:
        self._running = False  # until the next question, so that none is answered after an error
        forfeits = action == FORFEIT + self._player
        step = self._env.forfeit() if forfeits else self._env.step(action)
        _, reward, self._terminated, self._truncated, _ = step
        self._reward += reward

    def _info(self) -> dict[str, Any]:
        model = self._model
        info = {
            "player": self._player,
            "attempt": model.attempt,
            "outcome": model.outcome,
            "reason": model.reason,
            "outcomes": dict(model.outcomes),
        }
        if not self._running:
            info["returns"] = self.game_state.returns
        return info


def _checked_reward(game: Game, reward: float) -> float:
    if isinstance(reward, bool) or not isinstance(reward, int | float) or not math.isfinite(reward):
        raise OptionError(f"{game.name}: option failure_reward takes a finite number; got {short(reward)}")
    return float(reward)
