"""Settings of pydantic models, and texts for their errors. pydantic, an extra, is imported when it is needed."""

import dataclasses
from typing import TYPE_CHECKING, Any, get_args

from cardenvs.core.text import did_you_mean, one_line

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError

_UNKNOWN = ("extra_forbidden", "unexpected_keyword_argument")
_WITHOUT_INPUT = ("missing", "value_error")
_MESSAGES = {  # for errors where pydantic's own message names Python types
    "dict_type": "Input should be a mapping",
    "dataclass_type": "Input should be a mapping",
    "tuple_type": "Input should be a list",
    "too_short": "List should have at least {min_length} item(s)",
}


def setting(default: Any, description: str, **bounds: Any) -> Any:
    """Return a pydantic field with a default, a description and bounds, as for `pydantic.Field`."""
    from pydantic import Field

    return Field(default, description=description, **bounds)


def validation_text(error: "ValidationError", model: "type[BaseModel]", where: str) -> str:
    """Return one printable line with the file, the invalid fields, what each takes and what it got.

    `model` raised the error; its nested sections may be models or dataclasses. `where` names the source of the values.
    """
    findings = error.errors(include_url=False)
    places = [finding["loc"] for finding in findings]
    return f"{where}: " + "; ".join(
        _finding_text(finding, model) for finding in findings if not _is_above_another(finding["loc"], places)
    )


def _is_above_another(place: tuple[Any, ...], places: list[tuple[Any, ...]]) -> bool:
    """Return whether an entry of what is there failed as well: pydantic may then find a list too short."""
    return bool(place) and any(len(other) > len(place) and other[: len(place)] == place for other in places)


def _finding_text(finding: Any, model: type) -> str:
    place = one_line(".".join(map(str, finding["loc"])), 80)
    if finding["type"] in _UNKNOWN:
        known = _settings_at(model, finding["loc"][:-1])
        hint = did_you_mean(finding["loc"][-1], known)
        return f"{place}: there is no such setting; {hint}settings are: {', '.join(known)}"
    what = _MESSAGES.get(finding["type"], finding["msg"].removeprefix("Value error, "))
    if finding["type"] in _MESSAGES:
        what = what.format(**finding.get("ctx", {}))
    if finding["type"] not in _WITHOUT_INPUT:
        what += f" (got {_shown(finding['input'])})"
    return f"{place}: {what}" if place else what


def _shown(value: Any) -> str:
    try:
        return one_line(repr(value), 80)
    except ValueError:  # an integer too long for Python to print
        return f"a very long {type(value).__name__}"


def _settings_at(model: type, place: tuple[Any, ...]) -> list[str]:
    """Return the names of the settings in the section at `place`."""
    for part in place:
        annotations = _annotations(model)
        if part in annotations:  # else an index of a list
            model = _section(annotations[part]) or model
    return list(_annotations(model))


def _annotations(section: Any) -> dict[str, Any]:
    if dataclasses.is_dataclass(section):
        return {field.name: field.type for field in dataclasses.fields(section)}
    return {name: field.annotation for name, field in section.model_fields.items()}


def _section(annotation: Any) -> type | None:
    """Return the model or dataclass in an annotation such as `list[Section] | None`."""
    if hasattr(annotation, "model_fields") or dataclasses.is_dataclass(annotation):
        return annotation
    return next(filter(None, map(_section, get_args(annotation))), None)
