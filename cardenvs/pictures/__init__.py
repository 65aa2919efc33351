"""Pictures of games, drawn from game views (`State.view`) alone: SVG, raster images,
text for terminals, and pages that play a replay.

Nothing here knows a game or its rules, so a picture cannot show more than the view says.
"""

from cardenvs.pictures.svg import draw_animation, draw_svg
from cardenvs.pictures.terminal import draw_text
from cardenvs.pictures.thumbnail import draw_thumbnail

__all__ = ["draw_animation", "draw_svg", "draw_text", "draw_thumbnail"]
