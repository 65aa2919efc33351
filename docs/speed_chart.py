"""The chart of steps a second beside peers, from benchmarks/results.json, as SVG."""

import json
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

RESULTS = Path(__file__).resolve().parents[1] / "benchmarks" / "results.json"
GROUPS = {  # what of the benchmark, by what the chart calls it
    "Leduc poker, two cores": "leduc_poker_v0 batch, 2 cores",
    "Gin rummy": "gin_rummy_v0 batch, 1 core",
    "Hold'em for six": "texas_holdem_v0 batch, 1 core",
    "Contract bridge": "bridge_v0 batch, 1 core",
}
_NAMES = {"OpenSpiel from Python": "OpenSpiel"}
_LEFT_OUT = "C by hand"  # the limit, not a peer
_WIDTH, _LABELS, _BARS = 960, 120, 560
_HEADING, _BAR, _GAP, _GROUP_GAP, _TOP = 26, 22, 4, 14, 58
_STYLE = (
    "text{font-family:system-ui,'Segoe UI',Roboto,sans-serif;fill:#1b2430;font-size:15px}.faint{fill:#6b7078}"
    ".bold{font-weight:700}.own{fill:#00795a}.peer{fill:#9aa3ab}.panel{fill:#ffffff;stroke:#cfd6d0}"
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
    title = "Steps a second, batched, observations and masks included"
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {y}" width="100%" role="img" '
        f'aria-label="{title}"><style>{_STYLE}</style>'
        f'<rect class="panel" x="1" y="1" width="{_WIDTH - 2}" height="{y - 2}" rx="10"/>'
        f'<text class="bold" x="24" y="36" style="font-size:18px">{title}</text>'
    )
    return head + "".join(parts) + "</svg>\n"


def _group(name: str, rows: list[dict[str, Any]], y: int) -> str:
    ours = rows[0]["ours"]
    bars = [("cardenvs", ours, "own", "")]
    bars += [(_NAMES.get(row["peer"], row["peer"]), row["theirs"], "peer", _times(row)) for row in rows]
    parts = [f'<text class="bold" x="24" y="{y + 16}">{escape(name)}</text>']
    y += _HEADING
    for label, speed, kind, times in bars:
        width = max(1.0, _BARS * speed / ours)
        end = _LABELS + width + 8
        parts.append(f'<text class="faint" x="{_LABELS - 8}" y="{y + 16}" text-anchor="end">{escape(label)}</text>')
        parts.append(f'<rect class="{kind}" x="{_LABELS}" y="{y}" width="{width:.1f}" height="{_BAR}" rx="3"/>')
        parts.append(f'<text x="{end:.1f}" y="{y + 16}">{_speed(speed)}{escape(times)}</text>')
        y += _BAR + _GAP
    return "".join(parts)


def _speed(speed: float) -> str:
    return f"{speed / 1e6:.3g} M" if speed >= 1e6 else f"{speed / 1e3:.3g} k"


def _times(row: dict[str, Any]) -> str:
    return f"   ({row['ours'] / row['theirs']:,.3g} times as fast)"
