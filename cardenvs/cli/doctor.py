"""`cardenvs doctor`."""

import json
import os
import platform
import shutil
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib import metadata
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Option

from cardenvs.cli.shared import escaped, new_console, new_table

if TYPE_CHECKING:
    from packaging.requirements import Requirement

# For users; the other extras are for development.
_EXTRAS = ("train", "data", "minari", "llm", "report", "arena", "pictures", "server", "sb3", "ray", "bench")
_MEBIBYTE = 1 << 20


@dataclass(frozen=True)
class Finding:
    """One line of the report."""

    what: str  # what was checked
    state: str  # the result
    advice: str = ""  # what to do about it, or empty
    is_problem: bool = False  # whether something will not work


def doctor(as_json: Annotated[bool, Option("--json", help="Print the report as JSON.")] = False) -> None:
    """Check the installation: versions, clashes between packages, processor, threads, compile cache.

    Exits with 1 if something will not work, and prints what to install or pin.

    Examples:

    - `cardenvs doctor`
    - `cardenvs doctor --json`
    """
    report = {
        "Core": [_python(), *_core_packages()],
        "Extras": list(_extras()),
        "Packages that do not fit together": list(_clashes()),
        "Machine": [_cores(), *_threads(), _sandbox()],
        "Compiled code": [_cache()],
    }
    if as_json:
        typer.echo(json.dumps({title: [asdict(one) for one in found] for title, found in report.items()}, indent=2))
    else:
        _print(report)
    if any(one.is_problem for found in report.values() for one in found):
        raise typer.Exit(1)


def _print(report: dict[str, list[Finding]]) -> None:
    console = new_console()
    for title, findings in report.items():
        console.print(f"[bold]{title}[/bold]")
        table = new_table("", "")
        for one in findings or [Finding("", "none found")]:
            colour = "red" if one.is_problem else "yellow" if one.advice else "green"
            text = f"[{colour}]{escaped(one.state)}[/{colour}]"
            table.add_row(f"  {one.what}", f"{text}\n{escaped(one.advice)}" if one.advice else text)
        console.print(table)
        console.print()


def _python() -> Finding:
    from packaging.specifiers import SpecifierSet

    version, wanted = platform.python_version(), metadata.metadata("cardenvs")["Requires-Python"]
    fits = SpecifierSet(wanted).contains(version, prereleases=True)
    return Finding("python", version, "" if fits else f"cardenvs needs Python {wanted}", not fits)


def _core_packages() -> Iterator[Finding]:
    for requirement in _requirements():
        fits = _fits(requirement)
        advice = "" if fits else f'pip install "{_plain(requirement)}"'
        yield Finding(requirement.name, _installed(requirement.name) or "missing", advice, not fits)


def _extras() -> Iterator[Finding]:
    for extra in _EXTRAS:
        needed = list(_requirements(extra))
        wrong = [one for one in needed if not _fits(one)]
        if not wrong:
            yield Finding(extra, ", ".join(f"{one.name} {_installed(one.name)}" for one in needed))
            continue
        lacking = (f"{_plain(one)} (found {_installed(one.name) or 'nothing'})" for one in wrong)
        yield Finding(extra, "needs " + ", ".join(lacking), f'pip install "cardenvs[{extra}]"')


def _clashes() -> Iterator[Finding]:
    """Yield installed packages that require other versions of the packages that cardenvs needs."""
    from packaging.requirements import InvalidRequirement, Requirement

    ours = {one.name: str(one) for extra in ("", *_EXTRAS) for one in _requirements(extra)}
    for package in metadata.distributions():
        name = package.metadata["Name"]
        for text in package.requires or () if name != "cardenvs" else ():
            try:
                wanted = Requirement(text)
            except InvalidRequirement:
                continue  # metadata of another package, which pip accepted
            if wanted.name.lower() not in ours or (wanted.marker and not wanted.marker.evaluate({"extra": ""})):
                continue
            found = _installed(wanted.name)
            if found is not None and not wanted.specifier.contains(found, prereleases=True):
                advice = f'pip install "{_plain(wanted)}", or give {name} an environment of its own'
                yield Finding(name, f"needs {_plain(wanted)}, found {found}", advice)


def _requirements(extra: str = "") -> Iterator["Requirement"]:
    """Yield the requirements of cardenvs, or those that an extra adds."""
    from packaging.requirements import Requirement

    for text in metadata.requires("cardenvs") or ():
        requirement = Requirement(text)
        if requirement.name == "cardenvs":
            if extra and requirement.marker and requirement.marker.evaluate({"extra": extra}):
                for other in requirement.extras:
                    yield from _requirements(other)
        elif requirement.marker is None:
            if not extra:
                yield requirement
        elif "extra" not in str(requirement.marker):
            if not extra and requirement.marker.evaluate():
                yield requirement
        elif extra and requirement.marker.evaluate({"extra": extra}):
            yield requirement


def _plain(requirement: "Requirement") -> str:
    """Return a requirement without its marker, as pip takes it."""
    extras = f"[{','.join(sorted(requirement.extras))}]" if requirement.extras else ""
    return f"{requirement.name}{extras}{requirement.specifier}"


def _installed(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _fits(requirement: "Requirement") -> bool:
    installed = _installed(requirement.name)
    return installed is not None and requirement.specifier.contains(installed, prereleases=True)


def _cores() -> Finding:
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return Finding("processor", f"{platform.machine()}, {usable} usable cores of {os.cpu_count()}")


def _threads() -> Iterator[Finding]:
    from cardenvs.core.kernel import COMPILED

    if not COMPILED:
        yield Finding("compiler", "off", "unset CARDENVS_COMPILE and NUMBA_DISABLE_JIT: uncompiled games are slow")
    policy = os.environ.get("OMP_WAIT_POLICY")
    advice = (
        ""
        if policy or _installed("torch") is None
        else "export OMP_WAIT_POLICY=PASSIVE before torch is imported: on a busy machine its threads spin"
    )
    yield Finding("threads", f"OMP_WAIT_POLICY={policy or 'unset'}", advice)


def _sandbox() -> Finding:
    if sys.platform.startswith("linux") and shutil.which("bwrap") is None:
        return Finding("sandbox", "no bubblewrap", "install bubblewrap to check submitted agents in isolation")
    return Finding("sandbox", "bubblewrap" if shutil.which("bwrap") else "not available on this system")


def _cache() -> Finding:
    from cardenvs.core import cache

    folder = cache.cache_folder()
    files = [path.stat().st_size for path in folder.rglob("*") if path.is_file()] if folder.is_dir() else []
    size = f"{len(files)} files, {sum(files) / _MEBIBYTE:.0f} MiB in {folder}"
    if cache.trusted_folder() is None or not os.access(folder, os.W_OK):
        return Finding("cache", size, "not writable: set CARDENVS_CACHE_DIR to a folder of yours", True)
    if cache.PREBUILT_FOLDER.is_dir() and cache.runs_prebuilt_code():
        return Finding("cache", f"{size}; and prebuilt code in the package")
    return Finding("cache", size, "" if files else "run `cardenvs warmup` to compile all games now")
