"""Programs that break the protocol of JSON lines in every way: `python faulty_programs.py NAME`."""

import json
import os
import signal
import sys
import time

READY = '{"type": "ready", "protocol": 1, "wants": []}\n'
ANSWERS = {  # what is said when asked to act
    "no_json": "hello\n",
    "empty_line": "\n",
    "null": "null\n",
    "number": "7\n",
    "list": "[]\n",
    "no_type": '{"id": 0}\n',
    "type_no_text": '{"type": 7, "id": 0}\n',
    "other_type": '{"type": "ready", "protocol": 1}\n',
    "no_id": '{"type": "action"}\n',
    "id_text": '{"type": "action", "id": "0"}\n',
    "id_null": '{"type": "action", "id": null}\n',
    "id_float": '{"type": "action", "id": 0.5}\n',
    "id_true": '{"type": "action", "id": true}\n',
    "id_nan": '{"type": "action", "id": NaN}\n',
    "id_large": '{"type": "action", "id": ' + "9" * 4000 + "}\n",
    "id_too_large": '{"type": "action", "id": ' + "9" * 6000 + "}\n",
    "id_forfeit": '{"type": "action", "id": 1073741825}\n',
    "id_list": '{"type": "action", "id": [0]}\n',
    "label_unknown": '{"type": "action", "label": "castle"}\n',
    "label_object": '{"type": "action", "label": {}}\n',
    "label_long": '{"type": "action", "label": "' + "x" * 1_000_000 + '"}\n',
    "deep": "[" * 100_000 + "\n",
    "deep_object": '{"type": "action", "id": 0, "notes": ' + '{"a":' * 50_000 + "1" + "}" * 50_000 + "}\n",
    "failure": '{"type": "failure"}\n',
    "failure_odd": '{"type": "failure", "kind": [1], "message": {"a": 1}, "final": "yes"}\n',
    "failure_long": '{"type": "failure", "kind": "' + "k" * 100_000 + '", "message": "' + "m" * 100_000 + '"}\n',
    "failure_escapes": '{"type": "failure", "kind": "\\u001b[2J", "message": "\\u202e\\ud800"}\n',
    "half": '{"type": "action", ',
    "twice": '{"type": "action", "id": 0}\n{"type": "action", "id": 0}\n',
    "no_utf8": b"\xff\xfe\n",
    "zeros": bytes(1000) + b"\n",
    "too_long": b"x" * (6 << 20),
    "notes_odd": '{"type": "action", "id": 0, "notes": [1], "failures": 7}\n',
    "failures_odd": '{"type": "action", "id": 0, "failures": [1, {"kind": {}}, null]}\n',
}
GREETINGS = {  # what is said at the start instead of READY
    "no_greeting": "",
    "wrong_protocol": '{"type": "ready", "protocol": 2}\n',
    "wants_odd": '{"type": "ready", "protocol": 1, "wants": {"view": 1}}\n',
    "wants_unknown": '{"type": "ready", "protocol": 1, "wants": ["state"]}\n',
    "greets_with_failure": '{"type": "failure", "message": "no"}\n',
    "greets_with_text": "Welcome!\n",
}
BEHAVIOURS = ("ends", "closes", "endless", "silent", "deaf", "talks_unasked", "stops", "slow_bytes", "ends_at_reset")
NAMES = (*ANSWERS, *GREETINGS, *BEHAVIOURS)


def say(text):
    """Write all of it."""
    data = text if isinstance(text, bytes) else text.encode(errors="surrogatepass")
    while data:
        data = data[os.write(1, data) :]


def act(name):
    """Answer a question."""
    if name in ANSWERS:
        say(ANSWERS[name])
    elif name == "ends":
        sys.exit(5)
    elif name == "closes":
        os.close(1)
        time.sleep(3600)
    elif name == "endless":
        while True:
            say("x" * 100_000)
    elif name == "stops":
        os.kill(os.getpid(), signal.SIGSTOP)
    elif name == "slow_bytes":
        while True:
            say(" ")
            time.sleep(0.1)


def main(name):
    """Play, after a fashion."""
    sys.stdin.readline()
    say(GREETINGS.get(name, READY))
    if name == "deaf":
        time.sleep(3600)
    for line in sys.stdin:
        kind = json.loads(line)["type"]
        if kind == "reset" and name == "ends_at_reset":
            return
        if kind == "reset" and name == "talks_unasked":
            say('{"type": "action", "id": 0}\n' * 3)
        if kind == "act":
            act(name)


if __name__ == "__main__":
    main(sys.argv[1])
