"""The Python of the browser: Pyodide from npm, numpy built for it, and what Node prepares with them.

No registry offers numpy for this platform, so Pyodide's own build of it lies beside this file; see
docs/decisions/0028-tables-without-a-server.md. Both are the very files that Pyodide has released, which is checked.
"""

import hashlib
import io
import json
import shutil
import subprocess
import tarfile
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from cardenvs.core.cache import cache_folder
from cardenvs.core.errors import FileError

VERSION = "0.27.7"
NUMPY = Path(__file__).with_name("numpy-2.0.2-cp312-cp312-pyodide_2024_0_wasm32.whl")
_ARCHIVE = f"pyodide-{VERSION}.tgz"
_SHA256 = "89d5d952675eb08e11286e52c7238f1248ce71726e896db9703e73bef23dc343"  # of the archive
# What pages load, and a file that names the licence and where the source is.
PAGE_FILES = (
    "pyodide.js", "pyodide.asm.js", "pyodide.asm.wasm", "pyodide-lock.json", "python_stdlib.zip", "package.json",
)  # fmt: skip
_NODE_FILES = ("pyodide.mjs",)
# Parts of numpy that no game needs, by what their paths contain.
_UNUSED = (
    "/tests/", "/f2py/", "/random/", "/testing/", "/include/", "/distutils/", "/doc/", "/fft/", "/ma/", "/polynomial/",
    "lapack_lite", "_tests.", "/_simd.", "/_pyinstaller/", "/lib/libnpymath",
)  # fmt: skip
# Modules that only add docstrings to numpy's own types, which take long to read.
_EMPTIED = ("numpy/_core/_add_newdocs.py", "numpy/_core/_add_newdocs_scalars.py")
_LONGEST_ERROR = 2000  # characters: Node quotes whole scripts
_NEEDED_SUFFIXES = (".py", ".so", ".txt", "METADATA")


def pyodide_files(archive: Path | None = None) -> dict[str, bytes]:
    """Return the files of Pyodide, by name: PAGE_FILES and those for Node.

    Args:
        archive: Pyodide's archive from npm; by default the one in the cache, which npm brings on first use.

    Raises:
        FileError: the archive cannot be had, or is another one.
    """
    data = (archive or _cached_archive()).read_bytes()
    if hashlib.sha256(data).hexdigest() != _SHA256:
        raise FileError(
            f"{archive or cache_folder() / _ARCHIVE} is not the archive of Pyodide {VERSION}; delete it, or name the "
            f"file that `npm pack pyodide@{VERSION}` brings"
        )
    with tarfile.open(fileobj=io.BytesIO(data)) as packed:
        found = {name: packed.extractfile(f"package/{name}") for name in (*PAGE_FILES, *_NODE_FILES)}
        return {name: file.read() for name, file in found.items() if file is not None}


def _cached_archive() -> Path:
    kept = cache_folder() / _ARCHIVE
    if kept.exists():
        return kept
    npm = shutil.which("npm")
    if npm is None:
        raise FileError(
            f"Pyodide comes from npm, which is not installed; install it, or name with --pyodide the file that "
            f"`npm pack pyodide@{VERSION}` brings elsewhere"
        )
    with tempfile.TemporaryDirectory() as folder:
        made = subprocess.run(
            [npm, "pack", "--silent", f"pyodide@{VERSION}"], cwd=folder, capture_output=True, text=True, timeout=300
        )
        if made.returncode:
            raise FileError(f"npm cannot bring Pyodide {VERSION}: {made.stderr.strip() or made.stdout.strip()}")
        kept.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(Path(folder) / _ARCHIVE, kept)
    return kept


def numpy_files(pyodide: dict[str, bytes]) -> dict[str, bytes]:
    """Return the files of numpy that games need, by path.

    Args:
        pyodide: as `pyodide_files` returns it, whose list of packages names the build of numpy that it was tested with.

    Raises:
        FileError: the build of numpy in this package is another one.
    """
    data = NUMPY.read_bytes()
    listed: dict[str, Any] = json.loads(pyodide["pyodide-lock.json"])["packages"]["numpy"]
    if (NUMPY.name, hashlib.sha256(data).hexdigest()) != (listed["file_name"], listed["sha256"]):
        raise FileError(f"{NUMPY} is damaged: it is not the build of numpy of Pyodide {VERSION}")
    with zipfile.ZipFile(io.BytesIO(data)) as wheel:
        found = {name: wheel.read(name) for name in wheel.namelist() if _is_needed(name)}
    return found | dict.fromkeys(_EMPTIED, b"")


def prepared(
    pyodide: dict[str, bytes], archives: dict[str, dict[str, bytes]]
) -> tuple[dict[str, dict[str, bytes]], bytes]:
    """Return archives with compiled modules, and the memory of a started Python; see prepare.mjs.

    Args:
        pyodide: as `pyodide_files` returns it.
        archives: the files of each archive, by path.

    Raises:
        FileError: Node.js is not installed, or failed.
    """
    node = shutil.which("node")
    if node is None:
        raise FileError("Node.js prepares the Python for browsers, and is not installed")
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root)
        _write(folder / "pyodide", pyodide)
        for name, files in archives.items():
            _write(folder / "sources" / name, files)
        script = Path(__file__).with_name("prepare.mjs")
        command = [node, str(script), str(folder / "pyodide"), str(folder / "sources"), str(folder / "snapshot")]
        made = subprocess.run(command, capture_output=True, text=True)
        if made.returncode:
            raise FileError(f"Node.js cannot prepare the Python for browsers:\n{made.stderr[-_LONGEST_ERROR:].strip()}")
        compiled = {name: _read(folder / "sources" / name) for name in archives}
        return compiled, (folder / "snapshot").read_bytes()


def _write(folder: Path, files: dict[str, bytes]) -> None:
    for path, data in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)


def _read(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def _is_needed(path: str) -> bool:
    return path.endswith(_NEEDED_SUFFIXES) and not any(part in path for part in _UNUSED)
