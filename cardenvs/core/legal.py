"""Kernels on legal actions that do not depend on the game: draw one, check a choice, write a mask."""

import numpy as np

from cardenvs.core.codes import HOLD
from cardenvs.core.kernel import kernel
from cardenvs.core.record import takes_records
from cardenvs.core.rng import mix64

WIDE = 1 << 14
"""Number of actions from which a step changes the masks of a batch only at the ids of the old and the new lists."""

LONG = 8
"""Number of actions in a row from which a batch writes them as a range; one by one is faster for fewer."""

SHORT = 8
"""Number of actions up to which a batch writes a mask entry by entry, which is then faster than to clear it first."""

_U1, _U32, _ALL = np.uint64(1), np.uint64(32), np.uint64(2**64 - 1)


@takes_records
@kernel(entry=True)
def sample_legal(legal, num_legal, seed, step, first, out):
    """Write a random legal action of each environment i to `out`, uniform, by (seed, step, first + i) only."""
    base = mix64(np.uint64(seed) + mix64(np.uint64(step)))
    for i in range(out.shape[0]):
        word = mix64(base + np.uint64(first + i)) >> _U32
        out[i] = legal[i, np.int64((word * np.uint64(num_legal[i])) >> _U32)]


@takes_records
@kernel(entry=True)
def sample_legal_or_amount(legal, num_legal, amounts, zero, seed, step, first, out):
    """Like `sample_legal`, with every legal amount as likely as every listed action; zero + a is the id of amount a."""
    base = mix64(np.uint64(seed) + mix64(np.uint64(step)))
    for i in range(out.shape[0]):
        n, low = np.int64(num_legal[i]), np.int64(amounts[i, 0])
        word = mix64(base + np.uint64(first + i)) >> _U32
        choice = np.int64((word * np.uint64(n + amounts[i, 1] - low + 1)) >> _U32)
        out[i] = legal[i, choice] if choice < n else zero + low + choice - n


@kernel(inline=True)
def write_bits(legal, n, words):
    """Set the bits at the ids legal[0:n], which ascend, in `words`, uint64, and clear the others."""
    word, w = np.uint64(0), 0
    for k in range(n):
        action = np.int64(legal[k])
        while w < action >> 6:
            words[w] = word
            word = np.uint64(0)
            w += 1
        word |= _U1 << np.uint64(action & 63)
    while w < words.shape[0]:
        words[w] = word
        word = np.uint64(0)
        w += 1


@kernel(inline=True)
def write_both(legal, n, words, mask):
    """Write the ids legal[0:n] as bits and as a mask, of at most SHORT entries."""
    word = np.uint64(0)
    for k in range(n):
        word |= _U1 << np.uint64(legal[np.uint64(k)])
    words[0] = word
    for action in range(mask.shape[0]):
        mask[np.uint64(action)] = word >> np.uint64(action) & _U1


@kernel(inline=True)
def write_range(first, n, words):
    """Set the bits first..first + n - 1 in `words`, uint64, and clear the others."""
    for w in range(words.shape[0]):
        words[w] = _bits_below(first + n - 64 * w) ^ _bits_below(first - 64 * w)


@kernel(inline=True)
def _bits_below(n):
    """Return a word with the bits below n; n may be negative or more than 64."""
    return _ALL if n >= 64 else (_U1 << np.uint64(max(n, 0))) - _U1


@kernel(inline=True)
def add_bits(legal, n, words):
    """Set the bits at the ids legal[0:n] in `words`, uint64, and leave the others."""
    for k in range(n):
        action = np.int64(legal[k])
        words[action >> 6] |= _U1 << np.uint64(action & 63)


@kernel(inline=True)
def undo_bits(legal, n, words):
    """Clear the bits at the ids legal[0:n], which are all that are set, in `words`, uint64."""
    for k in range(n):
        words[np.int64(legal[k]) >> 6] = np.uint64(0)


@kernel(inline=True)
def undo_mask(legal, n, mask):
    """Set `mask` to 0 at the ids legal[0:n]."""
    for k in range(n):
        mask[np.uint64(legal[k])] = 0


@kernel(entry=True)
def write_mask(legal, n, mask):
    """Set `mask` to 1 at the ids legal[0:n] and to 0 elsewhere."""
    mask[:] = 0
    for k in range(n):
        mask[legal[k]] = 1


@kernel(entry=True)
def first_illegal(actions, bits, num_actions):
    """Return the first i whose action is neither HOLD nor among the legal bits, or -1."""
    for i in range(actions.shape[0]):
        action = np.int64(actions[i])
        if action == HOLD:
            continue
        if action < 0 or action >= num_actions:
            return i
        if not (bits[i, action >> 6] >> np.uint64(action & 63)) & _U1:
            return i
    return -1


@kernel(entry=True)
def first_illegal_or_amount(actions, bits, amounts, zero):
    """Like `first_illegal`; ids above `zero` are amounts, legal within the bounds `amounts`."""
    for i in range(actions.shape[0]):
        action = np.int64(actions[i])
        if action == HOLD:
            continue
        if action > zero:
            if not amounts[i, 0] <= action - zero <= amounts[i, 1]:
                return i
        elif action < 0 or not (bits[i, action >> 6] >> np.uint64(action & 63)) & _U1:
            return i
    return -1
