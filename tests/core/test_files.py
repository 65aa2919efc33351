"""Files are written whole or not at all."""

import pytest

from cardenvs.core.files import write_whole


def test_text_and_bytes_are_written_and_replaced(tmp_path):
    write_whole(tmp_path / "a", "Zoë\n")
    assert (tmp_path / "a").read_bytes() == b"Zo\xc3\xab\n"
    write_whole(tmp_path / "a", b"\xff")
    assert (tmp_path / "a").read_bytes() == b"\xff"


def test_a_failed_write_leaves_the_old_file_and_no_part(tmp_path):
    write_whole(tmp_path / "a", "old")
    with pytest.raises(UnicodeEncodeError):
        write_whole(tmp_path / "a", "new \ud800")
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError):
        write_whole(tmp_path / "folder", "text")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "folder"]
    assert (tmp_path / "a").read_text() == "old"
