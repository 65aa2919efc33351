"""Fixtures of the tests of the server: a browser, and secrets that repeat."""

import itertools
import os
import secrets
import shutil
import time

import pytest

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.fixture(scope="module")
def browser():
    """Chromium; without it the test is skipped."""
    playwright = pytest.importorskip("playwright.sync_api")
    if CHROMIUM is None:
        pytest.skip("there is no Chromium")
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def same_secrets(monkeypatch):
    """Links and keys that repeat, so that only the worlds differ."""

    def begin():
        numbers = itertools.count()
        monkeypatch.setattr(secrets, "token_urlsafe", lambda n: f"link-{next(numbers)}")
        monkeypatch.setattr(secrets, "token_bytes", lambda n: bytes(n))
        monkeypatch.setattr(secrets, "randbits", lambda n: 5)
        monkeypatch.setattr(time, "time", lambda: 1e9)

    return begin
