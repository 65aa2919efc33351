"""Pictures of how each game looks, light, dark and on a phone: `python -m docs.looks [GAME ...]` (`--check` compares).

A change of look is to be seen: the pictures in docs/pictures/looks are the reference, and tests compare what is drawn
now with them. resvg draws both with a font from a wheel, so they differ by little on any machine.
"""

import argparse
import io
import sys
from pathlib import Path

import numpy as np
from PIL import Image

from cardenvs.core.game import Game
from cardenvs.pictures import draw_svg
from cardenvs.pictures.raster import png
from docs.generate import DOCS, middle_position, own_games

FOLDER = DOCS / "pictures" / "looks"
_WIDE, _NARROW, _GAP = 720, 300, 8  # pixels
_COLOURS = 96
_FAR, _MOST_FAR = 40, 0.004  # how far a pixel may be off, of 255, and the share of those that are further


def sheet(game: Game) -> Image.Image:
    """Return the middle of a game as its player to act sees it: light above dark, and the form for phones beside."""
    view = middle_position(game).view(middle_position(game).current_player)
    light, dark = (_drawn(draw_svg(view, theme), _WIDE) for theme in ("light", "dark"))
    phone = _drawn(draw_svg(view, "dark", narrow=True), _NARROW)
    height = max(light.height + _GAP + dark.height, phone.height)
    found = Image.new("RGB", (_WIDE + _GAP + _NARROW, height), "white")
    for picture, place in ((light, (0, 0)), (dark, (0, light.height + _GAP)), (phone, (_WIDE + _GAP, 0))):
        found.paste(picture, place)
    return found.quantize(_COLOURS)


def _drawn(svg: str, width: int) -> Image.Image:
    return Image.open(io.BytesIO(png(svg, width))).convert("RGB")


def path_of(game: Game) -> Path:
    """Return where the reference of a game is."""
    return FOLDER / f"{game.name}.png"


def difference(game: Game) -> str:
    """Return how a game's look differs from its reference, or "" if it does not."""
    now, then = (np.asarray(picture.convert("RGB"), int) for picture in (sheet(game), Image.open(path_of(game))))
    if now.shape != then.shape:
        return f"{game.name} is {now.shape[1]} by {now.shape[0]} pixels, and was {then.shape[1]} by {then.shape[0]}"
    share = float((np.abs(now - then).max(axis=2) > _FAR).mean())
    return f"{game.name}: {share:.2%} of the pixels differ" if share > _MOST_FAR else ""


def main() -> int:
    """Write the references of the games named, or of all; or compare."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("games", nargs="*", metavar="GAME", help="such as gin_rummy_v0; default: all")
    parser.add_argument("--check", action="store_true", help="only compare")
    asked = parser.parse_args()
    games = [game for game in own_games() if not asked.games or game.name in asked.games]
    if asked.check:
        found = [text for game in games if (text := difference(game))]
        print(*(found or ["all look as before"]), sep="\n")
        return int(bool(found))
    FOLDER.mkdir(exist_ok=True)
    for game in games:
        sheet(game).save(path_of(game), optimize=True)
        print(f"written: {path_of(game).relative_to(DOCS.parent)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
