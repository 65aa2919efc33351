"""What all tests share: one compile cache, the registered games, and the choice of tests in selection.py."""

import os
import random
import shutil
import signal
from collections import Counter

import pytest
import selection

import cardenvs
from cardenvs.core.cache import cache_folder

# Named here so that processes that tests start with another home find it too.
os.environ.setdefault("CARDENVS_CACHE_DIR", str(cache_folder()))


# A job in the background ignores Ctrl-C, and so would the processes that tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure(config):
    """Fix the sample in the environment, which the workers inherit. What is named on the command line runs whole."""
    whole = config.args_source is pytest.Config.ArgsSource.ARGS
    os.environ.setdefault("CARDENVS_SAMPLE", "all" if whole else selection.commit_or_date())


def pytest_sessionstart(session):
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")  # workers have none
    if reporter and os.environ["CARDENVS_SAMPLE"] != "all":
        games = sorted(selection.changed_games(selection.changed_files()))
        reporter.write_line(
            f"rotating tests: CARDENVS_SAMPLE={os.environ['CARDENVS_SAMPLE']}, changed games: {', '.join(games) or '-'}"
        )


@pytest.hookimpl(tryfirst=True)  # before -m chooses
def pytest_collection_modifyitems(config, items):
    for item in items:
        if "browser" in item.fixturenames:
            item.add_marker("programs")
    seed, changed = os.environ["CARDENVS_SAMPLE"], selection.changed_files()
    taken = [item for item in items if selection.is_taken(item, seed, changed)]
    kept = set(taken)
    if len(kept) < len(items):
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    if hasattr(config, "workerinput"):
        taken.sort(key=lambda item: selection.longest_first(item.nodeid))
    items[:] = taken


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter):
    """Say in one line what was skipped because something is not installed, and how to install it."""
    wanted = Counter(filter(None, (selection.missing(report) for report in terminalreporter.getreports("skipped"))))
    if wanted:
        parts = ", ".join(f"{count} {remedy}" for remedy, count in sorted(wanted.items()))
        terminalreporter.write_line(f"skipped: {parts}")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    return selection.scheduler(config, log) if config.getvalue("dist") == "load" else None  # the default with -n


@pytest.fixture(scope="module")
def browser():
    """Chromium; without it the test is skipped."""
    playwright = pytest.importorskip("playwright.sync_api")
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("there is no Chromium")
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(params=cardenvs.list_games())
def every_game(request):
    """Each registered game in turn."""
    return cardenvs.get_game(request.param)


class _Drawn:
    """In place of `secrets`: what a test draws is the same in every run, so that it cannot fail in one of a hundred."""

    def __init__(self, test: str) -> None:
        self._generator = random.Random(test)

    def randbits(self, bits: int) -> int:
        return self._generator.getrandbits(bits)

    def token_hex(self, length: int) -> str:
        return f"{self._generator.getrandbits(8 * length):0{2 * length}x}"


@pytest.fixture(autouse=True)
def secrets_that_repeat(request, monkeypatch):
    """Secrets of matches and keys of guests are drawn from the test's name."""
    monkeypatch.setattr("cardenvs.agents.seeds.secrets", _Drawn(request.node.nodeid))
