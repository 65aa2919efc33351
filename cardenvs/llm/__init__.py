"""Language models as players, on any OpenAI-compatible endpoint (extra `cardenvs[llm]`).

    from cardenvs.llm import LLMAgent, LLMConfig

    agent = LLMAgent(game, options, LLMConfig.named("mini"))        # from llm.yaml; or LLMConfig.from_env()

`prompt` writes what a model sees, `answers` reads what it says, `client` asks it, `agent` plays, `transcript` keeps
every call, `stub` is a server for tests. As an agent of a match it is `llm:NAME`; see docs/llm.md. To train a model,
`text_env` has an environment of texts.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cardenvs.llm.agent import LLMAgent
    from cardenvs.llm.config import LLMConfig
    from cardenvs.llm.prompt import PromptSettings
    from cardenvs.llm.text_env import TextSeatEnv

__all__ = ["LLMAgent", "LLMConfig", "PromptSettings", "TextSeatEnv"]

_MODULES = {"LLMAgent": "agent", "LLMConfig": "config", "PromptSettings": "prompt", "TextSeatEnv": "text_env"}


def __getattr__(name: str) -> Any:
    import importlib

    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
