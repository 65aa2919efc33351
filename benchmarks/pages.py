"""How soon the pages of `cardenvs site` play, in Chromium on this machine: `python -m benchmarks.pages FOLDER`.

For each game, a browser without a cache opens a new table against the game's agents. Printed are the bytes loaded, the
seconds until the table is there (the best of three with --opening), and the longest wait for an agent in a whole game
played at random.
"""

import argparse
import functools
import json
import os
import shutil
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from cardenvs.browser.build import weight

_TRIES = 3000
_OPENED = "document.querySelector('#parts rect.cv-bg') !== null"
# Presses the first choice or a random one until the game is over, and measures how long others take.
_PLAY = """async () => {
  const pace = document.getElementById("pace");
  pace.value = "0";
  pace.dispatchEvent(new Event("change"));
  let seed = 17, longest = 0, since = performance.now();
  const draw = () => { seed = (seed * 48271) % 2147483647; return seed / 2147483647; };
  const began = performance.now();
  while (document.getElementById("end").hidden && performance.now() - began < 60000) {
    if (!document.getElementById("round").hidden) document.getElementById("next").click();
    const prompt = document.getElementById("prompt");
    const open = [...document.querySelectorAll("#picture [role=button], #choices button, #bet")].filter(
      place => place.id !== "bet" || !place.form.hidden);
    if (prompt.className === "yours" && open.length) {
      open[Math.floor(draw() * open.length)].dispatchEvent(new MouseEvent("click", {bubbles: true, cancelable: true}));
      since = performance.now();
    }
    const text = prompt.textContent;
    await new Promise(done => setTimeout(done, 4));
    if (prompt.textContent === text) continue;
    longest = Math.max(longest, performance.now() - since);
    since = performance.now();
  }
  return longest / 1000;
}"""


class _Files(SimpleHTTPRequestHandler):
    def log_message(self, *words: Any) -> None:
        """Print nothing."""


def main() -> None:
    """Measure the pages in a folder and print a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="what `cardenvs site` has written")
    parser.add_argument("--opening", action="store_true", help="play no games, and open each table three times")
    arguments = parser.parse_args()
    folder: Path = arguments.folder
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Files, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    columns = ["game", "loads", "table after", *([] if arguments.opening else ["longest wait"])]
    print(f"| {' | '.join(columns)} |\n|{' --- |' * len(columns)}")
    names = [game["name"] for game in json.loads((folder / "games.json").read_text(encoding="utf-8"))["games"]]
    for name in names:
        address = f"http://127.0.0.1:{server.server_port}/table.html?game={name}&level=medium"
        row = f"| {name} | {weight(folder, name) / 1e6:.1f} MB |"
        if arguments.opening:
            print(f"{row} {min(_measured(address, False)[0] for _ in range(3)):.1f} s |", flush=True)
        else:
            seconds, wait = _measured(address, True)
            print(f"{row} {seconds:.1f} s | {wait:.2f} s |", flush=True)


def _measured(address: str, plays: bool) -> tuple[float, float]:
    """Return the seconds until the table is there, and the longest wait for an agent if a game is played, else 0."""
    from playwright.sync_api import sync_playwright

    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(reduced_motion="reduce")
        page.add_init_script('localStorage.setItem("cardenvs-motion", "0")')
        page.goto(address, wait_until="commit")
        for _ in range(_TRIES):
            if page.evaluate(_OPENED):
                break
            page.wait_for_timeout(20)
        else:
            raise SystemExit(f"there is no table: {page.inner_text('#said')}")
        seconds = float(page.evaluate("performance.now()")) / 1000
        wait = float(page.evaluate(_PLAY)) if plays else 0.0
        browser.close()
    return seconds, wait


if __name__ == "__main__":
    main()
