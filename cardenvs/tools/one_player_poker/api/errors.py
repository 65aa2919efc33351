"""Errors of the API."""

from typing import Any

_KEY_OF_REASON = {
    "play_requires_five": "error.play_requires_five",
    "discard_budget_exceeded": "error.discard_budget_exceeded",
    "no_discards_remaining": "error.discard_budget_exceeded",
}
"""Reasons with message keys of their own. The keys of other errors follow from their codes."""


class ApiError(Exception):
    """An error response."""

    def __init__(self, status: int, code: str, **params: Any) -> None:
        super().__init__(code)
        self.status = status  # HTTP status
        self.code = code  # error code
        self.params = params  # details for the client

    def body(self) -> dict[str, Any]:
        """Return the body of the response: code, message key and parameters."""
        key = _KEY_OF_REASON.get(self.params.get("reason", ""), f"error.{self.code.lower()}")
        return {"error": {"code": self.code, "message_key": key, "params": self.params}}


def invalid_action(reason: str) -> ApiError:
    """Return the error for an illegal action."""
    return ApiError(422, "INVALID_ACTION", reason=reason)
