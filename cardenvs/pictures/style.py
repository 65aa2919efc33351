"""Colours of pictures, light and dark, as CSS.

Suits and tiles use colours that people with the common colour vision deficiencies can tell apart (Okabe and Ito, 2008);
their shapes differ too.
"""

_SEATS = ("#d9822b", "#2f7fb5", "#8b5aa8", "#c0504d", "#3d8f6e", "#b08a1e", "#5470c6", "#b5527f", "#5f7d2f", "#6b6f7a")
_SAME = {
    "rank": "font-weight:700",
    "title": "font-weight:700;fill:#1b2430",
    "paper": "fill:#fffdf8;fill-opacity:.94",
    "print": "fill:#3d4854",
    "card": "fill:#fffdf8;stroke:#8d887c;stroke-width:1",
    "back": "fill:#2b5f93;stroke:#f4f1e8;stroke-width:2",
    "back-in": "fill:none;stroke:#8fb9de;stroke-width:1.2",
    "s": "fill:#16191d",
    "h": "fill:#c8332a",
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
    "can": "stroke:#ffb000;stroke-width:3",
    "chip": "fill:#e0a526;stroke:#fff3cf;stroke-width:2;stroke-dasharray:5 3.6",
    "chip-text": "fill:#1b1300;font-weight:700",
    "count": "fill:#fffdf8;stroke:#8d887c",
    "faint": "fill:#6b7078",
    "skin": "fill:#f3cfa6",
    "hair": "fill:#3a2a20",
    "coat": "fill:#ffffff;fill-opacity:.85",
    "eye": "fill:#3a2a20",
    "smile": "fill:none;stroke:#3a2a20;stroke-width:1.6;stroke-linecap:round",
    "turn": "fill:none;stroke:#ffc53d;stroke-width:4",
    "dealer": "fill:#fffdf8;stroke:#3a3a3a;stroke-width:1",
} | {f"seat-{k}": f"fill:{colour}" for k, colour in enumerate(_SEATS)}
_LINES = ("red", "orange", "blue", "black", "grey")
_LIGHT = {
    "bg": "fill:#2a7654",
    "felt": "fill:#2a7654;stroke:#1d5b40;stroke-width:2",
    "panel": "fill:#000000;fill-opacity:.13",
    "panel-act": "fill:#000000;fill-opacity:.2;stroke:#ffc53d;stroke-width:2.5",
    "ink": "fill:#f4f8f3",
    "name": "fill:#ffffff;font-weight:700",
    "said": "fill:#ffe3a1",
    "dim": "fill:#dcebe1",
    "pill": "fill:#0b3323;fill-opacity:.62",
    "empty": "fill:#000000;fill-opacity:.07;stroke:#a9cbb8;stroke-dasharray:4 3",
}
_DARK = _LIGHT | {
    "bg": "fill:#153a2c",
    "felt": "fill:#153a2c;stroke:#2c5f4a;stroke-width:2",
    "panel": "fill:#000000;fill-opacity:.22",
    "panel-act": "fill:#000000;fill-opacity:.3;stroke:#ffc53d;stroke-width:2.5",
    "ink": "fill:#e3ebe6",
    "dim": "fill:#b7c9be",
    "pill": "fill:#06170f;fill-opacity:.72",
    "card": "fill:#ece8de;stroke:#2a2f2c;stroke-width:1",
    "can": _SAME["can"],  # stronger than the outline of a card
    "empty": "fill:#000000;fill-opacity:.1;stroke:#5d8571;stroke-dasharray:4 3",
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
