"""Print the lowest version of each dependency that pyproject.toml allows, as constraints for pip.

python tests/lowest_versions.py llm arena    # core, and these extras
"""

import re
import sys
import tomllib
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"


def lowest(extras: list[str]) -> dict[str, str]:
    """The floors by name, of core and of some extras."""
    project = tomllib.loads(PROJECT.read_text())["project"]
    needed = [*project["dependencies"], *(text for extra in extras for text in project["optional-dependencies"][extra])]
    floors = {}
    for text in needed:
        if text.startswith("cardenvs["):
            continue
        found = re.fullmatch(r"([A-Za-z0-9_.-]+)>=([0-9.]+)(,<[0-9.]+)?", text)
        if found is None:
            sys.exit(f"{PROJECT.name}: {text!r} states no lowest version; write NAME>=VERSION")
        floors[found[1]] = found[2]
    return floors


if __name__ == "__main__":
    print("\n".join(f"{name}=={version}" for name, version in lowest(sys.argv[1:]).items()))
