"""Errors of the API, as clients get them."""

from typing import Any

_KEY_OF_REASON = {
    "play_requires_five": "error.play_requires_five",
    "discard_budget_exceeded": "error.discard_budget_exceeded",
    "no_discards_remaining": "error.discard_budget_exceeded",
}
"""Reasons with a message of their own. All other errors have the message of their code."""


class ApiError(Exception):
    """An error with a status code and the object that tells a client about it."""

    def __init__(self, status: int, code: str, **params: Any) -> None:
        super().__init__(code)
        self.status, self.code, self.params = status, code, params

    def body(self) -> dict[str, Any]:
        """Return the response's body: code, key of the message, and its parameters."""
        key = _KEY_OF_REASON.get(self.params.get("reason", ""), f"error.{self.code.lower()}")
        return {"error": {"code": self.code, "message_key": key, "params": self.params}}


def invalid_action(reason: str) -> ApiError:
    """An action that the rules refuse; nothing has changed."""
    return ApiError(422, "INVALID_ACTION", reason=reason)
