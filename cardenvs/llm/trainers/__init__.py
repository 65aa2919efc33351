"""The games as environments of libraries that train language models; see docs/llm-training.md.

Each module needs the extra of cardenvs that has its name:

    gem        CardEnv, a gem.Env
    textarena  CardEnv, a textarena.Env in which every player is a model
    openenv    CardEnvironment for an OpenEnv server, its action and observation, and a client

The taskset for verifiers is the package `cardenvs_verifiers`, because verifiers finds tasksets by the names of
top-level packages. All ask what matches ask, and read replies by the same code.
"""

from cardenvs.llm.text_player import Messages


def as_text(messages: Messages) -> str:
    """Return chat messages as one text, for interfaces that know no roles.

    A prompt is its system and its user message. In another attempt, the last reply and what was wrong with it follow.
    """
    parts = [
        f"Your last reply was:\n\n{message['content']}" if message["role"] == "assistant" else message["content"]
        for message in messages
    ]
    return "\n\n".join(part.strip() for part in parts)
