"""One decision as a conversation with a model: shared by `LLMAgent`, which plays, and `TextSeatEnv`, which trains.

A `Question` holds the messages to send, reads the reply, and writes the messages of the next attempt. `Plays` knows
which actions need no question.
"""

from cardenvs.agents.base import Turn
from cardenvs.llm.answers import read_answer, retry_text
from cardenvs.llm.prompt import Answer, Prompt, PromptSettings, answer_text, write_prompt

SINGLE, PLANNED = "single", "planned"  # outcomes of decisions for which nobody was asked
_LONGEST_REPEATED = 4000  # characters of its reply that a model is shown again when it has to try again
_ATTEMPTS, _ATTEMPTS_IN_THE_GAMES_FORM = 3, 2


def default_attempts(answer: Answer) -> int:
    """Most tries at a decision, where nothing else is set."""
    return _ATTEMPTS_IN_THE_GAMES_FORM if answer == "game" else _ATTEMPTS


def forced_by_default(answer: Answer) -> bool:
    """Return whether the game's safe action follows the last attempt, where nothing else is set."""
    return answer == "game"


class Question:
    """What a model is asked at one decision, over all its attempts."""

    def __init__(self, turn: Turn, settings: PromptSettings) -> None:
        """Create the first attempt. Raises AgentError if the settings do not fit the game."""
        self.turn = turn
        self.prompt: Prompt = write_prompt(turn, settings)  # the Prompt of its first attempt
        # chat messages to send now: the prompt and, after a failed attempt, the reply and what was wrong with it. Only
        # the last failed attempt is shown.
        self.messages = self.prompt.messages
        self._settings = settings

    def read(self, reply: str) -> tuple[int, ...]:
        """Return the actions that a reply chooses.

        Raises:
            AnswerError: there is no valid answer, or it may not be chosen; says exactly why.
        """
        return read_answer(reply, self.prompt, self.turn)

    def fail(self, reply: str, outcome: str, reason: str) -> None:
        """Set `messages` for another attempt: the prompt, the reply if there was one, and what was wrong with it."""
        messages = self.prompt.messages
        if reply.strip():
            messages.append({"role": "assistant", "content": _shortened(reply)})
        text = retry_text(outcome, reason, answer_text(self.turn.game, self._settings))
        self.messages = [*messages, {"role": "user", "content": text}]


class Plays:
    """What is played without a question: the rest of a play that was chosen whole, and the only candidate."""

    def __init__(self) -> None:
        """Nothing is under way."""
        self._rest: list[int] = []
        self._next = -1  # the decision at which it resumes, if nobody else acts before
        self.label = ""  # of the play under way

    def clear(self) -> None:
        """Prepare for a new game."""
        self._rest = []

    def begin(self, turn: Turn, actions: tuple[int, ...]) -> int:
        """Choose a whole play; the first of its actions, at least one."""
        self._rest = list(actions)
        self.label = next((one.label for one in turn.candidates if one.actions == actions), "")
        return self._step(turn)

    def unasked(self, turn: Turn) -> tuple[str, int] | None:
        """PLANNED or SINGLE and the action, or None: there is something to choose."""
        if self._rest and self._next == turn.decision and turn.goes_on and self._rest[0] in turn.legal_actions:
            return PLANNED, self._step(turn)
        self._rest = []
        if len(turn.candidates) == 1:
            return SINGLE, self.begin(turn, turn.candidates[0].actions)
        return None

    def _step(self, turn: Turn) -> int:
        self._next = turn.decision + 1
        return self._rest.pop(0)


def _shortened(reply: str) -> str:
    """Return the end of a reply, where its answer was to be."""
    return reply if len(reply) <= _LONGEST_REPEATED else f"[...] {reply[-_LONGEST_REPEATED:]}"
