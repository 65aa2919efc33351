"""Which model plays, and under which conditions: from a YAML file, or from environment variables.

    endpoints are OpenAI-compatible; a file names as many players as it likes:

        models:
          mini:
            base_url: https://llm.example.org/v1
            api_key_env: EXAMPLE_KEY        # the variable that holds the key; config files may not hold keys
            model: some-model-mini
            temperature: 0
            turn_timeout_ms: 30000
            prompt: {rules: true, recap: 40, thinking: false}

Variables: LLM_BASE_URL, LLM_API_KEY, LLM_MODEL, LLM_TEMPERATURE, LLM_TURN_TIMEOUT_MS, LLM_MAX_TOKENS, LLM_CONCURRENCY,
LLM_POLICY_MODE ("llm" or "first_candidate"), LLM_TRANSCRIPT. They are the defaults of what a file leaves out.
"""

import base64
import dataclasses
import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args, get_type_hints
from urllib.parse import unquote, urlsplit, urlunsplit

from cardenvs.core.errors import AgentError
from cardenvs.core.text import check_name, did_you_mean, one_line, read_yaml

CONFIG_VARIABLE = "CARDENVS_LLM_CONFIG"
CONFIG_FILE = "llm.yaml"
POLICIES = ("llm", "first_candidate", "scripted")
ANSWERS = ("candidate", "label", "game")
DEFAULT_TURN_TIMEOUT_MS = 10_000
_ATTEMPTS, _ATTEMPTS_IN_THE_GAMES_FORM = 3, 2
_ENV = {
    "base_url": "LLM_BASE_URL",
    "model": "LLM_MODEL",
    "temperature": "LLM_TEMPERATURE",
    "turn_timeout_ms": "LLM_TURN_TIMEOUT_MS",
    "max_tokens": "LLM_MAX_TOKENS",
    "concurrency": "LLM_CONCURRENCY",
    "policy": "LLM_POLICY_MODE",
    "transcript": "LLM_TRANSCRIPT",
}
KEY_VARIABLE = "LLM_API_KEY"


class Secret:
    """A key that shows itself to nobody who does not ask for it by name; pickled without it."""

    __slots__ = ("_value",)

    def __init__(self, value: str = "") -> None:
        self._value = value

    def reveal(self) -> str:
        """The key."""
        return self._value

    def __bool__(self) -> bool:
        return bool(self._value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and self.reveal() == other.reveal()

    def __hash__(self) -> int:
        return hash(self._value)

    def __repr__(self) -> str:
        return "Secret(...)" if self._value else "Secret('')"

    __str__ = __repr__

    def __reduce__(self) -> tuple:
        return Secret, ()


@dataclass(frozen=True)
class PromptSettings:
    """What a prompt shows: conditions of the experiment.

    Attributes:
        candidates: list what may be chosen.
        rules: show the rules of the game.
        recap: how many sentences of what happened, the latest; None: all; 0: none.
        thinking: free text is welcome before the answer.
        answer: how to answer: "candidate" (the id of a listed one), "label" (the words of an action), or "game" (the
            game's own JSON, where it has one).
    """

    candidates: bool = True
    rules: bool = True
    recap: int | None = 60
    thinking: bool = True
    answer: str = "candidate"

    def __post_init__(self) -> None:
        """Refuse what does not fit together."""
        if self.answer not in ANSWERS:
            raise AgentError(f"prompt.answer is one of {', '.join(ANSWERS)}; got {self.answer!r}")
        if self.answer == "candidate" and not self.candidates:
            raise AgentError('candidates that are not listed cannot be chosen by id; set prompt.answer to "label"')
        if self.recap is not None and self.recap < 0:
            raise AgentError(f"prompt.recap is a number of sentences, or null for all; got {self.recap}")


@dataclass(frozen=True)
class LLMConfig:
    """A language model as a player.

    Attributes:
        name: for people.
        policy: "llm"; or, without any model, "first_candidate" or "scripted": the prompt is written and an answer is
            read as ever, for runs that repeat.
        base_url: of an OpenAI-compatible endpoint, usually ending in /v1.
        model: the endpoint's name of it.
        api_key: never shown, stored or pickled.
        credentials: user and password of the address, likewise; taken from `base_url`, which loses them.
        api_key_env: the variable that holds it.
        temperature: None leaves it to the endpoint.
        turn_timeout_ms: time that the requests of one decision may take, without what they wait for a place in the
            pool or for a rate limit to pass; 0 or less: no limit.
        request_timeout_ms: of one request; None: as the turn's.
        max_tokens: of a reply; None leaves it to the endpoint.
        max_tokens_name: what the endpoint calls it: "max_tokens" or "max_completion_tokens".
        concurrency: requests at the same time, of all agents in this process that share the endpoint.
        attempts: how often a decision may be tried; None: 3, or 2 with answers in the game's own form.
        forced: what follows the last attempt: True, the game's safe action; False, what the match does to agents that
            fail; None: True with answers in the game's own form.
        transport_retries: further requests after one that did not get through.
        rate_limit_wait_s: seconds to wait at most, in one attempt, for rate limits to pass.
        extra: further members of each request.
        script: answers of a "scripted" policy, taken in turn and from the start again.
        prompt: what the model sees.
        transcript: file to which each call is added, or None.
    """

    name: str = "llm"
    policy: str = "llm"
    base_url: str = ""
    model: str = ""
    api_key: Secret = field(default_factory=Secret, repr=False)
    api_key_env: str = KEY_VARIABLE
    temperature: float | None = 0.0
    turn_timeout_ms: int = DEFAULT_TURN_TIMEOUT_MS
    request_timeout_ms: int | None = None
    max_tokens: int | None = 2048
    max_tokens_name: str = "max_tokens"
    concurrency: int = 16
    attempts: int | None = None
    forced: bool | None = None
    transport_retries: int = 2
    rate_limit_wait_s: float = 120.0
    extra: dict[str, Any] = field(default_factory=dict)
    script: tuple[str, ...] = ()
    prompt: PromptSettings = field(default_factory=PromptSettings)
    transcript: str | None = None
    credentials: Secret = field(default_factory=Secret)

    def __post_init__(self) -> None:
        """Refuse what cannot be played."""
        check_name(self.name, "a language model", AgentError)
        self._hide_credentials()
        if self.policy not in POLICIES:
            raise AgentError(f"policy is one of {', '.join(POLICIES)}; got {self.policy!r}")
        if self.policy == "llm" and not (self.base_url and self.model):
            raise AgentError(
                "a language model needs a base_url and a model: set LLM_BASE_URL and LLM_MODEL, or name them in a file"
            )
        if self.policy == "scripted" and not self.script:
            raise AgentError("a scripted policy needs a script: a list of answers")
        if self.concurrency < 1 or (self.attempts is not None and self.attempts < 1) or self.transport_retries < 0:
            raise AgentError("concurrency and attempts are 1 or more, transport_retries 0 or more")
        if self.max_tokens is not None and self.max_tokens < 1:
            raise AgentError(f"max_tokens is 1 or more, or null; got {self.max_tokens}")

    def _hide_credentials(self) -> None:
        """Move user and password from the address to where nothing shows them."""
        try:
            parts = urlsplit(self.base_url)
            userinfo, at, host = parts.netloc.rpartition("@")
            parts.port  # noqa: B018  raises where it is none
        except ValueError as error:
            raise AgentError(f"base_url is no address: {error}") from None
        if self.policy == "llm" and self.base_url and parts.scheme not in ("http", "https"):
            raise AgentError("base_url is an address that begins with http:// or https://")
        if at:
            object.__setattr__(self, "base_url", urlunsplit(parts._replace(netloc=host)))
            object.__setattr__(self, "credentials", Secret(userinfo))

    def __repr__(self) -> str:
        """The conditions, with neither the key nor what else opens the endpoint."""
        shown = {"name": self.name, **self.conditions()}
        return f"LLMConfig({', '.join(f'{name}={value!r}' for name, value in shown.items())})"

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must not be repeated to anybody: the key, the password in the address, and both as they are sent."""
        found = [self.api_key.reveal(), urlsplit(self.base_url).query]
        userinfo = self.credentials.reveal()
        if userinfo:
            password = unquote(userinfo.partition(":")[2])
            found += [userinfo, password, base64.b64encode(unquote(userinfo).encode()).decode()]
        return tuple(dict.fromkeys(secret for secret in found if secret))

    # -- making one ---------------------------------------------------------------------------------------------

    @classmethod
    def from_env(cls, environ: Mapping[str, str] | None = None, **changes: Any) -> "LLMConfig":
        """The model that the environment names.

        Raises:
            AgentError: something needed is missing, or a value cannot be read.
        """
        return cls.of(changes, environ)

    @classmethod
    def named(
        cls, name: str, path: str | Path | None = None, environ: Mapping[str, str] | None = None, **changes: Any
    ) -> "LLMConfig":
        """A model of a configuration file.

        Args:
            name: of an entry under `models`; "env" for what the environment names, "first_candidate" for that policy.
            path: the file; by default what CARDENVS_LLM_CONFIG names, or llm.yaml in this folder.
            environ: the environment.
            changes: in place of what the file says; those of `prompt` by their own names.

        Raises:
            AgentError: no such file or name, or values that cannot be used.
        """
        if name == "env":
            return cls.of({"name": "env", **changes}, environ)
        environ = os.environ if environ is None else environ
        file = Path(path or environ.get(CONFIG_VARIABLE) or CONFIG_FILE)
        models = _models(file) if file.is_file() else {}
        if name == "first_candidate" and name not in models:
            return cls.of({"name": name, "policy": "first_candidate", **changes}, environ)
        if not file.is_file():
            raise AgentError(
                f"llm:{name} needs the file {str(file)!r}, which is not there ({CONFIG_VARIABLE} names it)"
            )
        if name not in models:
            raise AgentError(f"{file} has no model {name!r}; it has {', '.join(map(str, models)) or 'none'}")
        values = models[name]
        if not isinstance(values, dict):
            raise AgentError(f"{file}: model {name!r} is a list of settings, as in model: some-model")
        return cls.of({"name": name, **values, **changes}, environ)

    @classmethod
    def of(cls, values: Mapping[str, Any], environ: Mapping[str, str] | None = None) -> "LLMConfig":
        """A config from values as they stand in a file; what they leave out comes from the environment.

        Raises:
            AgentError: an unknown name, or a value of a wrong kind.
        """
        environ = os.environ if environ is None else environ
        given = dict(values)
        if "api_key" in given:
            raise AgentError("config files may not hold keys; name the variable that holds it: api_key_env")
        prompt_names = {one.name for one in dataclasses.fields(PromptSettings)}
        prompt = {**_mapping(given.pop("prompt", {})), **{k: given.pop(k) for k in list(given) if k in prompt_names}}
        for name, variable in _ENV.items():
            if name not in given and environ.get(variable):
                given[name] = environ[variable]
        if given.get("policy") == "firstCandidate":
            given["policy"] = "first_candidate"
        if isinstance(given.get("script"), str):
            given["script"] = [given["script"]]
        read = _read(cls, given, "")
        settings = PromptSettings(**_read(PromptSettings, prompt, "prompt."))
        key = environ.get(read.get("api_key_env", KEY_VARIABLE), "").strip()
        return cls(**read, prompt=settings, api_key=Secret(key))

    # -- what follows from it -----------------------------------------------------------------------------------

    @property
    def most_attempts(self) -> int:
        """How often a decision may be tried."""
        if self.attempts is not None:
            return self.attempts
        return _ATTEMPTS_IN_THE_GAMES_FORM if self.prompt.answer == "game" else _ATTEMPTS

    @property
    def asks_for_forced(self) -> bool:
        """Whether the game's safe action follows the last attempt."""
        return self.prompt.answer == "game" if self.forced is None else self.forced

    @property
    def turn_timeout_s(self) -> float | None:
        """Seconds for the requests of one decision, or None."""
        return self.turn_timeout_ms / 1000 if self.turn_timeout_ms > 0 else None

    @property
    def request_timeout_s(self) -> float | None:
        """Seconds for one request, or None."""
        if self.request_timeout_ms is not None and self.request_timeout_ms > 0:
            return self.request_timeout_ms / 1000
        return self.turn_timeout_s

    def conditions(self) -> dict[str, Any]:
        """All that may bear on the result, as JSON values; neither the key nor credentials in the address."""
        values = dataclasses.asdict(self)
        for name in ("api_key", "credentials", "api_key_env", "transcript", "name"):
            del values[name]
        values["script"] = list(values["script"])
        values["base_url"] = _address(self.base_url)
        values["attempts"], values["forced"] = self.most_attempts, self.asks_for_forced
        return values

    def fingerprint(self) -> str:
        """A hash of the conditions."""
        text = json.dumps(self.conditions(), sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def _models(file: Path) -> dict[str, Any]:
    content = read_yaml(file, "llm", AgentError)
    if not isinstance(content, dict) or not isinstance(content.get("models"), dict):
        raise AgentError(f"{file} has no models: it needs a mapping `models` from names to settings")
    return content["models"]


def _mapping(value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise AgentError(f"prompt is a mapping of settings; got {value!r}")
    return dict(value)


def _read(kind: type, values: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Values for the fields of a dataclass, from texts or from YAML values.

    Raises:
        AgentError: naming the field, and what it takes.
    """
    hints = get_type_hints(kind)
    known = [one.name for one in dataclasses.fields(kind) if one.name not in ("api_key", "credentials", "prompt")]
    read = {}
    for name, value in values.items():
        if name not in known:
            hint = did_you_mean(name, known)
            raise AgentError(f"a language model has no setting {where}{name}; {hint}settings: {', '.join(known)}")
        try:
            read[name] = _converted(value, hints[name])
        except (TypeError, ValueError, OverflowError):
            raise AgentError(
                f"{where}{name} cannot be {one_line(repr(value), 80)}; it takes {_taken(hints[name])}"
            ) from None
    return read


def _converted(value: Any, hint: Any) -> Any:
    kind = hint
    if type(None) in get_args(hint):
        if value is None or (isinstance(value, str) and value.lower() in ("none", "null", "")):
            return None
        (kind,) = (one for one in get_args(hint) if one is not type(None))
    if kind is bool:
        if isinstance(value, str) and value.lower() in ("true", "false", "1", "0"):
            return value.lower() in ("true", "1")
        if not isinstance(value, bool):
            raise TypeError
        return value
    if kind in (int, float):
        if isinstance(value, bool) or (kind is int and isinstance(value, float) and value != int(value)):
            raise TypeError
        return kind(value)
    if kind is str:
        if not isinstance(value, str | int | float):
            raise TypeError
        return str(value)
    if kind == tuple[str, ...]:
        if not isinstance(value, list | tuple):
            raise TypeError
        return tuple(map(str, value))
    if not isinstance(value, Mapping):
        raise TypeError
    return dict(value)


def _taken(hint: Any) -> str:
    text = getattr(hint, "__name__", str(hint)) if not get_args(hint) else str(hint)
    return {"bool": "true or false", "int": "an integer", "float": "a number", "str": "a text"}.get(text, text)


def _address(url: str) -> str:
    """A URL without user and password."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{host}{port}{parts.path}" if url else ""
