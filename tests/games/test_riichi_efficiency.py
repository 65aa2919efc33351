"""What observations say of the own hand with efficiency=True, worked out again from the hand and the table."""

import numpy as np
import pytest

import cardenvs
from cardenvs.games.riichi.actions import PASS
from cardenvs.games.riichi.hands import shanten, ukeire
from cardenvs.games.riichi.state import ASKED
from cardenvs.games.riichi.tiles import NUM_FACES, NUM_KINDS, kind_of

GAME = cardenvs.get_game("riichi_v0")


def sections(state, player):
    """The sections, as {name: array}."""
    split = GAME.layout(state.options).split(state.observation(player))
    return {name: split[name] for name in ("shanten", "ukeire", "keeps", "best", "helps", "calls")}


def counts_of(record, player):
    counts = np.zeros(NUM_KINDS, np.int8)
    for face in range(NUM_FACES):
        counts[int(kind_of(face))] += record["hands"][player, face]
    return counts


def expected(state, player):
    """The sections, from distances alone."""
    record = state.records[0]
    counts, melds = counts_of(record, player), int(record["num_melds"][player])
    unseen = 4 - record["seen"] - counts
    distance = shanten(counts, melds)
    found = {name: np.zeros(NUM_KINDS, int) for name in ("ukeire", "keeps", "best", "helps")}
    found |= {"shanten": np.zeros(10, int), "calls": np.zeros(4, int)}
    found["shanten"][distance + 1] = 1
    kinds = [kind for kind in range(NUM_KINDS) if counts[kind]]
    if counts.sum() % 3 == 2:
        distance = max(distance, 0)
        for kind in kinds:
            counts[kind] -= 1
            if shanten(counts, melds) == distance:
                lower = [k for k in range(NUM_KINDS) if unseen[k] > 0 and counts[k] < 4
                         and shanten(counts + np.eye(NUM_KINDS, dtype=np.int8)[k], melds) < distance]  # fmt: skip
                found["ukeire"][kind] = sum(int(unseen[k]) for k in lower)
                found["keeps"][kind] = 1
            counts[kind] += 1
        most = max(found["ukeire"][kind] for kind in kinds if found["keeps"][kind])
        found["best"] = found["keeps"] * (found["ukeire"] == most)
        return found
    bits = ukeire(counts, melds, unseen.astype(np.int8))
    found["helps"] = np.array([bits >> kind & 1 for kind in range(NUM_KINDS)])
    if record["phase"] == ASKED and record["turn"] != player:
        called = int(kind_of(int(record["tile"])))
        runs = [] if called >= 27 or player != (record["turn"] + 1) % 4 else [
            [low + k for k in range(3) if low + k != called] if called // 9 == low // 9 == (low + 2) // 9 else None
            for low in (called, called - 1, called - 2)
        ]  # fmt: skip
        for k, used in enumerate([*(runs or [None] * 3), [called, called]]):
            left = counts.copy()
            for kind in used or ():
                left[kind] -= 1
            found["calls"][k] = used is not None and min(left) >= 0 and shanten(left, melds + 1) < distance
    return found


@pytest.mark.parametrize("policy", ["heuristic", "random"])
def test_sections_of_whole_rounds(policy):
    calls = 0
    for seed in range(4):
        state = GAME.new_state(seed=seed, efficiency=True)
        while not state.is_terminal:
            for player in {state.current_player, (state.current_player + 1) % 4}:
                seen, wanted = sections(state, player), expected(state, player)
                for name, section in seen.items():
                    assert section.tolist() == wanted[name].tolist(), (name, seed, state.ply, player)
                calls += seen["calls"].any()
            forced = state.legal_actions() == [PASS]
            state.apply(PASS if forced else state.policy_action(policy, state.ply))
    assert calls


def test_by_default_observations_leave_it_to_the_player():
    assert "ukeire" not in {section.name for section in GAME.layout(GAME.make_options()).sections}
