"""One player of a game whose decisions are texts: shared by the environments for training."""

from collections import Counter

from cardenvs.agents.base import Turn
from cardenvs.agents.guarded.limits import ON_FAILURE
from cardenvs.agents.seating import FORCED, FORFEITED
from cardenvs.core.checks import is_integer, short
from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import OptionError
from cardenvs.core.game import Game
from cardenvs.core.state import State
from cardenvs.llm.answers import EMPTY, ILLEGAL, OK, TRUNCATED, UNPARSABLE, AnswerError, reply_outcome, storable
from cardenvs.llm.dialogue import PLANNED, SINGLE, Plays, Question, default_attempts, forced_by_default
from cardenvs.llm.prompt import PromptSettings, check_settings

Messages = list[dict[str, str]]
OUTCOMES = (OK, EMPTY, TRUNCATED, UNPARSABLE, ILLEGAL, FORCED, FORFEITED, SINGLE, PLANNED)


class TextPlayer:
    """A player who reads chat messages and answers with text, in one game after another.

    It changes no state: its methods return the action for the caller to apply.

    Attributes:
        prompt: the PromptSettings.
        retries: further attempts after an unusable reply.
        on_failure: "forfeit" or "forced_action".
        attempt: number of the attempt that `messages` ask for, from 1; 0 if nothing is asked.
        outcome: of the last reply: "ok", "empty", "truncated", "unparsable" or "illegal"; "" before the first.
        reason: what was wrong with the last reply, "" if nothing was.
        outcomes: how often each outcome has occurred in this game. "forced" and "forfeit" count decisions without a
            usable reply, "single" and "planned" those played without asking.
    """

    def __init__(
        self,
        game: Game,
        prompt: PromptSettings | None = None,
        retries: int | None = None,
        on_failure: str | None = None,
    ) -> None:
        """Check the settings; None is what matches use.

        Raises:
            OptionError: invalid `prompt`, `retries` or `on_failure`.
            AgentError: the prompt's settings do not fit the game.
        """
        if prompt is not None and not isinstance(prompt, PromptSettings):
            raise OptionError(f"{game.name}: option prompt takes None or PromptSettings; got {short(prompt)}")
        self.prompt = prompt or PromptSettings()
        check_settings(game, self.prompt)
        self.retries = _checked_retries(game, retries, default_attempts(self.prompt.answer) - 1)
        self.on_failure = _checked_on_failure(game, on_failure, forced_by_default(self.prompt.answer))
        self._plays = Plays()
        self.begin()

    def begin(self) -> None:
        """Forget the last game."""
        self._plays.clear()
        self._decision, self._last_ply = 0, -2
        self._question: Question | None = None
        self.attempt, self.outcome, self.reason = 0, "", ""
        self.outcomes: Counter[str] = Counter()

    @property
    def messages(self) -> Messages:
        """The chat messages to answer now, new dicts each time; empty if nothing is asked."""
        return [] if self._question is None else [dict(message) for message in self._question.messages]

    def ask(self, state: State) -> int | None:
        """Return the action that needs no question, or None after asking one, which is then in `messages`."""
        goes_on = state.ply == self._last_ply + 1
        turn = Turn(state, 0, self._decision, goes_on)  # a seed of 0, because prompts do not depend on it
        found = self._plays.unasked(turn)
        if found is None:
            self._question, self.attempt = Question(turn, self.prompt), 1
            return None
        outcome, action = found
        self.outcomes[outcome] += 1
        return self._decided(state, action)

    def answer(self, state: State, text: str, finish_reason: str | None = None) -> int | None:
        """Return the action that a reply to `messages` chooses, or None if the player has to try again.

        The state is that of `ask`. After the last attempt the action is the game's safe one, or FORFEIT + player.
        `finish_reason` says why the reply ended, if known: "length" marks one that was cut off, which is unusable.

        Raises:
            TypeError: `text` is not a str.
        """
        if not isinstance(text, str):
            raise TypeError(f"a reply is a str; got {short(text)}")
        assert self._question is not None
        self.outcome, self.reason, actions = _read(self._question, text, finish_reason)
        self.outcomes[self.outcome] += 1
        if actions:
            return self._decided(state, self._plays.begin(self._question.turn, actions))
        if self.attempt <= self.retries:
            self.attempt += 1
            self._question.fail(storable(text), self.outcome, self.reason)
            return None
        return self.give_up(state, self.on_failure)

    def give_up(self, state: State, on_failure: str) -> int:
        """Return the action of a player who will not answer: FORFEIT + player, or the game's safe one."""
        forced = on_failure == "forced_action"
        self.outcomes[FORCED if forced else FORFEITED] += 1
        return self._decided(state, state.forced_action() if forced else FORFEIT + state.current_player)

    def _decided(self, state: State, action: int) -> int:
        self._question, self.attempt = None, 0
        self._decision += 1
        self._last_ply = state.ply
        return action


def _read(question: Question, text: str, finish_reason: str | None) -> tuple[str, str, tuple[int, ...]]:
    """Return the outcome of a reply, what was wrong with it, and the actions that it chooses."""
    outcome, reason = reply_outcome(text, finish_reason)
    if outcome == OK:
        try:
            return OK, "", question.read(text)
        except AnswerError as error:
            outcome, reason = error.outcome, str(error)
    return outcome, reason, ()


def _checked_retries(game: Game, retries: int | None, default: int) -> int:
    if retries is None:
        return default
    if not is_integer(retries) or retries < 0:
        raise OptionError(f"{game.name}: option retries takes None or an integer of at least 0; got {short(retries)}")
    return int(retries)


def _checked_on_failure(game: Game, on_failure: str | None, forced: bool) -> str:
    if on_failure is None:
        return "forced_action" if forced else "forfeit"
    if on_failure not in ON_FAILURE:
        raise OptionError(
            f"{game.name}: option on_failure takes None, {', '.join(ON_FAILURE)}; got {short(on_failure)}"
        )
    return on_failure
