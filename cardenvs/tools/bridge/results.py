"""Double-dummy tables written as JSONL, CSV or PBN, and shown as text."""

import csv
import io
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from cardenvs.core.files import write_whole
from cardenvs.games.bridge.bank import pack
from cardenvs.games.bridge.state import DENOMINATIONS, NUM_PLAYERS, SEATS
from cardenvs.tools.bridge.annotate import table_dict
from cardenvs.tools.bridge.boards import Board
from cardenvs.tools.bridge.deals import SUITS, deal_text, dealt_hands, hand_text, hands_of_seed
from cardenvs.tools.bridge.par import par_of
from cardenvs.tools.bridge.pbn import pbn_text

FORMS = (".jsonl", ".csv", ".pbn")
BANK_SEED = 1_000_000_000  # of the first deal of the bank of phase="auction"; the k-th has BANK_SEED + k
_NAMES = ("North", "East", "South", "West")
_ORDER = (4, 3, 2, 1, 0)  # denominations as results are printed: no-trump first


def write_tables(path: Path, boards: Sequence[Board], tables: np.ndarray) -> None:
    """Write the tables of boards, in the form that the name of the file says: .jsonl, .csv or .pbn."""
    write = {".jsonl": _jsonl, ".csv": _csv, ".pbn": _pbn}[path.suffix.lower()]
    write_whole(path, "".join(write(boards, tables)))


def _jsonl(boards: Sequence[Board], tables: np.ndarray) -> Iterator[str]:
    for board, table in zip(boards, tables, strict=True):
        s = board.state.record
        par = par_of(table, int(s.dealer), int(s.vulnerable))
        line = {
            "board": board.number,
            "dealer": SEATS[int(s.dealer)],
            "deal": deal_text(dealt_hands(board.state)),
            "tricks": table_dict(table),
            "par_NS": par.score,
        }
        yield json.dumps(line) + "\n"


def _csv(boards: Sequence[Board], tables: np.ndarray) -> Iterator[str]:
    cells = [(p, k) for p in range(NUM_PLAYERS) for k in _ORDER]
    yield ",".join(["board", "deal", *(f"{SEATS[p]}_{DENOMINATIONS[k]}" for p, k in cells)]) + "\n"
    for board, table in zip(boards, tables, strict=True):
        line = io.StringIO()
        row = [board.number, deal_text(dealt_hands(board.state)), *(int(table[k, p]) for p, k in cells)]
        csv.writer(line, lineterminator="\n").writerow(row)
        yield line.getvalue()


def _pbn(boards: Sequence[Board], tables: np.ndarray) -> Iterator[str]:
    """Yield PBN with the tag that other programs read tables from."""
    head, *parts = pbn_text(boards)
    yield head
    for part, table in zip(parts, tables, strict=True):
        yield part.rstrip("\n") + '\n[OptimumResultTable "Declarer;Denomination\\2R;Result\\2R"]\n'
        for p in range(NUM_PLAYERS):
            yield "".join(f"{SEATS[p]} {DENOMINATIONS[k]:>2} {int(table[k, p]):>2}\n" for k in _ORDER)
        yield "\n"


def table_lines(table: np.ndarray) -> list[str]:
    """Return a table as lines of text: a row for each declarer."""
    lines = ["declarer " + "".join(f"{DENOMINATIONS[k]:>4}" for k in _ORDER)]
    return lines + [f"{_NAMES[p]:<9}" + "".join(f"{int(table[k, p]):>4}" for k in _ORDER) for p in (0, 2, 1, 3)]


def diagram_lines(hands: np.ndarray) -> list[str]:
    """Return four hands as newspapers print them, at most 60 columns wide."""
    rows = [
        [f"{SEATS[p]}  {SUITS[0]} {suits[0] or '-'}"]
        + [f"   {name} {ranks or '-'}" for name, ranks in zip(SUITS[1:], suits[1:], strict=True)]
        for p, suits in ((p, hand_text(int(hands[p])).split(".")) for p in range(NUM_PLAYERS))
    ]
    north, east, south, west = rows
    middle = [f"{left:<36}{right}" for left, right in zip(west, east, strict=True)]
    return [" " * 18 + line for line in north] + middle + [" " * 18 + line for line in south]


# -- The bank of phase="auction" ----------------------------------------------------------------------------------


def bank_hands(deals: int, first: int = BANK_SEED) -> np.ndarray:
    """Return the hands of the bank, int64 (deals, 4): those that bridge_v0 deals with the seeds from `first` on."""
    return np.array([hands_of_seed(first + k) for k in range(deals)], np.int64).reshape(-1, NUM_PLAYERS)


def bank_bytes(hands: np.ndarray, tables: np.ndarray) -> bytes:
    """Return the file of solved deals that cardenvs.games.bridge.bank reads."""
    cards = np.arange(52)
    owners = ((hands[:, None, :] >> cards[None, :, None]) & 1).argmax(axis=2)
    file = io.BytesIO()
    np.save(file, pack(owners, tables), allow_pickle=False)
    return file.getvalue()
