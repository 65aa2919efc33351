"""Write cardenvs/pictures/suits.ttf: `python -m docs.suits_font`.

The font of pictures in pixels has no signs of suits, so this one has these four alone, in the shapes of our cards.
"""

from fontTools.fontBuilder import FontBuilder
from fontTools.misc.transform import Transform
from fontTools.pens.cu2quPen import Cu2QuPen
from fontTools.pens.transformPen import TransformPen
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.svgLib.path import parse_path

from cardenvs.core.cards import SUIT_SIGNS
from cardenvs.pictures.faces import SUITS
from docs.generate import ROOT

_EM = 1000
_WIDTH = 760
_TO_FONT = Transform(31, 0, 0, -31, 8, 720)  # from a box of 24 by 24, which stands a little below the baseline


def main() -> None:
    """Build the font and write it."""
    shapes = {".notdef": "", **{suit: SUITS[suit] for suit in SUIT_SIGNS}}
    font = FontBuilder(_EM, isTTF=True)
    font.setupGlyphOrder(list(shapes))
    font.setupCharacterMap({ord(sign): suit for suit, sign in SUIT_SIGNS.items()})
    glyphs = {}
    for name, path in shapes.items():
        pen = TTGlyphPen(None)
        if path:
            parse_path(path, TransformPen(Cu2QuPen(pen, max_err=1.0), _TO_FONT))
        glyphs[name] = pen.glyph()
    font.setupGlyf(glyphs)
    font.setupHorizontalMetrics(dict.fromkeys(shapes, (_WIDTH, 0)))
    font.setupHorizontalHeader(ascent=800, descent=-200)
    font.setupNameTable({"familyName": "Cardenvs Suits", "styleName": "Regular", "psName": "CardenvsSuits-Regular"})
    font.setupOS2()
    font.setupPost()
    font.font["head"].created = font.font["head"].modified = 3_800_000_000  # the same bytes whenever it is written
    font.font.recalcTimestamp = False
    font.save(ROOT / "cardenvs" / "pictures" / "suits.ttf")


if __name__ == "__main__":
    main()
