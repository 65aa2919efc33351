"""Text from strangers."""

import csv
import io
import os

import pytest

from cardenvs.core.errors import ArenaError
from cardenvs.core.text import check_name, count, csv_cell, one_line, printable, read_text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, \u00e9 \u4e16\n\tx", "plain, \u00e9 \u4e16\n\tx"),
        ("\x1b[31m\x00\x9b\r", "\\x1b[31m\\x00\\x9b\\x0d"),
        ("a\u202eb\u2066c\u200bd\ufeff", "a\\u202eb\\u2066c\\u200bd\\ufeff"),
        ("\ud800\U000e0041", "\\ud800\\U000e0041"),
        ("a\r\nb", "a\nb"),
    ],
)
def test_what_does_not_show_is_written_out(text, shown):
    assert printable(text) == shown
    assert one_line(text).isprintable()


@pytest.mark.parametrize(
    ("number", "noun", "shown"),
    [
        (0, "card", "0 cards"),
        (1, "card", "1 card"),
        (2, "bonus card", "2 bonus cards"),
        (-1, "point", "-1 point"),
        (None, "card", "? cards"),
        (1, "fish", "1 fish"),
        (2, "fish", "2 fish"),
    ],
)
def test_a_number_takes_its_noun_in_the_singular_or_plural(number, noun, shown):
    assert count(number, noun) == shown


def test_a_counted_number_may_have_a_form():
    assert count(1.0, "point", "+g") == "+1 point"
    assert count(12345, "action", ",") == "12,345 actions"


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "a\tb", "a\x7f", "a\u200f", "x" * 101, "\ud800"])
def test_names_that_do_not_show_are_refused(name):
    with pytest.raises(ArenaError, match=r"needs a name|a name has"):
        check_name(name, "an agent", ArenaError)


@pytest.mark.parametrize("cell", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "=cmd|' /C calc'!A0", "\uff1d1"])
def test_cells_are_no_formulas(cell):
    out = io.StringIO()
    csv.writer(out).writerow([csv_cell(cell), csv_cell("plain"), csv_cell(-1.5)])
    (row,) = csv.reader(io.StringIO(out.getvalue(), newline=""))
    assert row == [f"'{cell}", "plain", "-1.5"]


def test_only_regular_files_are_read(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path / "fifo", "/dev/zero", tmp_path):
        with pytest.raises(ArenaError, match="is not a regular file"):
            read_text(path, "YAML file", ArenaError, 4096)
    (tmp_path / "large").write_text("x" * 5000)
    with pytest.raises(ArenaError, match="is larger than 4 KiB"):
        read_text(tmp_path / "large", "YAML file", ArenaError, 4096)
