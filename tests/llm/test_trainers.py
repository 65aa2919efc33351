import subprocess
import sys

import pytest

from cardenvs.llm.trainers import as_text


@pytest.mark.parametrize(
    ("module", "needed", "extra"),
    [
        ("cardenvs.llm.trainers.gem", "gem", "gem"),
        ("cardenvs.llm.trainers.textarena", "textarena", "textarena"),
        ("cardenvs.llm.trainers.openenv", "openenv.core", "openenv"),
        ("cardenvs_verifiers", "verifiers.v1", "verifiers"),
    ],
)
def test_what_is_not_installed_is_named_with_its_extra(module, needed, extra):
    program = f"""
import sys
sys.modules[{needed.partition(".")[0]!r}] = None
import cardenvs.llm.trainers
try:
    import {module}
except ImportError as error:
    print(type(error).__name__, error)
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout == (
        f"MissingExtraError this needs {needed!r}, which is not installed; install it with: "
        f"pip install 'cardenvs[{extra}]'\n"
    )


def test_messages_as_one_text():
    messages = [
        {"role": "system", "content": "Rules.\n"},
        {"role": "user", "content": "Your turn.\n"},
        {"role": "assistant", "content": "?"},
        {"role": "user", "content": "No answer."},
    ]
    assert as_text(messages) == "Rules.\n\nYour turn.\n\nYour last reply was:\n\n?\n\nNo answer."
    assert as_text([]) == ""
