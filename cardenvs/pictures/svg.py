"""A game view as an SVG picture: a heading, and below it the table."""

from collections.abc import Iterable, Sequence
from typing import Any

from cardenvs.pictures import faces, pictograms, seats
from cardenvs.pictures.faces import box, num, text
from cardenvs.pictures.mahjong_tiles import RULES, symbols_in, whole_set
from cardenvs.pictures.piles import Marks
from cardenvs.pictures.style import checked_theme, css
from cardenvs.pictures.table import draw_table
from cardenvs.pictures.text import escaped, text_width, wrapped

WIDTH = 960.0
NARROW = 360.0  # for phones
SYMBOLS = faces.SYMBOLS + seats.FACES + pictograms.SYMBOLS
_MARGIN = 14.0
_TITLE, _SAID = 19.0, 14.0  # sizes of text


def draw_svg(view: dict[str, Any], theme: str = "light", width: float | None = None, narrow: bool = False) -> str:
    """Return an SVG picture of a document from `State.view`, `width` pixels wide, or filling what it is put in.

    `theme` is "light", "dark", or "auto" for what the reader's system prefers; others raise ValueError. `narrow` asks
    for the form for phones.
    """
    across = NARROW if narrow else WIDTH
    parts, height = draw_parts(view, across)
    return framed(parts, height, theme, summary(view), width, across)


def draw_parts(view: dict[str, Any], across: float = WIDTH) -> tuple[list[str], float]:
    """Return the elements of a picture without its frame, and its height; `across` is its width, WIDTH or NARROW."""
    marks = Marks(
        frozenset(token for choice in view["choices"] for token in choice.get("tokens", [])),
        frozenset(choice["source"] for choice in view["choices"] if choice["kind"] == "pile"),
    )
    parts, y = _heading(view, across)
    more, y = draw_table(view, marks, y, across)
    return parts + more, y


def with_pictures(page: str) -> str:
    """Return a page with what pictures in it need: {{style}}, the style sheet, and {{symbols}}, all symbols."""
    return page.replace("{{style}}", css("auto") + RULES).replace("{{symbols}}", SYMBOLS + whole_set())


def framed(
    parts: Sequence[str], height: float, theme: str, label: str, width: float | None = None, across: float = WIDTH,
    later: Iterable[str] = (),
) -> str:  # fmt: skip
    """Return the elements of a picture as an SVG document; see `draw_svg` and `draw_parts`.

    `later` are elements that a script will put there, whose symbols must be in the document.
    """
    checked_theme(theme)
    drawn = "".join(parts)
    symbols = SYMBOLS + symbols_in(drawn + "".join(later))
    size = f' width="{num(width)}" height="{num(width * height / across)}"' if width else ' width="100%"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {num(across)} {num(height)}"{size} '
        f'class="cv cv-{theme}" role="img" aria-label="{escaped(label)}">'
        f"<style>{css(theme)}</style><defs>{symbols}</defs>"
        f"{box(0, 0, across, height, 'cv-bg', 18)}{drawn}</svg>"
    )


def draw_animation(views: Iterable[dict[str, Any]], seconds: float = 1.2, theme: str = "light") -> str:
    """Return game views as one SVG picture that shows them in turn, for `seconds` each, again and again.

    It needs no script, so it plays wherever a page shows an image.
    """
    pictures = [draw_parts(view) for view in views]
    height = max(height for _, height in pictures)
    frames = [
        f'<g class="cv-frame" style="animation-delay:{k * seconds:g}s">{"".join(parts)}</g>'
        for k, (parts, _) in enumerate(pictures)
    ]
    share = 100 / len(frames)
    rules = (
        f".cv-frame{{visibility:hidden;animation:cv-turn {len(frames) * seconds:g}s step-end infinite}}"
        f"@keyframes cv-turn{{0%{{visibility:visible}}{share:.4f}%{{visibility:hidden}}}}"
    )
    return framed([f"<style>{rules}</style>", *frames], height, theme, "a recorded game")


def summary(view: dict[str, Any]) -> str:
    """Return what a picture shows in a sentence."""
    if view["terminal"]:
        returns = ", ".join(f"player_{p} {player['return']:+g}" for p, player in enumerate(view["players"]))
        return f"{view['title']}: the game is over, {returns}"
    return f"{view['title']}: player_{view['current_player']} to act. {view['prompt']}".strip()


def _heading(view: dict[str, Any], across: float) -> tuple[list[str], float]:
    """Return the title, the counters that belong to nobody, and the prompt; and the y below them."""
    parts = [text(_MARGIN, 30, view["title"], _TITLE, "cv-name")]
    x, y = _MARGIN + text_width(view["title"], _TITLE, bold=True) + 14, 14.0
    for one in view["counters"]:
        if one["use"] != "number" or isinstance(one["value"], list):
            continue
        whole = f"{one['label']} {'?' if one['value'] is None else one['value']}"
        for shown in seats.pill_texts(whole, across - 2 * _MARGIN):
            width = seats.pill_width(shown)
            if x + width > across - _MARGIN:
                x, y = _MARGIN, y + 25
            parts += seats.pill(x, y, shown)
            x += width + 6
    y += 40
    said = "The game is over." if view["terminal"] else view["prompt"]
    for line in wrapped(said, _SAID, across - 2 * _MARGIN, 3) if said else ():
        parts.append(text(_MARGIN, y, line, _SAID, "cv-ink"))
        y += 20
    return parts, y - 6
