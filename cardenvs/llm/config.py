"""Settings of a language model as a player, from a YAML file or from environment variables.

    # endpoints are OpenAI-compatible

        models:
          mini:
            base_url: https://llm.example.org/v1
            api_key_env: EXAMPLE_KEY        # the variable that holds the key; config files may not hold keys
            model: some-model-mini
            temperature: 0
            turn_timeout_ms: 30000
            prompt: {rules: true, recap: 40, thinking: false}

Variables: LLM_BASE_URL, LLM_API_KEY, LLM_MODEL, LLM_TEMPERATURE, LLM_TURN_TIMEOUT_MS, LLM_MAX_TOKENS, LLM_CONCURRENCY,
LLM_POLICY_MODE ("llm" or "first_candidate"), LLM_TRANSCRIPT. They supply what a file leaves out.
"""

import base64
import dataclasses
import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import unquote, urlsplit, urlunsplit

from cardenvs.core.errors import AgentError, require
from cardenvs.core.text import check_name, read_yaml
from cardenvs.core.validation import validation_text
from cardenvs.llm.dialogue import default_attempts, forced_by_default
from cardenvs.llm.prompt import PromptSettings

require("pydantic", "llm")
from pydantic import (  # noqa: E402
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    ValidationError,
    field_validator,
    model_validator,
)

CONFIG_VARIABLE = "CARDENVS_LLM_CONFIG"
CONFIG_FILE = "llm.yaml"
DEFAULT_TURN_TIMEOUT_MS = 10_000
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
_PROMPT_SETTINGS = [field.name for field in dataclasses.fields(PromptSettings)]


class Secret:
    """A key that only `reveal` shows; pickled empty."""

    __slots__ = ("_value",)

    def __init__(self, value: str = "") -> None:
        self._value = value

    def reveal(self) -> str:
        """Return the key."""
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

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return Secret, ()


def _none(value: Any) -> Any:
    """Return None for the texts that stand for it in specs and environment variables."""
    return None if isinstance(value, str) and value.strip().lower() in ("none", "null", "") else value


def _number(value: Any) -> Any:
    if isinstance(value, bool):  # which pydantic would take for 0 or 1
        raise ValueError(f"Input should be a number (got {value})")
    return _none(value)


def _plain_name(name: str) -> str:
    try:
        return check_name(name, "a language model", AgentError)
    except AgentError as error:
        raise ValueError(str(error)) from None


def _listed(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


Int = Annotated[int, BeforeValidator(_number)]
OptionalInt = Annotated[int | None, BeforeValidator(_number)]
Float = Annotated[float, BeforeValidator(_number)]
OptionalFloat = Annotated[float | None, BeforeValidator(_number)]


class LLMConfig(BaseModel):
    """A language model as a player.

    Attributes:
        name: for people.
        policy: "llm"; or, to test without a model, "first_candidate" or "scripted", which read their answers in the
            same way.
        base_url: of an OpenAI-compatible endpoint, usually ending in /v1. A user and password in it become
            `credentials`.
        model: the endpoint's name for the model.
        api_key_env: the environment variable that holds the key.
        temperature: None leaves it to the endpoint.
        turn_timeout_ms: for all requests of one decision, without the time spent waiting for a place in the pool or
            for a rate limit to pass; 0 or less: no limit.
        request_timeout_ms: for one request; None: as for the turn.
        max_tokens: of a reply; None leaves it to the endpoint.
        max_tokens_name: the endpoint's name for it: "max_tokens" or "max_completion_tokens".
        concurrency: requests in flight, of all agents in this process that share the endpoint.
        attempts: tries at a decision; None: 3, or 2 with answers in the game's own form.
        forced: after the last attempt: True plays the game's safe action; False leaves it to how the match treats
            failures; None: True with answers in the game's own form.
        transport_retries: further requests after one that did not get through.
        rate_limit_wait_s: most seconds that one attempt waits for rate limits to pass.
        extra: further members of each request.
        script: answers of the "scripted" policy, used in turn and then again from the start.
        prompt: what the model sees.
        transcript: file to which each call is added, or None.

    Raises:
        pydantic.ValidationError: an unknown setting or an invalid value; `of` and `named` raise AgentError instead.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, coerce_numbers_to_str=True)

    name: Annotated[str, AfterValidator(_plain_name)] = "llm"
    policy: Literal["llm", "first_candidate", "scripted"] = "llm"
    base_url: str = ""
    model: str = ""
    api_key_env: str = KEY_VARIABLE
    temperature: OptionalFloat = 0.0
    turn_timeout_ms: Int = DEFAULT_TURN_TIMEOUT_MS
    request_timeout_ms: OptionalInt = None
    max_tokens: OptionalInt = Field(default=2048, ge=1)
    max_tokens_name: str = "max_tokens"
    concurrency: Int = Field(default=16, ge=1)
    attempts: OptionalInt = Field(default=None, ge=1)
    forced: Annotated[bool | None, BeforeValidator(_none)] = None
    transport_retries: Int = Field(default=2, ge=0)
    rate_limit_wait_s: Float = Field(default=120.0, ge=0)
    extra: dict[str, Any] = {}
    script: Annotated[tuple[str, ...], BeforeValidator(_listed)] = ()
    prompt: PromptSettings = PromptSettings()
    transcript: Annotated[str | None, BeforeValidator(_none)] = None

    _api_key: Secret = PrivateAttr(default_factory=Secret)
    _credentials: Secret = PrivateAttr(default_factory=Secret)

    @field_validator("policy", mode="before")
    @classmethod
    def _camel_case(cls, value: Any) -> Any:
        return "first_candidate" if value == "firstCandidate" else value

    @field_validator("prompt", mode="before")
    @classmethod
    def _optional_recap(cls, value: Any) -> Any:
        if not isinstance(value, Mapping) or "recap" not in value:
            return value
        if isinstance(value["recap"], bool):
            raise ValueError(f"recap is a number of sentences, or null for all (got {value['recap']})")
        return {**value, "recap": _none(value["recap"])}

    @model_validator(mode="after")
    def _playable(self) -> Self:
        self._hide_credentials()
        if self.policy == "llm" and not (self.base_url and self.model):
            raise ValueError(
                "a language model needs a base_url and a model: set LLM_BASE_URL and LLM_MODEL, or name them in a file"
            )
        if self.policy == "scripted" and not self.script:
            raise ValueError("a scripted policy needs a script: a list of answers")
        return self

    def _hide_credentials(self) -> None:
        """Move user and password out of the address."""
        try:
            parts = urlsplit(self.base_url)
            userinfo, at, host = parts.netloc.rpartition("@")
            parts.port  # noqa: B018  raises ValueError if invalid
        except ValueError:  # whose text may quote the password
            raise ValueError("base_url is not a valid address") from None
        if self.policy == "llm" and self.base_url and parts.scheme not in ("http", "https"):
            raise ValueError("base_url is an address that begins with http:// or https://")
        if at:
            object.__setattr__(self, "base_url", urlunsplit(parts._replace(netloc=host)))
            self._credentials = Secret(userinfo)

    @property
    def api_key(self) -> Secret:
        """The key; never shown, stored or pickled."""
        return self._api_key

    @property
    def credentials(self) -> Secret:
        """User and password from the address; never shown, stored or pickled."""
        return self._credentials

    def __repr_args__(self) -> Iterable[tuple[str | None, Any]]:
        """Return the conditions, without anything that opens the endpoint: neither key, credentials nor query."""
        return {"name": self.name, **self.conditions()}.items()

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must not be shown: the key, the password and the query of the address, and how they are sent."""
        found = [self.api_key.reveal(), urlsplit(self.base_url).query]
        userinfo = self.credentials.reveal()
        if userinfo:
            password = unquote(userinfo.partition(":")[2])
            found += [userinfo, password, base64.b64encode(unquote(userinfo).encode()).decode()]
        return tuple(dict.fromkeys(secret for secret in found if secret))

    # -- making one ---------------------------------------------------------------------------------------------

    @classmethod
    def from_env(cls, environ: Mapping[str, str] | None = None, **changes: Any) -> "LLMConfig":
        """Return the model that the environment names.

        Raises:
            AgentError: something needed is missing, or a value cannot be read.
        """
        return cls.of(changes, environ)

    @classmethod
    def named(
        cls, name: str, path: str | Path | None = None, environ: Mapping[str, str] | None = None, **changes: Any
    ) -> "LLMConfig":
        """Return a model of a configuration file.

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
            raise AgentError(f"{file}: models.{name} should be a mapping of settings, as in model: some-model")
        return cls.of({"name": name, **values, **changes}, environ, f"{file}: models.{name}")

    @classmethod
    def of(
        cls, values: Mapping[str, Any], environ: Mapping[str, str] | None = None, where: str = "language model"
    ) -> "LLMConfig":
        """Return a config from the values of a file; the environment supplies what they leave out.

        Settings of the prompt may be under `prompt` or beside the others. `where` names the source in errors.

        Raises:
            AgentError: an unknown name or an invalid value.
        """
        environ = os.environ if environ is None else environ
        given = dict(values)
        if "api_key" in given:
            raise AgentError(f"{where}: config files may not hold keys; set api_key_env to the variable that holds it")
        for name, variable in _ENV.items():
            if name not in given and environ.get(variable):
                given[name] = environ[variable]
        prompt = {name: given.pop(name) for name in _PROMPT_SETTINGS if name in given}
        if prompt and isinstance(given.get("prompt", {}), Mapping):
            given["prompt"] = {**given.get("prompt", {}), **prompt}
        try:
            config = cls.model_validate(given)
        except ValidationError as error:
            raise AgentError(validation_text(error, cls, where)) from None
        except AgentError as error:  # of PromptSettings
            raise AgentError(f"{where}: {error}") from None
        config._api_key = Secret(environ.get(config.api_key_env, "").strip())
        return config

    # -- what follows from it -----------------------------------------------------------------------------------

    @property
    def most_attempts(self) -> int:
        """Most tries at a decision."""
        if self.attempts is not None:
            return self.attempts
        return default_attempts(self.prompt.answer)

    @property
    def asks_for_forced(self) -> bool:
        """Whether the game's safe action follows the last attempt."""
        return forced_by_default(self.prompt.answer) if self.forced is None else self.forced

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
        """Everything that may affect the result, as JSON values, without key and credentials."""
        values = self.model_dump(exclude={"api_key_env", "transcript", "name"})
        values["script"] = list(values["script"])
        values["base_url"] = _address(self.base_url)
        values["attempts"], values["forced"] = self.most_attempts, self.asks_for_forced
        return values

    def fingerprint(self) -> str:
        """Return a hash of the conditions."""
        text = json.dumps(self.conditions(), sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def _models(file: Path) -> dict[str, Any]:
    content = read_yaml(file, "llm", AgentError)
    if not isinstance(content, dict) or not isinstance(content.get("models"), dict):
        raise AgentError(f"{file} has no models: it needs a mapping `models` from names to settings")
    return content["models"]


def _address(url: str) -> str:
    """Return a URL without user and password."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{host}{port}{parts.path}" if url else ""
