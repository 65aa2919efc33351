"""Bundles of strangers: what is refused before anything of it runs, and what its code cannot reach when it runs."""

import os
import socket
import stat
import struct
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

from cardenvs.agents.guarded.guest import Guest
from cardenvs.agents.guarded.limits import AgentLimits
from cardenvs.agents.guarded.proxy import AgentProxy
from cardenvs.agents.guarded.sandbox import chosen, why_unavailable
from cardenvs.arena import Store
from cardenvs.arena.bundle import LARGEST, check_agent, opened_bundle
from cardenvs.arena.experiment import Experiment
from cardenvs.arena.submit import check_submission
from cardenvs.core.errors import ArenaError, CardenvsError
from cardenvs.core.registry import get_game

pytestmark = [pytest.mark.rotating, pytest.mark.programs]

needs_sandbox = pytest.mark.skipif(why_unavailable() is not None, reason=f"no sandbox here: {why_unavailable()}")
KUHN = get_game("kuhn_poker_v0")
BOARD = Experiment.of({
    "name": "the board", "deals": 2, "seed": 2, "games": ["kuhn_poker_v0"], "agents": ["random"],
    "anchors": {"random": 1000}, "guard": {"isolation": "none"}, "schedule": "field",
})  # fmt: skip
BOT = """
class Bot:
    name = "bot"

    def reset(self, seed):
        pass

    def act(self, turn):
        return turn.legal_actions[-1]


def make(game, options):
    return Bot()
"""


def bundled(folder, agent="python:submitted_bot:make", **files):
    """A folder with an agent, and files by name with _ for the dot."""
    folder.mkdir(exist_ok=True)
    (folder / "submitted_bot.py").write_text(BOT)
    (folder / "submission.yaml").write_text(f"name: the bot\nagent: {agent!r}\n")
    for name, text in files.items():
        (folder / name.replace("_dot_", ".")).write_text(text)
    return folder


def refused(where, match, name=None):
    """Opening a bundle is refused, in a line."""
    with pytest.raises(CardenvsError, match=match) as error, opened_bundle(str(where), name) as opened:
        check_agent(opened, KUHN)
    assert str(error.value).isprintable()


# ---------------------------------------------------------------------------------------------------------------
# Code


@pytest.mark.parametrize("module", ["numpy", "json", "sitecustomize", "usercustomize", "cardenvs", "typing", "torch"])
def test_modules_that_shadow_others_are_refused(tmp_path, module):
    if module == "torch":
        pytest.importorskip("torch")
    folder = bundled(tmp_path / "bundle")
    (folder / f"{module}.py").write_text("raise SystemExit('it ran')")
    refused(folder, rf"{module}.py would shadow installed or standard modules")
    (folder / f"{module}.py").unlink()
    (folder / module).mkdir()
    (folder / module / "__init__.py").write_text("raise SystemExit('it ran')")
    refused(folder, f"{module} would shadow")


def test_a_bundle_in_which_the_check_runs_is_refused(tmp_path, monkeypatch):
    folder = bundled(tmp_path / "bundle")
    monkeypatch.chdir(folder)
    refused(folder, "start the check from a folder outside the bundle")
    refused(".", "start the check from a folder outside the bundle")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(folder))
    refused(folder, "start the check from a folder outside the bundle")


def test_a_bundle_that_is_a_package_of_a_taken_name_is_refused(tmp_path):
    refused(bundled(tmp_path / "numpy", __init___dot_py=""), "is a package with the name of the module 'numpy'")


@pytest.mark.parametrize("sandbox", ["auto", "none"])
def test_the_fork_server_runs_no_module_of_a_bundle(tmp_path, sandbox):
    """It tries to import some that may not be installed."""
    tried = [name for name in ("cffi", "coverage", "cython", "org", "scipy", "tbb") if find_spec(name) is None]
    noting = BOT.replace("return turn.legal", "turn.notes['early'] = EARLY\n        return turn.legal")
    folder = bundled(tmp_path / "bundle", **{f"{name}_dot_py": "" for name in tried})
    (folder / "submitted_bot.py").write_text(f"import sys\nEARLY = sorted({set(tried)} & set(sys.modules))\n{noting}")
    folder.chmod(0o755)
    guest, spec = Guest("early", str(folder), sandbox=chosen(sandbox)), "python:submitted_bot:make"
    with AgentProxy.of(spec, KUHN, KUHN.make_options(), guest=guest) as proxy:
        state = KUHN.new_state(seed=1)
        proxy.begin(state, state.current_player, 0)
        assert proxy.decide(state).notes["early"] == []


SPY = """
import os, socket, sys

def seen(turn):
    found = {}
    found["state"] = hasattr(turn, "_Turn__state") and getattr(turn, "_Turn__state").has_history
    found["key"] = "sk-of-the-host" in str(dict(os.environ))
    found["path"] = sys.path.index(os.getcwd()) if os.getcwd() in sys.path else -1
    found["last"] = found["path"] == len(sys.path) - 1 or found["path"] > sys.path.index(PACKAGES)
    found["secret"] = os.path.exists(SECRET)
    try:
        with open(MARK, "w") as file:
            file.write("x")
    except OSError:
        pass
    try:
        socket.create_connection(("127.0.0.1", PORT), 2)
        found["network"] = True
    except OSError:
        found["network"] = False
    return found
"""


@pytest.mark.parametrize("mode", ["auto", "none"])
@pytest.mark.parametrize("guard", [{"isolation": "none"}, {"isolation": "thread"}, {"on_failure": "stop"}])
def test_code_of_a_bundle_runs_apart_whatever_the_board_says(tmp_path, monkeypatch, mode, guard):
    if mode == "none" and guard != {"isolation": "none"}:
        pytest.skip("one is enough")
    boxed = mode == "auto" and why_unavailable() is None
    monkeypatch.setenv("HOST_API_KEY", "sk-of-the-host")
    secret, mark = tmp_path / "secret", tmp_path / "mark"
    secret.write_text("x")
    packages = next(path for path in sys.path if path.endswith("-packages"))
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        spy = (
            f"PACKAGES, SECRET, MARK, PORT = {(packages, str(secret), str(mark), listening.getsockname()[1])!r}\n{SPY}"
        )
        noting = BOT.replace("return turn.legal", "turn.notes['seen'] = seen(turn)\n        return turn.legal")
        folder = bundled(tmp_path / "bundle")
        (folder / "submitted_bot.py").write_text(spy + noting)
        board = Experiment.of({**BOARD.config, "seed": 2, "guard": guard})
        with opened_bundle(str(folder)) as opened, Store() as store:
            result = check_submission(opened, board, store=store, sandbox=mode)
            match = result.board.games[0].match
            notes = [note["notes"]["seen"] for record in store.records(match.id) for note in record.notes]
    assert "submitted_bot" not in sys.modules
    assert notes
    for found in notes:
        assert not found["state"]
        assert not found["key"]
        assert found["last"]
        if boxed:
            assert not found["secret"]
            assert not found["network"]
    assert mark.exists() is not boxed
    said = any("played without a sandbox" in remark for remark in result.remarks)
    assert said is not boxed


@pytest.mark.parametrize(
    ("agent", "message"),
    [
        ("llm:env", "cannot be submitted for kuhn_poker_v0; a submission is a policy of the game, search"),
        ("llm:x,base_url=http://192.0.2.1,api_key_env=HOME,transcript=/tmp/x", "cannot be submitted"),
        ("castle", "cannot be submitted"),
        ("", "cannot be submitted"),
        ("python:os:system", "the bundle has no module 'os'"),
        ("python:submitted_bot", "are written python:MODULE:NAME"),
        ("python:../submitted_bot:make", "are written python:MODULE:NAME"),
        ("process:", "are written process:COMMAND"),
        ("process:'", "the command cannot be read"),
        ("process:/bin/sh -c true", "points outside the bundle"),
        ("process:python3 {bundle}/../x.py", "points outside the bundle"),
        ("process:python3 ../x.py", "points outside the bundle"),
        ("ppo:/etc/passwd", "the file must be in the bundle"),
        ("ppo:../x.pt", "the file must be in the bundle"),
        ("ppo:x.pt", "the bundle has no file 'x.pt'"),
        ("ppo:", "needs the path of a file"),
        ("search:belief=ppo:/etc/passwd", "the file must be in the bundle"),
        ("search:belief=tabular:../x.npz", "the file must be in the bundle"),
        ("search:belief=random+ppo:/etc/passwd", "the file must be in the bundle"),
        ("search:simulations=5,belief=ppo:x.pt", "the bundle has no file 'x.pt'"),
        ("random\x1b[31m", "unprintable characters"),
    ],
)
def test_what_may_not_be_submitted(tmp_path, agent, message):
    import json

    folder = bundled(tmp_path / "bundle")
    (folder / "submission.yaml").write_text(f"name: the bot\nagent: {json.dumps(agent)}\n")
    refused(folder, message)


@pytest.mark.parametrize("spec", ["llm:env", "llm:mini,base_url=http://192.0.2.1"])
def test_a_bare_spec_is_no_language_model_either(spec):
    refused(spec, "cannot be submitted")


def test_a_sandbox_that_is_required_and_a_bare_spec(tmp_path):
    with opened_bundle("python:os:getcwd") as opened, pytest.raises(CardenvsError, match="put it in a bundle"):
        check_submission(opened, BOARD, sandbox="require")


# ---------------------------------------------------------------------------------------------------------------
# Files


def test_links_and_devices_are_refused(tmp_path):
    folder = bundled(tmp_path / "bundle")
    odd = folder / "odd"
    for make in (
        lambda: odd.symlink_to("/etc/passwd"),
        lambda: odd.symlink_to("submission.yaml"),
        lambda: odd.symlink_to(folder),
        lambda: os.mkfifo(odd),
    ):
        make()
        refused(folder, r"odd is a (link|device, a pipe or a socket); a bundle has files and folders only")
        odd.unlink()
    refused("/dev/null", "is not a bundle")
    os.mkfifo(tmp_path / "fifo")
    refused(tmp_path / "fifo", "is not a bundle")
    os.mkfifo(folder / "submission.json")
    refused(folder, "is a device, a pipe or a socket")


def test_files_without_bounds_are_refused(tmp_path):
    folder = bundled(tmp_path / "bundle")
    with open(folder / "sparse", "wb") as file:
        file.truncate(LARGEST + 1)
    refused(folder, "holds more than 200 MiB")
    (folder / "sparse").unlink()
    deep = folder
    for _ in range(25):
        deep /= "d"
        deep.mkdir()
    (deep / "x").write_text("x")
    refused(folder, "has a name that is too long .*, too deep, or not printable")


def zipped(path, **entries):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("submission.yaml", "name: x\nagent: random\n")
        for name, content in entries.items():
            archive.writestr(name, content)
    return path


@pytest.mark.parametrize("name", ["/etc/x", "../x", "a/../../x", "a\\..\\x", "\x1b[31m", "\u202etxt", "a/" * 30 + "x"])
def test_names_in_a_zip_that_lead_out_of_it_are_refused(tmp_path, name):
    refused(zipped(tmp_path / "b.zip", **{name: "x"}), "points outside|has a name that is")
    assert not (tmp_path / "x").exists()


def test_a_link_in_a_zip_is_refused(tmp_path):
    link = zipfile.ZipInfo("link")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as archive:
        archive.writestr(link, "/etc/passwd")
    refused(tmp_path / "b.zip", "link is a link or a device")


def test_a_zip_that_unpacks_to_more_than_it_says_is_refused(tmp_path):
    bomb = zipped(tmp_path / "b.zip", zeros=bytes(210 << 20))
    refused(bomb, "holds more than 200 MiB")
    data = bytearray(bomb.read_bytes())
    place = data.rindex(b"zeros") - 46  # the entry of the directory: what it says of its size
    assert data[place : place + 4] == b"PK\x01\x02"
    data[place + 24 : place + 28] = struct.pack("<I", 10)
    bomb.write_bytes(data)
    refused(bomb, "is a damaged or unsupported zip file|holds more than")


def test_damaged_zips_are_refused(tmp_path):
    whole = zipped(tmp_path / "b.zip", **{"submitted_bot.py": BOT}).read_bytes()
    broken = tmp_path / "broken.zip"
    for place in range(0, len(whole), 7):
        data = bytearray(whole)
        data[place] ^= 0xFF
        for damaged in (bytes(data), whole[:place]):
            broken.write_bytes(damaged)
            try:
                with opened_bundle(str(broken)):
                    pass
            except ArenaError as error:
                assert str(error).isprintable()  # noqa: PT017  it may be accepted, too


@pytest.mark.parametrize(
    "text",
    [
        "[" * 50_000,
        "{a: " * 50_000,
        "a: &a [x, x]\nb: &b [*a, *a]\n" + "".join(f"k{k}: &k{k} [*b, *b]\n" for k in range(100)),
        "&a [*a]",
        "name: !!python/object/apply:os.system [true]\n",
        "name: 2001-99-99\n",
        "name: \x00\n",
        "name: [1]\nagent: random\n",
        "? [a]\n: b\n",
        "name: 'a\u202eb'\nagent: random\n",
        'name: "a\\x1b[31mb"\nagent: random\n',
        'name: "a\\nb"\nagent: random\n',
        f"name: {'x' * 200}\nagent: random\n",
        "x" * (2 << 20),
    ],
)
def test_manifests_that_hurt_are_refused_in_a_line(tmp_path, text):
    folder = tmp_path / "bundle"
    folder.mkdir()
    (folder / "submission.yaml").write_text(text)
    refused(folder, "submission.yaml|is called")


@pytest.mark.parametrize("content", [b"[" * 100_000, b'{"a": ' * 100_000, b"\xff", b"1" * 10_000, b"null"])
def test_replays_that_hurt_are_no_games(tmp_path, content):
    folder = tmp_path / "bundle"
    folder.mkdir()
    (folder / "replay.json").write_bytes(content)
    with opened_bundle(str(folder), "me") as opened, pytest.raises(ArenaError, match="none of the replays") as error:
        check_submission(opened, BOARD)
    assert str(error.value).isprintable()


def test_names_on_the_command_line_are_checked(tmp_path):
    refused(bundled(tmp_path / "bundle"), "is called 'a.x1b.31m'; a name has no control", "a\x1b[31m")
    refused(bundled(tmp_path / "bundle"), "a name has at most 100 characters", "x" * 101)


@needs_sandbox
@pytest.mark.parametrize("marks", ["parents", "kernel", "files"])
def test_a_game_leaves_nothing_for_the_next_one_in_a_sandbox(tmp_path, marks):
    found = found_by_the_marking_bot(tmp_path, "sandbox", marks, "require")
    assert len(found[0]) > 90
    for later in found[1:]:
        assert {name: (found[0][name], value) for name, value in later.items() if value != found[0][name]} == {}


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere no process can change another one's limits")
def test_a_game_leaves_nothing_for_the_next_one_to_inherit_in_a_plain_process(tmp_path):
    found = found_by_the_marking_bot(tmp_path, "process", "parents", "none")
    assert len(found[0]) > 40
    for later in found[1:]:
        assert {name: (found[0][name], value) for name, value in later.items() if value != found[0][name]} == {}


def found_by_the_marking_bot(tmp_path, form, marks, sandbox):
    """What each game of the bot found when it began, one after the other."""
    folder = bundled(tmp_path / "bundle")
    code = Path(__file__).with_name("marking_bot.py").read_text()
    code = code.replace('FORM = "sandbox"', f"FORM = {form!r}").replace("MARKS = (", f"MARKS = ({marks!r},) or (")
    (folder / "submitted_bot.py").write_text(code)
    with opened_bundle(str(folder)) as opened, Store() as store:
        result = check_submission(opened, BOARD, store=store, sandbox=sandbox)
        match = result.board.games[0].match
        found = [note["notes"]["found"] for record in store.records(match.id) for note in record.notes]
    assert len(found) >= 4
    return found


HOG = """
import ctypes, mmap, os, sys, time

LIBC = ctypes.CDLL(None, use_errno=True)
kept = []

def take(way):
    if way == "mapped":
        kept.append(mmap.mmap(-1, 32 << 20))
        return kept[-1].write(bytes(32 << 20))
    if way == "file":
        kept.append(LIBC.memfd_create(b"x", 0))
        return os.write(kept[-1], bytes(32 << 20)) if kept[-1] >= 0 else 0
    if way == "shared":
        segment = LIBC.shmget(0, 32 << 20, 0o1600)
        LIBC.shmat.restype = ctypes.c_void_p
        place = LIBC.shmat(segment, None, 0) if segment >= 0 else None
        if not place:
            return 0
        ctypes.memset(place, 1, 32 << 20)
        LIBC.shmdt(ctypes.c_void_p(place))
        return 32 << 20
    with open(f"/tmp/{len(kept)}", "wb", buffering=0) as file:
        kept.append(file.fileno())
        return file.write(bytes(32 << 20))

def hog():
    taken = 0
    for step in range(96):  # three GiB
        try:
            taken += take(WAY)
        except OSError:
            break
        print(f"took {taken >> 20} MiB", file=sys.stderr, flush=True)
        time.sleep(0.01)
    return taken >> 20
"""


@needs_sandbox
@pytest.mark.parametrize("way", ["mapped", "file", "shared", "tmp"])
def test_memory_that_is_no_data_of_a_process_is_limited(tmp_path, way):
    """512 MiB for all together, and files of at most 64 MiB."""
    folder = bundled(tmp_path / "bundle")
    hogging = BOT.replace("return turn.legal", "turn.notes['took'] = hog()\n        return turn.legal")
    (folder / "submitted_bot.py").write_text(f"WAY = {way!r}\n{HOG}{hogging}")
    folder.chmod(0o755)
    limits = AgentLimits(on_failure="forced_action", memory_limit_mb=512, tries=1)
    guest, spec = Guest("hog", str(folder), sandbox=True), "python:submitted_bot:make"
    with AgentProxy.of(spec, KUHN, KUHN.make_options(), limits, guest=guest) as proxy:
        state = KUHN.new_state(seed=1)
        proxy.begin(state, state.current_player, 0)
        decision = proxy.decide(state)
    if way == "mapped":
        (failure,) = decision.failures
        assert failure.kind == "memory"
        took = int(failure.message.rpartition("took ")[2].partition(" ")[0])
    else:
        took = decision.notes["took"]
    print(f"{way}: {took} MiB under a limit of 512")
    assert took < {"mapped": 1536, "tmp": 65}.get(way, 1)
