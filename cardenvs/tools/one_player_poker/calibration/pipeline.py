"""Tiers of difficulty, targets and pools of seeds, from what policies make of every deck.

1. Every seed: the points of the rule agent, which does not know the order of the cards, and the most that the order
   allows. Even seeds are for practice, odd ones for challenges.
2. Tiers: thirds of the seeds by the rule agent's points; the more, the easier. One game says little about a deck, so
   seeds near a boundary are split by what their order allows.
3. Gate: a policy that does not know the order plays challenges of each tier. A quantile of its points is the tier's
   target, higher for harder tiers, so it passes a smaller share of them. The rule agent's points would not do: the
   tiers were chosen by them.
4. Only challenges that the gate's policy has passed enter their pool.

Points are model points: a straight flush counts as a flush. Everything follows from the parameters, so a stopped run
resumes from the parts it has written.
"""

import dataclasses
import datetime
import json
import math
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from cardenvs import __version__
from cardenvs.core.checks import parsed
from cardenvs.core.errors import ArenaError, OptionError
from cardenvs.core.files import check_output_folder, write_whole
from cardenvs.core.registry import get_game
from cardenvs.core.state import State
from cardenvs.games.one_player_poker.heuristic import recommended
from cardenvs.tools.one_player_poker.api.advice import POLICY, hint, rule_agent_points
from cardenvs.tools.one_player_poker.api.pools import FORMAT, MANIFEST, MOST_SEED, deck_seed, key_id
from cardenvs.tools.one_player_poker.api.session import CHALLENGE, GAME, PRACTICE
from cardenvs.tools.one_player_poker.calibration.solver import most_points

POLICIES = ("planner", "heuristic")  # that do not know the order of the cards
TIERS = {"easy": 0.25, "medium": 0.5, "hard": 0.75}  # the target of each: a quantile of the gate policy's points
NEAR = 0.05  # seeds whose rank is that close to a boundary are split by what their order allows
_CHUNK, _GATE_CHUNK = 500, 20
_SPARE = 1.1  # challenges tried for each that is wanted, beyond those expected to fail
_FEWEST = 30 * len(TIERS)

Progress = Callable[[int, int, str], None]
Row = dict[str, Any]


@dataclass(frozen=True)
class Parameters:
    """What a run depends on."""

    # seeds, `end` excluded
    first: int
    end: int
    pool: int  # seeds in each pool
    gate: str  # policy that must pass a challenge
    run_id: str  # name of the run

    def __post_init__(self) -> None:
        """Raise OptionError if there are too few seeds, or one is too large."""
        if self.end - 1 > MOST_SEED:
            raise OptionError(f"a seed is at most {MOST_SEED}")
        if self.end - self.first < _FEWEST:
            raise OptionError(f"tiers need at least {_FEWEST} seeds; got {self.end - self.first}")


class Pipeline:
    """A calibration run and its folder."""

    def __init__(self, folder: Path, parameters: Parameters, key: bytes = b"", workers: int | None = None) -> None:
        """Open the folder, which is new or holds a run with the same parameters.

        Decks are shuffled from the secret `key`; if it is empty, from the seeds alone. `workers` are processes; None:
        one per core.

        Raises:
            ArenaError: the folder holds another run.
            FileError: it cannot be written.
        """
        self.folder, self.parameters = folder, parameters
        self._key, self._workers, self._parts = key, workers, folder / "parts"
        facts = {**dataclasses.asdict(parameters), "engine_version": __version__, "deck_key_id": key_id(key)}
        self._facts = json.loads(json.dumps(facts))
        folder.parent.mkdir(parents=True, exist_ok=True)
        check_output_folder(folder)
        known = folder / "run.json"
        if known.exists():
            found = parsed(known.read_bytes(), str(known))
            if found != self._facts:
                other = ", ".join(name for name in self._facts if found.get(name) != self._facts[name])
                raise ArenaError(f"{folder} holds a run with another {other}; use another --run-id")
        self._parts.mkdir(parents=True, exist_ok=True)
        write_whole(known, _json(self._facts))

    def run(self, progress: Progress = lambda done, total, title: None) -> dict[str, Any]:
        """Do all that is not done yet, write the files, and return what summary.json holds.

        `progress` is called with the seeds done, their number, and what is being done.
        """
        with ProcessPoolExecutor(self._workers, get_context("spawn")) as pool:
            try:
                rows = self._look_at_all(pool, progress)
                tiers = tiers_of(rows)
                gated = {name: self._gated(pool, name, tiers[name], progress) for name in TIERS}
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        targets = {
            name: int(np.quantile([row["gate"] for row in found], TIERS[name], method="higher"))
            for name, found in gated.items()
        }
        pools = {name: self._pools(tiers[name], gated[name], targets[name]) for name in TIERS}
        tier_of = {row["seed"]: name for name, found in tiers.items() for row in found}
        self._write_lines("calibration_results.jsonl", ({**row, "tier": tier_of[row["seed"]]} for row in rows))
        self._write_manifest(pools, targets, least_points(rows))
        self._write_traces(pools, targets)
        summary = self._summary(rows, tiers, targets, gated, pools)
        write_whole(self.folder / "summary.json", _json(summary))
        return summary

    # -- passes over seeds --------------------------------------------------------------------------------------

    def _look_at_all(self, pool: ProcessPoolExecutor, progress: Progress) -> list[Row]:
        """Return for every seed: the points of the rule agent, and the most that the order allows."""
        first, end = self.parameters.first, self.parameters.end
        chunks = {f"seeds-{low}": range(low, min(low + _CHUNK, end)) for low in range(first, end, _CHUNK)}
        found = self._computed(pool, _look, chunks, lambda done: progress(done, end - first, "every deck"))
        return [row for name in chunks for row in found[name]]

    def _gated(self, pool: ProcessPoolExecutor, tier: str, rows: list[Row], progress: Progress) -> list[Row]:
        """Return challenges of a tier, in a random order, with the points of the gate's policy: enough for the pool."""
        parameters = self.parameters
        odd = np.array([row["seed"] for row in rows if mode_of(row["seed"]) == CHALLENGE])
        order = np.random.default_rng([parameters.first, list(TIERS).index(tier)]).permutation(odd).tolist()
        tried = order[: math.ceil(_SPARE * parameters.pool / (1 - TIERS[tier]))]
        chunks = {f"gate-{tier}-{low}": tried[low : low + _GATE_CHUNK] for low in range(0, len(tried), _GATE_CHUNK)}
        title = f"{tier} challenges, by {parameters.gate}"
        found = self._computed(
            pool, _gate_points, chunks, lambda done: progress(done, len(tried), title), parameters.gate
        )
        return [row for name in chunks for row in found[name]]

    def _computed(
        self, pool: ProcessPoolExecutor, work: Callable[..., list[Row]], chunks: dict[str, Any],
        progress: Callable[[int], None], *values: Any,
    ) -> dict[str, list[Row]]:  # fmt: skip
        """Return the rows of each chunk by name, from its file or computed and written now."""
        found: dict[str, list[Row]] = {}
        waiting: dict[Future[Any], str] = {}
        for name, seeds in chunks.items():
            path = self._parts / f"{name}.jsonl"
            if path.exists():
                found[name] = [parsed(line, str(path)) for line in path.read_text().splitlines()]
            else:
                waiting[pool.submit(work, list(seeds), self._key, *values)] = name
        done = sum(map(len, found.values()))
        progress(done)
        while waiting:
            for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                name = waiting.pop(future)
                found[name] = future.result()
                self._write_lines(f"parts/{name}.jsonl", found[name])
                done += len(found[name])
                progress(done)
        return found

    # -- results ------------------------------------------------------------------------------------------------

    def _pools(self, rows: list[Row], gated: list[Row], target: int) -> dict[str, list[int]]:
        even = np.array([row["seed"] for row in rows if mode_of(row["seed"]) == PRACTICE])
        chosen = np.random.default_rng(self.parameters.first).permutation(even)[: self.parameters.pool]
        passed = [row["seed"] for row in gated if row["gate"] >= target][: self.parameters.pool]
        if not passed or not len(chosen):
            raise ArenaError("a tier has no challenge that the gate's policy passes; calibrate more seeds")
        return {PRACTICE: sorted(chosen.tolist()), CHALLENGE: sorted(passed)}

    def _write_manifest(
        self, pools: dict[str, dict[str, list[int]]], targets: dict[str, int], least: dict[str, int]
    ) -> None:
        manifest = {
            "format": FORMAT,
            "run_id": self.parameters.run_id,
            "engine_version": __version__,
            "deck_key_id": key_id(self._key),
            "tiers": {
                name: {"target_score": targets[name], "least_points": least[name], **pools[name]} for name in pools
            },
        }
        write_whole(self.folder / MANIFEST, json.dumps(manifest) + "\n")

    def _write_traces(self, pools: dict[str, dict[str, list[int]]], targets: dict[str, int]) -> None:
        """Write the rule agent's own games on the seeds of all pools, apart by whether they reach the target."""
        lines: dict[bool, list[Row]] = {True: [], False: []}
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        for tier, of_mode in pools.items():
            for mode, seeds in of_mode.items():
                for seed in seeds:
                    points, steps = _trace(_deal(seed, self._key))
                    head = {"seed": seed, "mode": mode, "difficulty_tier": tier, "policy": POLICY}
                    head |= {"info_set": "order_unknown", "generated_at": now, "run_id": self.parameters.run_id}
                    head |= {"target_score": targets[tier], "score_total": points, "steps": steps}
                    lines[points >= targets[tier]].append(head)
        self._write_lines("trace_pass.jsonl", lines[True])
        self._write_lines("trace_fail.jsonl", lines[False])

    def _summary(
        self, rows: list[Row], tiers: dict[str, list[Row]], targets: dict[str, int], gated: dict[str, list[Row]],
        pools: dict[str, dict[str, list[int]]],
    ) -> dict[str, Any]:  # fmt: skip
        def rate(values: Iterable[int], target: int) -> float:
            return float(np.mean([value >= target for value in values]))

        found = {}
        for name, members in tiers.items():
            target = targets[name]
            found[name] = {
                "seeds": len(members),
                "target_score": target,
                "target_quantile": TIERS[name],
                "heuristic": _figures([row["heuristic"] for row in members]),
                "optimum": _figures([row["optimum"] for row in members]),
                "gate": _figures([row["gate"] for row in gated[name]]),
                "pass_rates": {
                    "heuristic": rate((row["heuristic"] for row in members), target),
                    "optimum": rate((row["optimum"] for row in members), target),
                    "gate": rate((row["gate"] for row in gated[name]), target),
                },
                "pools": {mode: len(seeds) for mode, seeds in pools[name].items()},
            }
        return {
            **self._facts,
            "game": GAME,
            "scoring": "model",
            "near": NEAR,
            "seeds": len(rows),
            "heuristic": _figures([row["heuristic"] for row in rows]),
            "optimum": _figures([row["optimum"] for row in rows]),
            "tiers": found,
        }

    def _write_lines(self, name: str, rows: Iterable[Row]) -> None:
        write_whole(self.folder / name, "".join(json.dumps(row) + "\n" for row in rows))


def mode_of(seed: int) -> str:
    """Return for what a seed is used: even ones for practice, odd ones for challenges."""
    return CHALLENGE if seed % 2 else PRACTICE


def tiers_of(rows: list[Row]) -> dict[str, list[Row]]:
    """Return the rows of each tier, easiest tier first, in the order of their seeds."""
    names = list(TIERS)
    generous_first = sorted(rows, key=lambda row: (-row["heuristic"], -row["optimum"], row["seed"]))
    for boundary in range(1, len(names)):
        middle, near = round(len(rows) * boundary / len(names)), round(NEAR * len(rows))
        band = slice(middle - near, middle + near)
        generous_first[band] = sorted(
            generous_first[band], key=lambda row: (-row["optimum"], -row["heuristic"], row["seed"])
        )
    ends = [round(len(rows) * part / len(names)) for part in range(len(names) + 1)]
    return {
        name: sorted(generous_first[ends[k] : ends[k + 1]], key=lambda row: row["seed"]) for k, name in enumerate(names)
    }


def least_points(rows: list[Row]) -> dict[str, int]:
    """Return the points of the rule agent from which a deck belongs to each tier, if not to an easier one.

    The server deals secret challenges by these. They ignore what the order allows, which no server may know.
    """
    points = sorted((row["heuristic"] for row in rows), reverse=True)
    last = [round(len(rows) * part / len(TIERS)) - 1 for part in range(1, len(TIERS))]
    return dict(zip(TIERS, [*(points[place] for place in last), 0], strict=True))


def _figures(values: list[int]) -> dict[str, float]:
    return {"mean": float(np.mean(values)), "sd": float(np.std(values, ddof=1)) if len(values) > 1 else 0.0}


def _json(data: Any) -> str:
    return json.dumps(data, indent=1) + "\n"


# -- what is done with single seeds, in other processes -----------------------------------------------------------


def _deal(seed: int, key: bytes) -> State:
    return get_game(GAME).new_state(seed=deck_seed(key, mode_of(seed), seed))


def _look(seeds: list[int], key: bytes) -> list[Row]:
    """Return the points of the rule agent on each seed, and the most that the order allows."""
    rows = []
    for seed in seeds:
        state = _deal(seed, key)
        optimum = most_points(state.record.deck)
        rows.append({"seed": seed, "heuristic": rule_agent_points(state), "optimum": optimum})
    return rows


def _gate_points(seeds: list[int], key: bytes, policy: str) -> list[Row]:
    """Return the points of the rule agent and of a policy on each seed."""
    rows = []
    for seed in seeds:
        found: Row = {"seed": seed}
        for name, field in (("heuristic", "heuristic"), (policy, "gate")):
            state = _deal(seed, key)
            while not state.is_terminal:
                state.apply(state.policy_action(name, state.ply))
            found[field] = int(state.record.model_score)
        rows.append(found)
    return rows


def _trace(state: State) -> tuple[int, list[dict[str, Any]]]:
    """Play a game by the rule agent; return its points and the advice of every step."""
    steps = []
    while not state.is_terminal:
        steps.append({"step_index": state.ply, **hint(state)})
        state.apply(int(recommended(state.record)[0]))
    return int(state.record.score), steps


def read_rows(path: Path) -> Iterator[Row]:
    """Yield the rows of a file of JSON lines."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield parsed(line, str(path))
