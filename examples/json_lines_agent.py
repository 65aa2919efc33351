"""An agent that is a program: it reads JSON lines and writes JSON lines, with nothing but the standard library.

    cardenvs match leduc_poker_v0 --agents "process:python examples/json_lines_agent.py,random" --deals 20

It plays a random legal action and counts the events it has seen. cardenvs/agents/guarded/protocol.py describes the
protocol; any language will do.
"""

import json
import random
import sys


def say(message):
    """Write one message."""
    print(json.dumps(message), flush=True)


def main():
    """Answer messages until there are no more."""
    seen = 0
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello":
            say({"type": "ready", "protocol": 1, "wants": ["events"]})
        elif message["type"] == "reset":
            seen = 0
        elif message["type"] == "events":
            seen += len(message["events"])
        elif message["type"] == "act":
            chooser = random.Random(message["seed"])  # so that results repeat
            action = chooser.choice(message["legal"])
            say({"type": "action", "id": action["id"], "notes": {"seen": seen}})


if __name__ == "__main__":
    main()
