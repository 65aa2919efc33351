"""`TextSeatEnv`: one seat of a game for training a language model, messages out and text in.

    env = TextSeatEnv("leduc_poker_v0", seat="rotate", opponents="heuristic")
    messages, info = env.reset(seed=7)
    messages, reward, terminated, truncated, info = env.step('<answer>{"id":"c0"}</answer>')

A model is asked exactly what `LLMAgent` asks it in a match, and its replies are read by the same code, so what it
learns here is what the arena measures. `cardenvs.llm.trainers` adapts this environment to libraries for training.
"""

import copy
import math
from collections import Counter
from collections.abc import Sequence
from typing import Any, Self

import gymnasium

from cardenvs.agents.base import Turn
from cardenvs.agents.guarded.limits import ON_FAILURE
from cardenvs.agents.seating import FORCED, FORFEITED
from cardenvs.core.checks import is_integer, short
from cardenvs.core.errors import OptionError
from cardenvs.core.game import Game
from cardenvs.core.state import State
from cardenvs.envs.arguments import MOST_SKIPPED
from cardenvs.envs.single import Opponent, SeatEnv
from cardenvs.llm.answers import OK, AnswerError, reply_outcome, storable
from cardenvs.llm.dialogue import Plays, Question, default_attempts, forced_by_default
from cardenvs.llm.prompt import PromptSettings, check_settings

Messages = list[dict[str, str]]


class TextSeatEnv:
    """One seat of a game as an environment of chat messages and text.

    An episode is one game from the seat's point of view, as in SeatEnv, with the same rewards, opponents and seats. A
    step is one reply of the model, so a decision takes several steps if replies are unusable. Each step's messages are
    complete: send them as they are, without those of earlier steps. Decisions with a single candidate, and the rest of
    a play of several actions, are played without asking, as in matches.

    `info` has these keys, and nothing that the seat may not know:

        player      int, the seat in this game
        attempt     int, number of the attempt that the messages ask for, from 1; 0 once the episode is over
        outcome     of the last reply: "ok", or "empty", "truncated", "unparsable" or "illegal"; "" after `reset`
        reason      what was wrong with it, "" if nothing was
        outcomes    dict, how often each outcome has occurred in this episode; "forced" and "forfeit" count decisions
                    without a usable reply, "single" and "planned" those played without asking
        returns     list of float, the total reward of each player; only at the end of an episode
        skipped_returns  list of float, the seat's returns in games that ended without a question to it; only after
                    `reset`. Include them when you compare mean returns.

    Attributes:
        game: the Game.
        options: its validated options.
        prompt: the PromptSettings.
        retries: further attempts after an unusable reply.
        on_failure: "forfeit" or "forced_action".
        failure_reward: see the constructor.
        messages: the chat messages to answer now, a list of {"role", "content"}; empty if no episode is running.
    """

    def __init__(
        self,
        game: str | Game,
        seat: int | str = 0,
        opponents: Opponent | Sequence[Opponent] = "random",
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
            opponents: as in SeatEnv: an agent spec, an Agent or a function from Turn to action, or a list of them.
            prompt: what the model sees and how it answers; PromptSettings() by default.
            retries: further attempts at a decision after an unusable reply; by default as many as in matches: 2, or 1
                with answers in the game's own form.
            on_failure: what follows the last attempt. "forfeit" takes the seat out of the game, which costs what
                losing costs; "forced_action" plays the game's safe action. By default as in matches: "forfeit", so
                that a model does not learn to let the safe action play for it, or "forced_action" with answers in the
                game's own form.
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
        self.prompt = prompt or PromptSettings()
        check_settings(self.game, self.prompt)
        self.retries = self._checked_retries(retries)
        self.on_failure = self._checked_on_failure(on_failure)
        self.failure_reward = self._checked_reward(failure_reward)
        self._question: Question | None = None
        self._plays = Plays()

    def __repr__(self) -> str:
        return f"<TextSeatEnv of {self.game.name}>"

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Messages, dict[str, Any]]:
        """Deal a game, and play until the seat has something to choose.

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
        skipped: list[float] = []
        while len(skipped) < MOST_SKIPPED:
            _, info = self._env.reset(seed=seed, options=options)
            skipped += info["skipped_returns"]
            self._player = info["player"]
            self._decision, self._last_ply = 0, -2
            self._reward, self._terminated, self._truncated = 0.0, False, False
            self._outcomes: Counter[str] = Counter()
            self._plays.clear()
            self._ask()
            if self._question is not None:
                return self.messages, {**self._info("", ""), "skipped_returns": skipped}
            skipped.append(self.game_state.returns[self._player])
            seed = options = None
        raise RuntimeError(f"{self.game.name}: {MOST_SKIPPED} deals in a row ended without a choice for the seat")

    def step(
        self, text: str, *, finish_reason: str | None = None
    ) -> tuple[Messages, float, bool, bool, dict[str, Any]]:
        """Read a reply and, if it has a valid answer, play it and everything up to the seat's next choice.

        Args:
            text: the reply of the model to `messages`.
            finish_reason: why the reply ended, if known. "length" marks one that was cut off, which is unusable.

        Returns:
            the messages to answer next (empty at the end of an episode), the reward, `terminated`, `truncated` and
            `info`. An unusable reply moves nothing: its messages are the prompt again, the reply, and what was wrong.

        Raises:
            ResetNeeded: no episode is running.
            TypeError: `text` is not a str.
            AgentError, ArenaError: as SeatEnv.step.
        """
        if self._question is None:
            raise gymnasium.error.ResetNeeded(f"{self.game.name}: call reset() before step(); no episode is running")
        if not isinstance(text, str):
            raise TypeError(f"step() takes the text of a reply; got {short(text)}")
        outcome, reason, actions = _read(self._question, text, finish_reason)
        self._outcomes[outcome] += 1
        if actions:
            self._play(self._plays.begin(self._question.turn, actions))
            self._ask()
        else:
            self._reward += self.failure_reward
            self._fail(storable(text), outcome, reason)
        reward, self._reward = self._reward, 0.0
        return self.messages, reward, self._terminated, self._truncated, self._info(outcome, reason)

    @property
    def messages(self) -> Messages:
        """The chat messages to answer now, new dicts each time; empty if no episode is running."""
        return [] if self._question is None else [dict(message) for message in self._question.messages]

    @property
    def game_state(self) -> State:
        """The state of the game, including hidden information. Clone it before you apply actions to it."""
        return self._env.game_state

    def close(self) -> None:
        """Close the opponents, which ends their processes."""
        self._env.close()

    def __copy__(self) -> Self:
        return copy.deepcopy(self)

    # -- helpers ------------------------------------------------------------------------------------------------

    def _ask(self) -> None:
        """Play what needs no question; then ask the next one, if the episode goes on."""
        self._question = None
        while not (self._terminated or self._truncated):
            goes_on = self.game_state.ply == self._last_ply + 1
            turn = Turn(self.game_state, 0, self._decision, goes_on)  # prompts do not depend on its seed
            found = self._plays.unasked(turn)
            if found is None:
                self._question, self._attempt = Question(turn, self.prompt), 1
                return
            outcome, action = found
            self._outcomes[outcome] += 1
            self._play(action)

    def _play(self, action: int) -> None:
        self._decision += 1
        self._last_ply = self.game_state.ply
        self._take(self._env.step(action))

    def _take(self, step: tuple[Any, float, bool, bool, dict[str, Any]]) -> None:
        _, reward, self._terminated, self._truncated, _ = step
        self._reward += reward

    def _fail(self, reply: str, outcome: str, reason: str) -> None:
        """Ask again or, after the last attempt, go on without the model."""
        assert self._question is not None
        if self._attempt <= self.retries:
            self._attempt += 1
            self._question.fail(reply, outcome, reason)
            return
        self._outcomes[FORCED if self.on_failure == "forced_action" else FORFEITED] += 1
        if self.on_failure == "forced_action":
            self._play(self.game_state.forced_action())
        else:
            self._take(self._env.forfeit())
        self._ask()

    def _info(self, outcome: str, reason: str) -> dict[str, Any]:
        info = {
            "player": self._player,
            "attempt": 0 if self._question is None else self._attempt,
            "outcome": outcome,
            "reason": reason,
            "outcomes": dict(self._outcomes),
        }
        if self._question is None:
            info["returns"] = self.game_state.returns
        return info

    def _checked_retries(self, retries: int | None) -> int:
        if retries is None:
            return default_attempts(self.prompt.answer) - 1
        if not is_integer(retries) or retries < 0:
            raise OptionError(
                f"{self.game.name}: option retries takes None or an integer of at least 0; got {short(retries)}"
            )
        return int(retries)

    def _checked_on_failure(self, on_failure: str | None) -> str:
        if on_failure is None:
            return "forced_action" if forced_by_default(self.prompt.answer) else "forfeit"
        if on_failure not in ON_FAILURE:
            raise OptionError(
                f"{self.game.name}: option on_failure takes None, {', '.join(ON_FAILURE)}; got {short(on_failure)}"
            )
        return on_failure

    def _checked_reward(self, reward: float) -> float:
        if isinstance(reward, bool) or not isinstance(reward, int | float) or not math.isfinite(reward):
            raise OptionError(f"{self.game.name}: option failure_reward takes a finite number; got {short(reward)}")
        return float(reward)


def _read(question: Question, text: str, finish_reason: str | None) -> tuple[str, str, tuple[int, ...]]:
    """The outcome of a reply, what was wrong with it, and the actions that it chooses."""
    outcome, reason = reply_outcome(text, finish_reason)
    if outcome == OK:
        try:
            return OK, "", question.read(text)
        except AnswerError as error:
            outcome, reason = error.outcome, str(error)
    return outcome, reason, ()
