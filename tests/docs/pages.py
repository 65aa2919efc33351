"""Reading the pages of the documentation: their code blocks, and what to do with each.

* A `python` block is run. The blocks of a page follow each other in one namespace; those of README.md stand alone, each
  in a fresh one.
* A `console` block is run line by line, each line `$ cardenvs ...`. Commands follow in the same folder.
* A `text` block right after one of these is what it prints. "..." stands for anything.
* A `bash` block is not run, but its commands must exist: make targets, subcommands and their options, extras, modules.
* Nothing is run that stands between <!-- code:start --> and <!-- code:end -->, being copied from files that have tests
  of their own, nor what comes right after a line <!-- notest: why --> (for what takes hours).
"""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for path in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md"))
)
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_COPIED = re.compile(r"<!-- code:start.*?<!-- code:end -->", re.DOTALL)
_NOTEST = re.compile(r"<!-- notest: .+? -->\s*\Z")


@dataclass
class Block:
    """A code block.

    Attributes:
        language: of its fence.
        code: its text.
        line: of its first line of code in the page, from 1.
        skipped: not to be run.
        output: what it is said to print, or None.
    """

    language: str
    code: str
    line: int
    skipped: bool
    output: str | None = None


def blocks(text: str) -> list[Block]:
    """The blocks of a page, an output joined to the block that prints it."""
    copied = [match.span() for match in _COPIED.finditer(text)]
    found: list[Block] = []
    end = 0
    for match in _FENCE.finditer(text):
        start = match.start()
        between = text[end:start]
        if match[1] == "text" and found and not between.strip() and found[-1].language in ("python", "console"):
            found[-1].output = match[2]
        else:
            is_copied = any(first <= start < last for first, last in copied)
            skipped = is_copied or bool(_NOTEST.search(between))
            found.append(Block(match[1], match[2], text.count("\n", 0, match.start(2)) + 1, skipped))
        end = match.end()
    return found


def read(page: str) -> str:
    """The text of a page, by its path from the root."""
    return (ROOT / page).read_text(encoding="utf-8")
