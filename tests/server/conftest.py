"""Fixtures of the tests of the server: secrets that repeat."""

import itertools
import secrets
import time

import pytest


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
