"""Read bundles (submissions to a board) without trusting their contents.

A bundle is a folder or a zip file with a `submission.yaml` of

    name: my bot
    agent: python:my_bot:make            # {bundle} is the folder: "process:python3 {bundle}/bot.py"

or, instead of `agent`, replays (`*.json`, in the folder or below it). Its files are copied, within size limits, to a
temporary folder, from which the agent's process runs. This process imports nothing from it.
"""

import contextlib
import hashlib
import importlib.machinery
import os
import re
import shlex
import stat
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

from cardenvs.agents.belief import models_of
from cardenvs.agents.guarded.guest import BUNDLE
from cardenvs.agents.guarded.sandbox import python_path
from cardenvs.agents.guides import parameter_of
from cardenvs.agents.parameters import split_path
from cardenvs.core.errors import ArenaError
from cardenvs.core.game import Game
from cardenvs.core.text import check_name, one_line, read_yaml

MANIFEST = "submission.yaml"
LARGEST = 200 << 20  # bytes of all files, unpacked
MOST_FILES = 20_000
_DEEPEST, _LONGEST_PATH = 20, 240  # nested folders; characters
_CHUNK = 1 << 20
_FORMS = "a policy of the game, search, ismcts, python:MODULE:NAME, process:COMMAND, ppo:FILE, tabular:FILE"
_FILES = ("ppo", "tabular")  # kinds of agents whose argument is a file
_MODULE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*", re.ASCII)
_START_UP = frozenset({"sitecustomize", "usercustomize", "cardenvs", "__main__"})


@dataclass(frozen=True)
class Bundle:
    """A submission.

    Attributes:
        name: the agent's name.
        agent: its spec, or None for a submission of replays.
        replays: paths of the replay files.
        folder: the copy of the bundle, or None if the agent was given as a spec.
        digest: hash of all files.
    """

    name: str
    agent: str | None
    replays: tuple[Path, ...] = ()
    folder: Path | None = None
    digest: str = ""


@contextlib.contextmanager
def opened_bundle(bundle: str, name: str | None = None) -> Iterator[Bundle]:
    """Open a bundle by its path, or an agent by its spec. The copy of a bundle is deleted on exit.

    Raises:
        ArenaError: `bundle` is neither, has forbidden contents, or lies where this process imports modules from.
    """
    path = Path(bundle)
    try:
        there = path.stat() if path.exists() else None
    except (OSError, ValueError) as error:
        raise ArenaError(f"{one_line(bundle)!r} cannot be read: {error}") from None
    if there is None:
        yield Bundle(check_name(name or bundle, "the agent", ArenaError), bundle)
        return
    _check_apart(path)
    with tempfile.TemporaryDirectory(prefix="cardenvs-bundle-") as place:
        os.chmod(place, 0o711)
        copy = _Copy(Path(place).resolve() / "bundle", bundle)
        if stat.S_ISDIR(there.st_mode):
            copy.folder(path)
        elif stat.S_ISREG(there.st_mode) and _is_zip(path):
            copy.archive(path)
        else:
            raise ArenaError(f"{bundle} is not a bundle: it should be a folder or a zip file, or the spec of an agent")
        _check_modules(copy.target, bundle)
        yield _read(copy, bundle, name)


def _is_zip(path: Path) -> bool:
    with contextlib.suppress(OSError):
        return zipfile.is_zipfile(path)
    return False


def _check_apart(path: Path) -> None:
    """Raise ArenaError if this process looks for modules inside the bundle."""
    inside = path.resolve()
    for entry in [os.getcwd(), *sys.path]:
        if inside.is_dir() and Path(entry or ".").resolve().is_relative_to(inside):
            raise ArenaError(
                f"{path} is where this program runs or finds its modules, so it could import the bundle's files; "
                "start the check from a folder outside the bundle"
            )
    if inside.is_dir() and (inside / "__init__.py").exists() and _is_taken(inside.name):
        raise ArenaError(f"{path} is a package with the name of the module {inside.name!r}; rename the folder")


# -- copying ------------------------------------------------------------------------------------------------------


class _Copy:
    """A copy of a bundle: regular files and folders only, within size limits.

    Attributes:
        target: the folder copied to.
        digest: running hash of names and contents.
    """

    def __init__(self, target: Path, source: str) -> None:
        self.target, self._source = target, source
        self.digest = hashlib.sha256()
        self._bytes = self._files = 0
        target.mkdir(mode=0o755)

    def folder(self, folder: Path) -> None:
        """Copy a folder."""
        for name in self._names_in(folder, PurePosixPath()):
            try:
                descriptor = os.open(folder / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            except OSError as error:
                raise self._refused(name, f"cannot be read: {error.strerror}") from None
            with open(descriptor, "rb") as file:
                if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):  # replaced since it was listed
                    raise self._refused(name, "is not a regular file")
                self._add(name, file)

    def _names_in(self, folder: Path, below: PurePosixPath) -> Iterator[PurePosixPath]:
        try:
            with os.scandir(folder / below) as entries:
                found = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            raise self._refused(below, f"cannot be read: {error.strerror}") from None
        for entry in found:
            name = below / entry.name
            self._check_name(name)
            if entry.is_symlink():
                raise self._refused(name, "is a link; a bundle has files and folders only")
            if entry.is_dir(follow_symlinks=False):
                if entry.name != "__pycache__":
                    yield from self._names_in(folder, name)
            elif entry.is_file(follow_symlinks=False):
                yield name
            else:
                raise self._refused(name, "is a device, a pipe or a socket; a bundle has files and folders only")

    def archive(self, path: Path) -> None:
        """Unpack a zip file."""
        try:
            with zipfile.ZipFile(path) as archive:
                if len(archive.infolist()) > MOST_FILES:
                    raise ArenaError(f"{self._source} holds more than {MOST_FILES} files")
                for info in archive.infolist():
                    self._unpack(archive, info)
        except ArenaError:
            raise
        except Exception as error:  # zipfile raises many exception types for damaged files
            what = one_line(str(error)) or type(error).__name__
            raise ArenaError(f"{self._source} is a damaged or unsupported zip file: {what}") from None

    def _unpack(self, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> None:
        name = PurePosixPath(info.filename)
        self._check_name(name)
        kind = stat.S_IFMT(info.external_attr >> 16)
        if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
            raise self._refused(name, "is a link or a device; a bundle has files and folders only")
        if info.filename.startswith("/") or "\\" in info.filename or ".." in name.parts or not name.parts:
            raise self._refused(name, "points outside the bundle")
        if info.flag_bits & 0x1:
            raise self._refused(name, "is encrypted")
        if info.is_dir():
            (self.target / name).mkdir(parents=True, exist_ok=True)
        elif "__pycache__" not in name.parts:
            with archive.open(info) as file:
                self._add(name, file)

    def _check_name(self, name: PurePosixPath) -> None:
        if not str(name).isprintable() or len(str(name)) > _LONGEST_PATH or len(name.parts) > _DEEPEST:
            raise self._refused(name, f"has a name that is too long (over {_LONGEST_PATH}), too deep, or not printable")

    def _add(self, name: PurePosixPath, file: IO[bytes]) -> None:
        self._files += 1
        if self._files > MOST_FILES:
            raise ArenaError(f"{self._source} holds more than {MOST_FILES} files")
        target, content = self.target / name, hashlib.sha256()
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.exists():
            raise self._refused(name, "appears twice")
        with open(target, "xb") as copied:
            while data := file.read(_CHUNK):
                self._bytes += len(data)  # counted while copying: a zip file may lie about sizes
                if self._bytes > LARGEST:
                    raise ArenaError(f"{self._source} holds more than {LARGEST >> 20} MiB")
                content.update(data)
                copied.write(data)
        target.chmod(0o755)  # may be a program that the agent runs
        self.digest.update(f"{name}\0{content.hexdigest()}\n".encode())

    def _refused(self, name: object, why: str) -> ArenaError:
        return ArenaError(f"{self._source}: {one_line(str(name), 100)} {why}")


# -- reading the manifest -----------------------------------------------------------------------------------------


def _read(copy: _Copy, source: str, name: str | None) -> Bundle:
    manifest, values = copy.target / MANIFEST, {}
    shown = f"{source}: {MANIFEST}"
    if manifest.is_file():
        try:
            values = read_yaml(manifest, "arena", ArenaError)
        except ArenaError as error:
            raise ArenaError(str(error).replace(str(manifest), shown)) from None
    if not isinstance(values, dict) or not all(isinstance(part, str) for pair in values.items() for part in pair):
        raise ArenaError(f"{shown} should have lines `name: ...` and `agent: ...`")
    unknown = sorted(set(values) - {"name", "agent"})
    if unknown:
        what = one_line(", ".join(unknown))
        raise ArenaError(f"{shown}: unknown setting {what}; settings are: name, agent")
    called = name or values.get("name")
    if not called:
        raise ArenaError(f"the agent needs a name: set `name` in {MANIFEST}, or use --name")
    check_name(called, "the agent", ArenaError)
    digest = copy.digest.hexdigest()[:16]
    if "agent" in values:
        return Bundle(called, values["agent"], (), copy.target, digest)
    replays = tuple(sorted(copy.target.rglob("*.json")))
    if not replays:
        raise ArenaError(f"{source} has neither an agent (in {MANIFEST}) nor replays (*.json)")
    return Bundle(called, None, replays, copy.target, digest)


def _check_modules(folder: Path, source: str) -> None:
    """Raise ArenaError for modules named like installed ones: the wrong one would be imported."""
    taken = []
    for path in sorted(folder.iterdir()):
        is_package = path.is_dir() and any(path.glob("__init__.*"))
        is_module = path.is_file() and path.suffix in (".py", ".pyc", ".pyd", ".so")
        module = path.name.partition(".")[0]
        if (is_package or is_module) and _is_taken(module):
            taken.append(path.name)
    if taken:
        raise ArenaError(f"{source}: {', '.join(taken)} would shadow installed or standard modules; rename them")


def _is_taken(module: str) -> bool:
    if module in _START_UP or module in sys.stdlib_module_names:
        return True
    found = importlib.machinery.PathFinder.find_spec(module, python_path())
    return found is not None and found.origin is not None  # a plain folder of that name shadows nothing


def check_agent(bundle: Bundle, game: Game) -> None:
    """Check that the agent's spec may be submitted.

    Only built-in agents and code inside the bundle may play. A language model, for example, would spend the operator's
    API key at an address chosen by the submission.

    Raises:
        ArenaError: the spec may not be submitted.
    """
    assert bundle.agent is not None
    spec = bundle.agent
    kind, _, argument = spec.partition(":")
    shown = one_line(spec, 80)
    if not spec.isprintable():
        raise ArenaError(f"the agent {shown} is not a valid spec: it has unprintable characters")
    if kind not in ("search", "ismcts", "python", "process", *_FILES, *game.engine.policy_names()):
        raise ArenaError(f"{shown!r} cannot be submitted for {game.name}; a submission is {_FORMS}")
    if bundle.folder is None:
        return
    if kind == "python":
        _check_python(argument, shown, bundle.folder)
    elif kind == "process":
        _check_process(argument, shown)
    elif kind in _FILES:
        _check_inside(split_path(kind, argument, "policy")[0], shown, bundle.folder)
    elif kind in ("search", "ismcts"):
        if network := parameter_of("network", argument):
            _check_inside(network, shown, bundle.folder)
        for model in models_of(parameter_of("belief", argument)):
            name, _, file = model.partition(":")
            if name in _FILES:
                _check_inside(split_path(name, file, "policy")[0], shown, bundle.folder)


def _check_python(argument: str, shown: str, folder: Path) -> None:
    if not _MODULE.fullmatch(argument):
        raise ArenaError(f"{shown}: python agents are written python:MODULE:NAME")
    top = argument.partition(":")[0].partition(".")[0]
    if not any(path.name.partition(".")[0] == top for path in folder.iterdir()):
        raise ArenaError(f"{shown}: the bundle has no module {top!r}")


def _check_process(argument: str, shown: str) -> None:
    try:
        command = shlex.split(argument)
    except ValueError as error:
        raise ArenaError(f"{shown}: the command cannot be read: {error}") from None
    if not command:
        raise ArenaError(f"{shown}: process agents are written process:COMMAND")
    for part in command:
        inside = part.removeprefix(f"{BUNDLE}/")
        if inside.startswith("/") or ".." in PurePosixPath(inside).parts:
            raise ArenaError(f"{shown}: {part!r} points outside the bundle; write {BUNDLE}/... for its files")


def _check_inside(path: str, shown: str, folder: Path) -> None:
    inside = PurePosixPath(path)
    if inside.is_absolute() or ".." in inside.parts or "\\" in path:
        raise ArenaError(f"{shown}: the file must be in the bundle, with a path relative to it")
    if not (folder / inside).is_file():
        raise ArenaError(f"{shown}: the bundle has no file {path!r}")
