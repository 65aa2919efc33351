"""Colours of pictures, light and dark, as CSS.

Suits and tiles use colours that people with the common colour vision deficiencies can tell apart (Okabe and Ito, 2008);
their shapes differ too.
"""

_SAME = {
    "rank": "font-weight:700",
    "title": "font-weight:700;fill:#1b2430",
    "print": "fill:#3d4854",
    "card": "fill:#fffdf8;stroke:#9a958a;stroke-width:1",
    "back": "fill:#2d5a88;stroke:#16324f;stroke-width:1",
    "back-in": "fill:none;stroke:#8fb3d6;stroke-width:1.5;stroke-dasharray:3 2",
    "s": "fill:#16191d",
    "h": "fill:#c8452a",
    "d": "fill:#0068a8",
    "c": "fill:#00795a",
    "red": "fill:#c8452a",
    "orange": "fill:#b97300",
    "blue": "fill:#0068a8",
    "black": "fill:#16191d",
    "grey": "fill:#6b7078",
    "bar-white": "fill:#d9d4c8",
    "bar-brown": "fill:#a06a35",
    "bar-pink": "fill:#c77ba6",
    "bar-blue": "fill:#0068a8",
    "bar-orange": "fill:#d9912b",
    "bar-green": "fill:#00795a",
    "open": "fill:none",
    "can": "stroke:#e69f00;stroke-width:2.5",
    "chip": "fill:#e69f00;stroke:#7a5200;stroke-width:1.5",
    "chip-text": "fill:#1b1300;font-weight:700",
    "faint": "fill:#6b7078",
}
_LINES = ("red", "orange", "blue", "black", "grey")
_LIGHT = {
    "bg": "fill:#eef2ee",
    "felt": "fill:#dfe9e1;stroke:#b4c6b8;stroke-width:2",
    "panel": "fill:#ffffff;stroke:#cfd6d0",
    "panel-act": "fill:#fff8e6;stroke:#e69f00;stroke-width:2",
    "ink": "fill:#1b2430",
    "name": "fill:#1b2430;font-weight:700",
    "dim": "fill:#5b6670",
    "pill": "fill:#e3e8e4",
    "empty": "fill:none;stroke:#a9b8ad;stroke-dasharray:4 3",
}
_DARK = {
    "bg": "fill:#12181c",
    "felt": "fill:#17332a;stroke:#2c5546;stroke-width:2",
    "panel": "fill:#1d262c;stroke:#36424a",
    "panel-act": "fill:#2b2717;stroke:#e69f00;stroke-width:2",
    "ink": "fill:#e8edf0",
    "name": "fill:#f4f7f8;font-weight:700",
    "dim": "fill:#a3b0b8",
    "pill": "fill:#2c373e",
    "empty": "fill:none;stroke:#4d6a60;stroke-dasharray:4 3",
}

THEMES = ("light", "dark", "auto")


def _rules(prefix: str, styles: dict[str, str]) -> str:
    return "".join(f"{prefix}.cv-{name}{{{style}}}" for name, style in styles.items())


_LINE_STYLES = {f"{name}-line": _SAME[name].replace("fill", "fill:none;stroke") + ";stroke-width:2" for name in _LINES}
_FONT = ".cv text{font-family:'Hanken Grotesk',system-ui,'Segoe UI',Roboto,sans-serif}"
_COMMON = _FONT + _rules("", _SAME | _LINE_STYLES)


def checked_theme(theme: str) -> str:
    """Return `theme`; raise ValueError if there is no such theme."""
    if theme not in THEMES:
        raise ValueError(f"a theme is one of {', '.join(THEMES)}; got {theme!r}")
    return theme


def css(theme: str) -> str:
    """Return the style sheet of a theme: "light", "dark", or "auto" for what the reader's system prefers."""
    if theme == "dark":
        return _COMMON + _rules(".cv-dark ", _DARK)
    light = _COMMON + _rules(f".cv-{theme} ", _LIGHT)
    if theme == "light":
        return light
    return f"{light}@media(prefers-color-scheme:dark){{{_rules('.cv-auto ', _DARK)}}}"
