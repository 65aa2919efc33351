"""The chart of steps a second beside peers, from benchmarks/results.json, as SVG."""

import json
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

RESULTS = Path(__file__).resolve().parents[1] / "benchmarks" / "results.json"
GROUPS = {  # what of the benchmark, by what the chart calls it
    "Leduc poker, two cores": "leduc_poker_v0 batch, 2 cores",
    "Gin rummy, one core": "gin_rummy_v0 batch, 1 core",
    "Hold'em for six, one core": "texas_holdem_v0 batch, 1 core",
    "Contract bridge, one core": "bridge_v0 batch, 1 core",
}
TITLE = "Steps a second, batched, observations and masks included"
NOTE = "pgx: JAX on the CPU. OpenSpiel and RLCard: a Python loop over single games."
_LEFT_OUT = "C by hand"  # the limit, not a peer
_WIDTH, _LABELS, _BARS, _EDGE = 520, 164, 290, 14
_HEADING, _BAR, _GAP, _GROUP_GAP, _TOP = 17, 11, 3, 6, 50
_STYLE = (
    "text{font-family:system-ui,'Segoe UI',Roboto,sans-serif;fill:#1b2430;font-size:12px}text.faint{fill:#5b6670}"
    "text.bold{font-weight:700}text.title{font-size:14px}.own{fill:#00795a}.peer{fill:#9aa3ab}"
    ".panel{fill:#ffffff;stroke:#cfd6d0}@media(prefers-color-scheme:dark){text{fill:#e8edf0}text.faint{fill:#a3b0b8}"
    ".own{fill:#1fa57f}.peer{fill:#7b858d}.panel{fill:#1d262c;stroke:#36424a}}"
)


def draw() -> str:
    """Return the chart: for each game a bar of cardenvs and one of each peer, with how many times as fast we are."""
    sections = json.loads(RESULTS.read_text(encoding="utf-8")).values()
    rows = [row for section in sections for row in section]
    parts, y = [], _TOP
    for name, what in GROUPS.items():
        found = [row for row in rows if row["what"] == what and row["theirs"] and row["peer"] != _LEFT_OUT]
        if found:
            parts.append(_group(name, found, y))
            y += _HEADING + (len(found) + 1) * (_BAR + _GAP) + _GROUP_GAP
    y += 4
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {y}" width="100%" role="img" '
        f'aria-label="{TITLE}"><style>{_STYLE}</style>'
        f'<rect class="panel" x="1" y="1" width="{_WIDTH - 2}" height="{y - 2}" rx="8"/>'
        f'<text class="bold title" x="{_EDGE}" y="23">{TITLE}</text>'
        f'<text class="faint" x="{_EDGE}" y="40">{NOTE}</text>'
    )
    return head + "".join(parts) + "</svg>\n"


def _group(name: str, rows: list[dict[str, Any]], y: int) -> str:
    ours = rows[0]["ours"]
    bars = [("cardenvs", ours, "own", "")]
    bars += [(row["peer"], row["theirs"], "peer", _times(row)) for row in rows]
    parts = [f'<text class="bold" x="{_EDGE}" y="{y + 12}">{escape(name)}</text>']
    y += _HEADING
    for label, speed, kind, times in bars:
        width = max(1.0, _BARS * speed / ours)
        end = _LABELS + width + 6
        parts.append(f'<text class="faint" x="{_LABELS - 6}" y="{y + 10}" text-anchor="end">{escape(label)}</text>')
        parts.append(f'<rect class="{kind}" x="{_LABELS}" y="{y}" width="{width:.1f}" height="{_BAR}" rx="2"/>')
        parts.append(f'<text x="{end:.1f}" y="{y + 10}">{_speed(speed)}{escape(times)}</text>')
        y += _BAR + _GAP
    return "".join(parts)


def _speed(speed: float) -> str:
    return f"{speed / 1e6:.3g} M" if speed >= 1e6 else f"{speed / 1e3:.3g} k"


def _times(row: dict[str, Any]) -> str:
    return f" (cardenvs is {row['ours'] / row['theirs']:,.3g}x as fast)"
