"""Brush strokes as outlines: a line that the brush follows, and how hard it is pressed on the way.

A character of regular script consists of up to a dozen strokes of few kinds, and a kind of stroke is always pressed
alike: hard where the brush is set down and lifted, less between.
"""

import itertools
import math
from collections.abc import Sequence

Point = tuple[float, float]
Stroke = tuple[str, float, tuple[Point, ...]]  # its kind, its width, and points on its way

# The width of a stroke of each kind on its way from 0 to 1, as a share of its full width.
_PRESSED = {
    "heng": ((0, 1.0), (0.1, 0.84), (0.4, 0.64), (0.7, 0.66), (0.9, 1.0), (1, 1.15)),  # to the right
    "shu": ((0, 1.1), (0.12, 1.0), (0.4, 0.88), (0.7, 0.88), (0.92, 1.0), (1, 0.8)),  # down
    "needle": ((0, 1.1), (0.1, 1.05), (0.4, 0.92), (0.75, 0.84), (1, 0.06)),  # down, to a point
    "pie": ((0, 1.0), (0.12, 1.05), (0.4, 0.86), (0.75, 0.5), (1, 0.05)),  # down and left, to a point
    "na": ((0, 0.3), (0.3, 0.55), (0.6, 0.9), (0.82, 1.3), (1, 0.05)),  # down and right, with a foot
    "dian": ((0, 0.1), (0.4, 0.8), (0.75, 1.2), (1, 0.8)),  # a dot
    "bend": ((0, 1.1), (0.08, 1.0), (0.3, 0.86), (0.6, 0.82), (0.88, 1.0), (1, 0.9)),  # down and round a corner
    "gou": ((0, 1.0), (0.4, 0.7), (1, 0.05)),  # the tip of a hook, or a stroke that rises to a point
}
# Ends of strokes that show the edge of the brush as it is set down or lifted, and the slope of this edge in degrees.
_EDGES: dict[tuple[str, float], int] = {
    ("heng", 0): 45,
    ("heng", 1): 66,
    ("shu", 0): 45,
    ("needle", 0): 45,
    ("bend", 0): 45,
}
_SAMPLES = 16  # short lines in each piece of a curve


def outline(strokes: Sequence[Stroke], x: float, y: float, width: float, height: float, weight: float = 1.0) -> str:
    """Return strokes, which lie in a box of 1000 by 1000, as the data of an SVG path to be filled.

    The path lies in a box of `width` by `height` at (x, y). Stretching leaves strokes as thick as in a square of the
    mean size, times `weight`.
    """
    thick = weight * (width + height) / 2000
    edges = []
    for kind, pressed, points in strokes:
        placed = [(x + a * width / 1000, y + b * height / 1000) for a, b in points]
        edges.append(_edge(kind, pressed * thick, _line(placed)))
    return "".join(map(_closed, edges))


def _line(points: Sequence[Point]) -> list[Point]:
    """Return a smooth line through points as many short lines."""
    ends = [_beyond(points[1], points[0]), *points, _beyond(points[-2], points[-1])]
    found = [points[0]]
    for a, b, c, d in zip(ends, ends[1:], ends[2:], ends[3:], strict=False):
        found += [_spline(a, b, c, d, k / _SAMPLES) for k in range(1, _SAMPLES + 1)]
    return found


def _beyond(before: Point, end: Point) -> Point:
    return 2 * end[0] - before[0], 2 * end[1] - before[1]


def _spline(a: Point, b: Point, c: Point, d: Point, t: float) -> Point:
    """Return a point between `b` and `c` of a Catmull-Rom spline."""
    weights = (-t + 2 * t**2 - t**3, 2 - 5 * t**2 + 3 * t**3, t + 4 * t**2 - 3 * t**3, -(t**2) + t**3)
    x, y = (sum(weight * point[k] for weight, point in zip(weights, (a, b, c, d), strict=True)) / 2 for k in (0, 1))
    return x, y


def _edge(kind: str, width: float, line: Sequence[Point]) -> list[Point]:
    """Return points around a stroke: along its left side, and back along its right side."""
    left, right = [], []
    for at, pressed in _PRESSED[kind]:
        (x, y), (dx, dy) = _on(line, at)
        half = width * pressed / 2
        across = (dy, -dx)
        if (kind, at) in _EDGES:
            nib = math.radians(_EDGES[kind, at])
            across = math.cos(nib), math.sin(nib)
            across = across if across[0] * dy - across[1] * dx > 0 else (-across[0], -across[1])
        left.append((x + across[0] * half, y + across[1] * half))
        right.append((x - across[0] * half, y - across[1] * half))
    return left + right[::-1]


def _on(line: Sequence[Point], at: float) -> tuple[Point, Point]:
    """Return the point at a share of a line's length, and the direction of the line there."""
    lengths = [math.dist(a, b) for a, b in itertools.pairwise(line)]
    left, k = at * sum(lengths), 0
    while k < len(lengths) - 1 and left > lengths[k]:
        left, k = left - lengths[k], k + 1
    (x, y), (next_x, next_y) = line[k], line[k + 1]
    dx, dy = (next_x - x) / lengths[k], (next_y - y) / lengths[k]
    return (x + dx * left, y + dy * left), (dx, dy)


def _closed(points: Sequence[Point]) -> str:
    """Return a smooth closed curve through points; numbers are relative to the last one, which is shorter."""
    count = len(points)
    x, y = map(round, points[0])
    made = f"M{x} {y}c"
    numbers: list[int] = []
    for k in range(count):
        a, b, c, d = (points[(k + j) % count] for j in (-1, 0, 1, 2))
        first = b[0] + (c[0] - a[0]) / 6, b[1] + (c[1] - a[1]) / 6
        second = c[0] - (d[0] - b[0]) / 6, c[1] - (d[1] - b[1]) / 6
        numbers += [round(at - (y if j % 2 else x)) for j, at in enumerate((*first, *second, *c))]
        x, y = x + numbers[-2], y + numbers[-1]
    return f"{made}{' '.join(map(str, numbers)).replace(' -', '-')}Z"
