"""Consecutive numbers for 128-bit keys: a hash table for kernels."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.record import takes_records

_FREE = -1


@kernel(inline=True)
def find_or_add(slots, table, count, key):
    """Return the number of a key; `count` if it is new, in which case it becomes row `count` of the table.

    Args:
        slots: int32, numbers or -1; the length is a power of two, at least twice the number of keys.
        table: uint64 (rows, 2), the keys by number, with room for one more.
        count: number of keys so far.
        key: uint64 (2,), itself a hash.
    """
    last = slots.shape[0] - 1
    slot = np.int64(key[0] & np.uint64(last))
    while slots[slot] != _FREE:
        number = np.int64(slots[slot])
        if table[number, 0] == key[0] and table[number, 1] == key[1]:
            return number
        slot = (slot + 1) & last
    slots[slot] = count
    table[count, 0] = key[0]
    table[count, 1] = key[1]
    return count


@takes_records
@kernel(entry=True)
def _number_all(slots, table, count, keys, numbers):
    for k in range(keys.shape[0]):
        number = find_or_add(slots, table, count, keys[k])
        count = max(count, number + 1)
        numbers[k] = number
    return count


class Numbering:
    """Keys and their numbers."""

    def __init__(self, room: int = 1024) -> None:
        """Create a numbering without keys, with room for some."""
        self.count = 0  # number of keys
        # for kernels that call `find_or_add`; `reserve` replaces them
        self.slots, self.table = np.zeros(0, np.int32), np.zeros((0, 2), np.uint64)
        self.reserve(room)

    @property
    def keys(self) -> np.ndarray:
        """uint64 (count, 2): the keys by number."""
        return self.table[: self.count]

    @property
    def room(self) -> int:
        """The number of keys that fit."""
        return len(self.table)

    def reserve(self, room: int) -> None:
        """Make room for at least `room` keys."""
        if room <= self.room:
            return
        keys, room = self.keys, 1 << (room - 1).bit_length()
        self.slots, self.table = np.full(2 * room, _FREE, np.int32), np.zeros((room, 2), np.uint64)
        _number_all(self.slots, self.table, 0, keys, np.zeros(len(keys), np.int32))

    def number(self, keys: np.ndarray) -> np.ndarray:
        """Return the numbers, int32 (n,), of keys, uint64 (n, 2); new keys get new numbers."""
        self.reserve(self.count + len(keys))
        numbers = np.zeros(len(keys), np.int32)
        self.count = int(_number_all(self.slots, self.table, self.count, np.ascontiguousarray(keys), numbers))
        return numbers
