"""Errors of the API, as clients get them."""

from typing import Any


class ApiError(Exception):
    """An error with a status code and the object that tells a client about it."""

    def __init__(self, status: int, code: str, **params: Any) -> None:
        super().__init__(code)
        self.status, self.code, self.params = status, code, params

    def body(self) -> dict[str, Any]:
        """Return the response's body: code, key of the message, and its parameters."""
        key = f"error.{self.code.lower()}"
        return {"error": {"code": self.code, "message_key": key, "params": self.params}}


def invalid_action(reason: str) -> ApiError:
    """An action that the rules refuse; nothing has changed."""
    return ApiError(422, "INVALID_ACTION", reason=reason)
