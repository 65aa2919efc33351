"""SVG pictures as pixels: PNG, RGB arrays, animated GIF. Needs the extra `pictures`.

resvg draws them, with a font from a wheel, so a picture has the same pixels on every machine.
"""

import functools
import io
from collections.abc import Iterable
from pathlib import Path

import numpy as np

_FONTS = ("HankenGrotesk-Regular.otf", "HankenGrotesk-Bold.otf")


def png(svg: str, width: int) -> bytes:
    """Return an SVG picture as PNG, `width` pixels wide."""
    import resvg_py

    return bytes(
        resvg_py.svg_to_bytes(
            svg_string=svg, width=width, background="white", font_files=list(_font_files()), skip_system_fonts=True
        )
    )


def rgb_array(svg: str, width: int, height: int) -> np.ndarray:
    """Return an SVG picture as uint8 (height, width, 3), as large as it fits and with its ground around it."""
    return _fitted(_pixels(svg, width), width, height)


def gif(svgs: Iterable[str], width: int, milliseconds: int) -> bytes:
    """Return pictures as an animated GIF that repeats, each shown for so many milliseconds.

    All frames have the size of the largest one.
    """
    from PIL import Image

    pictures = [_pixels(svg, width) for svg in svgs]
    height = max(len(picture) for picture in pictures)
    frames = [Image.fromarray(_fitted(picture, width, height)).quantize(128) for picture in pictures]
    out = io.BytesIO()
    durations = [milliseconds] * (len(frames) - 1) + [4 * milliseconds]
    frames[0].save(out, "GIF", save_all=True, append_images=frames[1:], duration=durations, loop=0, optimize=True)
    return out.getvalue()


def _pixels(svg: str, width: int) -> np.ndarray:
    """Return a picture as uint8 (its height, width, 3)."""
    from PIL import Image

    with Image.open(io.BytesIO(png(svg, width))) as image:
        return np.asarray(image)[:, :, :3]


def _fitted(pixels: np.ndarray, width: int, height: int) -> np.ndarray:
    """Return a picture at the top of a canvas, smaller if it would not fit."""
    from PIL import Image

    if len(pixels) > height:
        image = Image.fromarray(pixels).resize((pixels.shape[1] * height // len(pixels), height))
        pixels = np.asarray(image)
    canvas = np.empty((height, width, 3), np.uint8)
    canvas[:] = pixels[-2, pixels.shape[1] // 2]
    left = (width - pixels.shape[1]) // 2
    canvas[: len(pixels), left : left + pixels.shape[1]] = pixels
    return canvas


@functools.cache
def _font_files() -> tuple[str, ...]:
    """Return the paths of the fonts: one for text, and one with the signs of suits, which the first has not."""
    import font_hanken_grotesk

    folder = Path(font_hanken_grotesk.__file__).parent / "files"
    return (*(str(folder / name) for name in _FONTS), str(Path(__file__).with_name("suits.ttf")))
