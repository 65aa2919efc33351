"""Tests of data that kernels share without a copy in their code."""

import os
import subprocess
import sys

import numpy as np
import pytest

from cardenvs.core.kernel import kernel
from cardenvs.core.shared_data import shared_bytes, shared_words

BYTE_AT, NUM_BYTES = shared_bytes("test", np.arange(250, dtype=np.uint8).reshape(25, 10))


WORD_AT, NUM_WORDS = shared_words("test_words", np.array([-(2**62), 5, 2**62 - 1]))


@kernel
def sum_of_words():
    """Return the sum of all words."""
    total = np.int64(0)
    for k in range(NUM_WORDS()):
        total += WORD_AT(k)
    return total


@kernel
def sum_of_all():
    """Return the sum of all bytes."""
    total = 0
    for k in range(NUM_BYTES()):
        total += BYTE_AT(k)
    return total


def test_kernels_read_every_byte():
    assert sum_of_all() == sum(range(250))


def test_kernels_read_every_word():
    assert sum_of_words() == 4


def test_a_name_is_used_once():
    with pytest.raises(ValueError, match="already shared data with the name 'test'"):
        shared_bytes("test", np.zeros(3, np.uint8))


PROGRAM = """
import sys
import numpy as np
from cardenvs.core.kernel import kernel
from cardenvs.core.shared_data import shared_bytes

byte_at, num_bytes = shared_bytes("other", np.full(int(sys.argv[1]), 200, np.uint8))

@kernel(entry=True)
def last():
    return 1000 * num_bytes() + byte_at(num_bytes() - 1)

print(last())
"""


@pytest.mark.parametrize("compiles", ["1", "0"])
def test_saved_code_reads_the_data_of_its_process(tmp_path, compiles):
    """The second process loads the code of the first, and has more data at another address."""
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    env = os.environ | {
        "CARDENVS_CACHE_DIR": str(tmp_path / "cache"),
        "CARDENVS_COMPILE": compiles,
        "CARDENVS_QUIET": "0",
    }
    said = []
    for size in (10, 5000):
        done = subprocess.run(
            [sys.executable, str(path), str(size)], env=env, capture_output=True, text=True, check=True
        )
        assert int(done.stdout) == 1000 * size + 200
        said.append("compiling" in done.stderr)
    assert said == [compiles == "1", False]
