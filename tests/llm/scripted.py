"""A scripted model for the tests of what trains models: its reply is a function of the messages, and repeats."""

import random
import re
import zlib

BAD = ("", "I fold.", '<answer>{"id":"c999"}</answer>', '<answer>{"id":"c0","id":"c1"}</answer>')


def choices(messages):
    """The ids of the candidates that a prompt lists."""
    user = next(message["content"] for message in messages if message["role"] == "user")
    return re.findall(r"^(c\d+): ", user.partition("# Candidates")[2], re.MULTILINE)


def good(messages):
    """A valid answer, always the same to the same messages."""
    rng = random.Random(zlib.crc32(repr(messages).encode()))
    return f'I think so.\n<answer>{{"id":"{rng.choice(choices(messages))}"}}</answer>'


def fallible(messages):
    """Like `good`, but one reply in four is unusable."""
    rng = random.Random(zlib.crc32(repr(messages).encode()) + 1)
    return rng.choice(BAD) if rng.random() < 0.25 else good(messages)


def play(env, model, **reset):
    """Play an episode of a TextSeatEnv.

    Returns:
        all messages, the rewards, and the infos, that of `reset` first.
    """
    messages, info = env.reset(**reset)
    asked, rewards, infos, over = [], [], [info], False
    while not over:
        asked.append(messages)
        messages, reward, terminated, truncated, info = env.step(model(messages))
        rewards.append(reward)
        infos.append(info)
        over = terminated or truncated
    return asked, rewards, infos
