"""`cardenvs doctor`: what it finds in installations that are sound, incomplete or broken."""

import json
from importlib import metadata

import pytest
from typer.testing import CliRunner

from cardenvs.cli import app


def report_of(*words):
    """(the report, the exit code)."""
    result = CliRunner().invoke(app, ["doctor", "--json", *words])
    return json.loads(result.stdout), result.exit_code


@pytest.fixture
def versions(monkeypatch):
    """Versions to pretend: name -> version, or None for a package that is missing."""
    pretended = {}
    true_version = metadata.version

    def version(name):
        if pretended.get(name, "") is None:
            raise metadata.PackageNotFoundError(name)
        return pretended.get(name) or true_version(name)

    monkeypatch.setattr(metadata, "version", version)
    return pretended


def row(report, section, what):
    return next(one for one in report[section] if one["what"] == what)


def test_a_sound_installation_exits_with_0():
    report, code = report_of()
    assert code == 0
    assert not any(one["is_problem"] for found in report.values() for one in found)
    assert row(report, "Core", "numba")["state"] == metadata.version("numba")


def test_an_old_core_package_is_a_problem_with_the_line_that_cures_it(versions):
    versions["numba"] = "0.50.0"
    report, code = report_of()
    found = row(report, "Core", "numba")
    assert code == 1
    assert found["is_problem"]
    assert found["state"] == "0.50.0"
    assert found["advice"].startswith('pip install "numba>=')


def test_an_extra_that_is_not_installed_is_advice_and_no_problem(versions):
    versions["torch"] = None
    report, code = report_of()
    found = row(report, "Extras", "train")
    assert code == 0
    assert "torch" in found["state"]
    assert "found nothing" in found["state"]
    assert found["advice"] == 'pip install "cardenvs[train]"'


def test_packages_that_clash_are_named_with_what_they_want(monkeypatch):
    class Other:
        metadata = {"Name": "otherlib"}  # noqa: RUF012 - as importlib.metadata has it
        requires = ("numpy<1", "numpy>=99; extra == 'new'", "not a requirement !", "unknownlib>=1")

    true_distributions = list(metadata.distributions())
    monkeypatch.setattr(metadata, "distributions", lambda: [*true_distributions, Other()])
    report, code = report_of()
    found = [one for one in report["Packages that do not fit together"] if one["what"] == "otherlib"]
    assert [one["state"] for one in found] == [f"needs numpy<1, found {metadata.version('numpy')}"]
    assert "environment of its own" in found[0]["advice"]
    assert code == 0


def test_a_cache_nobody_can_write_is_a_problem(tmp_path, monkeypatch):
    from cardenvs.core import cache

    monkeypatch.setattr(cache, "trusted_folder", lambda: None)
    report, code = report_of()
    assert code == 1
    assert "CARDENVS_CACHE_DIR" in row(report, "Compiled code", "cache")["advice"]


def test_spinning_threads_are_advised_against(monkeypatch):
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    report, _ = report_of()
    assert "OMP_WAIT_POLICY=PASSIVE" in row(report, "Machine", "threads")["advice"]
    monkeypatch.setenv("OMP_WAIT_POLICY", "PASSIVE")
    report, _ = report_of()
    assert row(report, "Machine", "threads")["advice"] == ""


def test_the_table_says_the_same_in_words():
    result = CliRunner().invoke(app, ["doctor"])
    assert result.exit_code == 0
    for words in ("Core", "Extras", "Machine", "numba", metadata.version("numba")):
        assert words in result.stdout
