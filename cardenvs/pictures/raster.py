"""SVG pictures as pixels: PNG, RGB arrays, animated GIF. Needs the extra `pictures`.

resvg draws them, with a font from a wheel, so a picture has the same pixels on every machine.
"""

import functools
import io
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from PIL import Image

_FONTS = ("HankenGrotesk-Regular.otf", "HankenGrotesk-Bold.otf")


def png(svg: str, width: int) -> bytes:
    """Return an SVG picture as PNG, `width` pixels wide."""
    import resvg_py

    return bytes(
        resvg_py.svg_to_bytes(svg_string=svg, width=width, font_files=list(_font_files()), skip_system_fonts=True)
    )


def rgb_array(svg: str, width: int, height: int) -> np.ndarray:
    """Return an SVG picture as uint8 (height, width, 3), as large as it fits and with its ground around it."""
    return np.asarray(_fitted(_image(png(svg, width)), width, height))


def gif(svgs: Iterable[str], width: int, milliseconds: int) -> bytes:
    """Return pictures as an animated GIF that repeats, each shown for so many milliseconds.

    All frames have the size of the largest one.
    """
    images = [_image(png(svg, width)) for svg in svgs]
    height = max(image.height for image in images)
    frames = [_fitted(image, width, height).quantize(128) for image in images]
    out = io.BytesIO()
    durations = [milliseconds] * (len(frames) - 1) + [4 * milliseconds]
    frames[0].save(out, "GIF", save_all=True, append_images=frames[1:], duration=durations, loop=0, optimize=True)
    return out.getvalue()


def _image(data: bytes) -> "Image.Image":
    from PIL import Image

    with Image.open(io.BytesIO(data)) as image:
        return image.convert("RGBA")


def _fitted(image: "Image.Image", width: int, height: int) -> "Image.Image":
    """Return an image at the top of a canvas, smaller if it would not fit."""
    from PIL import Image

    if image.height > height:
        image = image.resize((image.width * height // image.height, height))
    canvas = Image.new("RGBA", (width, height), image.getpixel((image.width // 2, image.height - 2)))
    canvas.alpha_composite(image, ((width - image.width) // 2, 0))
    return canvas.convert("RGB")


@functools.cache
def _font_files() -> tuple[str, ...]:
    import font_hanken_grotesk

    folder = Path(font_hanken_grotesk.__file__).parent / "files"
    return tuple(str(folder / name) for name in _FONTS)
