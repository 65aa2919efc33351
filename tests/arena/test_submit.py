"""Submissions to a board: agents, and bundles of replays."""

import json
import sys
import zipfile

import pytest

from cardenvs.agents.guarded.sandbox import why_unavailable
from cardenvs.arena import Store
from cardenvs.arena.bundle import opened_bundle
from cardenvs.arena.experiment import Experiment
from cardenvs.arena.submit import check_submission
from cardenvs.arena.verify import replay_of
from cardenvs.core.errors import ArenaError

pytest.importorskip("pydantic")

pytestmark = [pytest.mark.rotating, pytest.mark.programs]

VALUES: dict = {
    "name": "the board",
    "deals": 16,
    "seed": 2,
    "games": ["kuhn_poker_v0", {"game": "leduc_poker_v0", "options": {"num_players": 3}, "deals": 15}],
    "agents": ["random", {"name": "searcher", "spec": "search:simulations=8"}, {"name": "other", "spec": "random"}],
    "anchors": {"random": 1000, "searcher": 1150},
    "guard": {"isolation": "none"},
}
BOARD = Experiment.of(VALUES)
SHORT = Experiment.of({**VALUES, "deals": 3, "games": ["kuhn_poker_v0"]})  # for agents in processes
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


@pytest.fixture
def bundle(tmp_path):
    """A folder with an agent."""
    folder = tmp_path / "bundle"
    folder.mkdir()
    (folder / "submitted_bot.py").write_text(BOT)
    (folder / "submission.yaml").write_text("name: the bot\nagent: python:submitted_bot:make\n")
    return folder


def checked(where, name=None, board=BOARD, **how):
    with opened_bundle(str(where), name) as opened:
        return check_submission(opened, board, **how)


def test_an_agent_in_a_bundle_is_rated_against_the_anchors(bundle):
    path = list(sys.path)
    told = []
    apart = Experiment.of({**VALUES, "deals": 4, "games": [VALUES["games"][0], {**VALUES["games"][1], "deals": 3}]})
    result = checked(bundle, board=apart, progress=lambda *now: told.append(now))
    assert sys.path == path
    assert "submitted_bot" not in sys.modules
    assert (result.name, result.faults) == ("the bot", ())
    assert ["played without a sandbox" in remark for remark in result.remarks] == [True] * (
        why_unavailable() is not None
    )
    overall = {rating.name: rating for rating in result.board.overall}
    assert set(overall) == {"the bot", "random", "searcher"}  # the agent that is no anchor does not play
    assert (overall["random"].rating, overall["searcher"].rating) == (pytest.approx(1000), pytest.approx(1150))
    assert overall["the bot"].low < overall["the bot"].rating < overall["the bot"].high
    kuhn, leduc = result.board.games
    assert kuhn.match.names == ("the bot", "random", "searcher")
    assert (kuhn.summary.games, leduc.summary.games) == (4 * 4, 3 * 6)
    assert kuhn.match.deal_seed(3) == BOARD.matches[0].deal_seed(3)
    assert {what for what, _, _ in told} == {"playing", "repeating", "playing again"}


def test_a_zip_file_is_a_submission_too(bundle, tmp_path):
    archive = tmp_path / "bundle.zip"
    with zipfile.ZipFile(archive, "w") as zipped:
        for file in bundle.iterdir():
            zipped.write(file, file.name)
    first, second = checked(archive, board=SHORT), checked(bundle, board=SHORT)
    assert [r.rating for r in first.board.overall] == [r.rating for r in second.board.overall]


def test_a_bare_spec_is_a_submission_too():
    bare = checked("search:simulations=2", board=SHORT)
    assert (bare.name, bare.faults) == ("search:simulations=2", ())


def test_an_agent_that_fails_or_does_not_repeat_itself_is_told_of(bundle):
    (bundle / "failing_bot.py").write_text(BOT.replace("return turn.legal_actions[-1]", "return 99"))
    (bundle / "submission.yaml").write_text("name: the bot\nagent: python:failing_bot:make\n")
    result = checked(bundle, board=SHORT)
    assert "Kuhn poker: the bot forfeited" in result.faults[0]
    assert "the bot had failed tries: illegal" in result.remarks[0]
    moody = BOT.replace("turn.legal_actions[-1]", "__import__('random').choice(turn.legal_actions)")
    (bundle / "moody_bot.py").write_text(moody)
    (bundle / "submission.yaml").write_text("name: the bot\nagent: python:moody_bot:make\n")
    assert "repeated games differ" in " ".join(checked(bundle, board=SHORT).remarks)


def test_a_stopped_check_is_gone_on_with(bundle, tmp_path):
    with Store(tmp_path / "check.db") as store:
        first = checked(bundle, board=SHORT, store=store)
        count = sum(store.count(match_id) for match_id in store.match_ids())
        again = checked(bundle, board=SHORT, store=store)
        assert sum(store.count(match_id) for match_id in store.match_ids()) == count
    assert [r.rating for r in first.board.overall] == [r.rating for r in again.board.overall]


@pytest.fixture(scope="module")
def replays(tmp_path_factory):
    """A folder with the replays of a search agent against the anchors, and its board."""
    folder = tmp_path_factory.mktemp("replays")
    with Store() as store:
        result = checked("search:simulations=3", "played elsewhere", store=store)
        for title, match in ((game.title, game.match) for game in result.board.games):
            for record in store.records(match.id):
                name = f"{title[:4]}-{record.deal:02}-{record.lineup}.json".lower()
                replay_of(match, record).save(folder / name)
    return folder, result.board


def copied(replays, tmp_path, leave_out=()):
    folder = tmp_path / "copy"
    folder.mkdir()
    for file in replays[0].iterdir():
        if file.name not in leave_out:
            (folder / file.name).write_text(file.read_text())
    return folder


def test_replays_give_the_ratings_that_the_agent_would_have(replays):
    result = checked(replays[0], "played elsewhere")
    assert result.faults == ()
    assert [(r.name, r.rating) for r in result.board.overall] == [(r.name, r.rating) for r in replays[1].overall]


def test_left_out_games_are_noticed(replays, tmp_path):
    folder = copied(replays, tmp_path, leave_out=["kuhn-03-1.json", "kuhn-05-0.json"])
    (fault,) = checked(folder, "played elsewhere").faults
    assert fault == "Kuhn poker: 2 games of the first 16 deals are missing (deal.lineup: 3.1, 5.0...)"


def edited(folder, file, **changes):
    path = folder / file
    data = json.loads(path.read_text())
    data.update(changes)
    path.write_text(json.dumps(data))


def test_edited_replays_are_noticed(replays, tmp_path):
    folder = copied(replays, tmp_path)
    edited(folder, "kuhn-00-0.json", returns=[5.0, -5.0])
    edited(folder, "kuhn-01-0.json", players=["played elsewhere", "somebody"])
    edited(folder, "kuhn-02-0.json", options={"num_players": 2, "ante": 5})
    (folder / "twice.json").write_text((folder / "kuhn-04-0.json").read_text())
    (folder / "broken.json").write_text("{")
    faults = "\n".join(checked(folder, "played elsewhere").faults)
    for shown in (
        "kuhn-00-0.json: replaying it returns",
        "kuhn-01-0.json: its players are ['played elsewhere', 'somebody']; expected",
        "kuhn-02-0.json",
        "twice.json: a second game of deal 4 in lineup 0",
        "broken.json is not a replay",
    ):
        assert shown in faults
    assert str(folder) not in faults


def test_other_deals_and_other_moves_of_anchors_are_noticed(replays, tmp_path):
    from cardenvs.core.registry import get_game
    from cardenvs.core.replay import Replay

    folder = copied(replays, tmp_path)
    game = get_game("kuhn_poker_v0")
    elsewhere = game.new_state(seed=1)
    while not elsewhere.is_terminal:
        elsewhere.apply(elsewhere.legal_actions()[0])
    Replay.of(elsewhere, ["played elsewhere", "random"]).save(folder / "kuhn-00-0.json")
    laid = game.new_state(seed=BOARD.matches[0].deal_seed(1), deck="K J")
    while not laid.is_terminal:
        laid.apply(laid.legal_actions()[-1])
    Replay.of(laid, ["played elsewhere", "random"]).save(folder / "kuhn-01-0.json")
    true = Replay.load(folder / "kuhn-02-1.json")  # the anchor moves first
    assert true.players[0] == "random"
    state = game.new_state(seed=true.setup["seed"])
    state.apply(next(action for action in state.legal_actions() if action != true.actions[0]))
    while not state.is_terminal:
        state.apply(state.legal_actions()[0])
    Replay.of(state, list(true.players)).save(folder / "kuhn-02-1.json")
    faults = "\n".join(checked(folder, "played elsewhere").faults)
    assert "kuhn-00-0.json: its seed 1 is not the seed of any of the board's 16 deals" in faults
    assert "kuhn-01-0.json: its cards were chosen by hand" in faults
    assert "kuhn-02-1.json: at action 0 the anchor random is recorded to choose" in faults


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "the agent needs a name"),
        ({"submission.yaml": "name: x"}, "has neither an agent .* nor replays"),
        ({"submission.yaml": "- x"}, "should have lines"),
        ({"submission.yaml": "name: ["}, "cannot be read"),
        ({"submission.yaml": "name: x\nagnt: random"}, "unknown setting agnt; settings are: name, agent"),
    ],
)
def test_bundles_that_are_none(tmp_path, files, message):
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(ArenaError, match=message):
        checked(tmp_path)


def test_what_cannot_be_rated_is_refused(tmp_path):
    (tmp_path / "notes.txt").write_text("x")
    with pytest.raises(ArenaError, match="is not a bundle"):
        checked(tmp_path / "notes.txt")
    with pytest.raises(ArenaError, match="'castle' cannot be submitted for kuhn_poker_v0; a submission is a policy"):
        checked("castle")
    with pytest.raises(ArenaError, match="an anchor of this board is named 'random'"):
        checked("search", "random")
    without = Experiment.of({"name": "x", "games": ["kuhn_poker_v0"], "agents": ["random", "search"]})
    with pytest.raises(ArenaError, match="has no anchors on this board"):
        checked("random", "me", board=without)
    (tmp_path / "other.json").write_text("{}")
    with pytest.raises(ArenaError, match="none of the replays is a game of this board"):
        checked(tmp_path, "me")
