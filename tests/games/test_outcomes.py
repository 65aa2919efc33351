"""What observations say about legal actions with outcomes=True, beside what the actions then do."""

import itertools
import math
from collections import Counter

import numpy as np
import pytest

from cardenvs.core.registry import get_game
from cardenvs.games.casino.state import BIG_CASINO, LITTLE_CASINO
from cardenvs.games.gin_rummy import min_deadwood
from cardenvs.games.gin_rummy.actions import BIG_GIN, KNOCK_0, TAKE_UPCARD
from cardenvs.games.kasino.state import BIG_KASINO, SMALL_KASINO
from cardenvs.games.one_player_poker.rules import POSITIONS
from cardenvs.games.riichi.actions import CLOSED_KAN, RIICHI
from cardenvs.games.riichi.hands import count_ukeire, shanten
from cardenvs.games.riichi.state import num_unseen
from cardenvs.games.riichi.tiles import kind_of
from cardenvs.games.rummikub.outcomes import STEPS
from cardenvs.games.texas_holdem import hand_ranks
from cardenvs.games.texas_holdem.charts import equity_against_best, starting_hand
from cardenvs.kits.cards import ITALIAN
from cardenvs.kits.fishing.state import ACES, SPADES

GAMES = [
    "casino_v0",
    "cribbage_v0",
    "gin_rummy_v0",
    "hanabi_v0",
    "kasino_v0",
    "oh_hell_v0",
    "one_player_poker_v0",
    "pinnacola_v0",
    "riichi_v0",
    "scopa_v0",
    "spades_v0",
    "wingspan_v0",
]
RULE_AGENTS = {
    "cribbage_v0": "heuristic",
    "gin_rummy_v0": "heuristic",
    "hanabi_v0": "heuristic",
    "oh_hell_v0": "heuristic",
    "pinnacola_v0": "heuristic",
    "riichi_v0": "heuristic",
    "spades_v0": "heuristic",
    "wingspan_v0": "planner",
}
PRIMIERA = {7: 21, 6: 18, 1: 16, 5: 15, 4: 14, 3: 13, 2: 12, 8: 10, 9: 10, 10: 10}


def rows_of(state, player):
    """The rows of a player, as dicts by label."""
    layout = state.game.layout(state.options)
    _, number, width = layout.outcomes
    labels = [label.partition(":")[2] for label in layout.sections[-1].labels[:width]]
    rows = layout.split(state.observation(player))["outcomes"].reshape(number, width)
    return [dict(zip(labels, map(int, row), strict=True)) for row in rows]


def positions(name, games=4, plies=150, policy=None, **options):
    """Positions of games at random, or of a policy that plays two actions of three."""
    game, rng = get_game(name), np.random.default_rng(1)
    for seed in range(games):
        state = game.new_state(seed=seed, **(options or {"outcomes": True}))
        while not state.is_terminal and len(state.actions) < plies:
            yield state
            choice = int(rng.choice(state.legal_actions()))
            state.apply(state.policy_action(policy, 0) if policy and rng.random() < 2 / 3 else choice)


@pytest.mark.parametrize("name", GAMES)
def test_only_the_player_to_act_has_rows_one_for_each_legal_action(name):
    told = 0
    for state in positions(name, games=4, plies=60):
        number = len(state.legal_actions())
        for player in range(state.num_players):
            rows = rows_of(state, player)
            if player != state.current_player:
                assert not any(any(row.values()) for row in rows)
            assert not any(any(row.values()) for row in rows[number:])
        told += any(any(row.values()) for row in rows_of(state, state.current_player))
    assert told > 20


@pytest.mark.parametrize("name", RULE_AGENTS)
def test_the_best_is_what_the_rule_agent_chooses(name):
    policy, decisions = RULE_AGENTS[name], 0
    for state in positions(name, policy=policy):
        legal, rows = state.legal_actions(), rows_of(state, state.current_player)
        if 1 < len(legal) <= len(rows) and any(row["best"] for row in rows):
            assert rows[legal.index(state.policy_action(policy, 0))]["best"]
            decisions += 1
    assert decisions > 100


@pytest.mark.parametrize("name", ["cribbage_v0", "oh_hell_v0", "riichi_v0", "spades_v0", "wingspan_v0"])
def test_the_best_loses_nothing_and_others_lose_what_they_are_worth_less(name):
    for state in positions(name, games=2):
        rows = rows_of(state, state.current_player)
        lost = [row.get("less than best", 0) for row in rows]
        assert all(row["best"] == 0 or loss == 0 for row, loss in zip(rows, lost, strict=True))
        assert min(lost) >= 0


def chance_that_next_has(wanted, held, hidden):
    """The chance that a hand of `held` cards has one of `wanted` cards among `hidden` ones."""
    return 1 - math.comb(hidden - wanted, held) / math.comb(hidden, held)


def piles(state):
    """Cards on the table, and those each player has won, as bit sets."""
    record = state.record
    return int(record["table"]), [int(won) for won in record["won"]]


def deals_anew(before, after):
    """Whether cards have been dealt, or the game has ended, between two positions."""
    return after.is_terminal or int(after.record["num_dealt"]) != int(before.record["num_dealt"])


def numbers(cards):
    """The ids in a bit set."""
    return [card for card in range(52) if cards >> card & 1]


def test_kasino_says_what_a_play_gets_and_leaves():
    spades, aces = set(numbers(SPADES)), set(numbers(ACES))
    worth = dict.fromkeys(aces, 1) | {SMALL_KASINO: 1, BIG_KASINO: 2}
    values = [card % 13 + 1 for card in range(52)]
    in_hand = dict(enumerate(values)) | dict.fromkeys(aces, 14) | {SMALL_KASINO: 15, BIG_KASINO: 16}
    seen = set()
    for state in positions("kasino_v0", games=12):
        player, record = state.current_player, state.record
        before, won = piles(state)
        hidden = [card for card in range(52) if not (before | sum(won) | int(record["hands"][player])) >> card & 1]
        for action, row in zip(state.legal_actions(), rows_of(state, player), strict=False):
            copy = state.clone()
            copy.apply(action)
            if "compose" in state.action_label(action) or state.phase != "play" or deals_anew(state, copy):
                continue
            table, after = piles(copy)
            got, left = numbers(after[player] & ~won[player]), numbers(table)
            assert row["laid"] == (not got)
            assert [row["cards"], row["spades"]] == [min(len(got), 16), len(spades & set(got))]
            assert row["points"] == sum(worth.get(card, 0) for card in got)
            assert row["sweep"] == (copy.record["sweeps"][player] > record["sweeps"][player])
            assert [row["left cards"], row["left spades"]] == [min(len(left), 20), len(spades & set(left))]
            assert row["left points"] == sum(worth.get(card, 0) for card in left)
            total = sum(values[card] for card in left)
            assert row["left total"] == min(total, 100)
            held = int(record["hands"][1 - player]).bit_count()
            wanted = sum(in_hand[card] == total for card in hidden)
            assert abs(row["danger"] - 100 * chance_that_next_has(wanted, held, len(hidden))) <= 1
            seen |= {name for name, value in row.items() if value}
    assert len(seen) == len(row)


def test_casino_says_what_a_play_gets_builds_and_leaves():
    spades, worth = set(numbers(SPADES)), dict.fromkeys(numbers(ACES), 1) | {LITTLE_CASINO: 1, BIG_CASINO: 2}
    seen = set()
    for state in positions("casino_v0", games=12, outcomes=True, match=False):
        player, record = state.current_player, state.record
        before, won = piles(state)
        owned = [build for build in map(int, record["builds"]) if build]
        on_table = before | sum(owned) | sum(won)
        hidden = [card for card in range(52) if not (on_table | int(record["hands"][player])) >> card & 1]
        held = int(record["hands"][1 - player]).bit_count()
        for action, row in zip(state.legal_actions(), rows_of(state, player), strict=False):
            copy = state.clone()
            copy.apply(action)
            if state.phase != "play" or copy.phase != "play" or deals_anew(state, copy):
                continue
            table, after = piles(copy)
            got, left = numbers(after[player] & ~won[player]), numbers(table)
            built = set(map(int, copy.record["builds"])) - {0, *owned}
            assert [row["cards"], row["spades"]] == [len(got), len(spades & set(got))]
            assert row["points"] == sum(worth.get(card, 0) for card in got)
            assert row["laid"] == (not got and not built)
            assert row["sweep"] == (copy.record["sweeps"][player] > record["sweeps"][player])
            assert [row["left cards"], row["left spades"]] == [len(left), len(spades & set(left))]
            assert row["left points"] == sum(worth.get(card, 0) for card in left)
            cards = numbers(built.pop()) if built else []
            assert [row["build cards"], row["build spades"]] == [len(cards), len(spades & set(cards))]
            assert row["build points"] == sum(worth.get(card, 0) for card in cards)
            if cards:
                value, hand = row["build value"], numbers(copy.record["hands"][player])
                assert sum(card % 13 + 1 for card in cards) % value == 0
                assert row["build keys"] == sum(card % 13 + 1 == value for card in hand)
                wanted = sum(card % 13 + 1 == value for card in hidden)
                assert abs(row["build danger"] - 100 * chance_that_next_has(wanted, held, len(hidden))) <= 1
            total = sum(card % 13 + 1 for card in left)
            is_in_danger = not any(copy.record["builds"]) and (len(left) == 1 or 0 < total <= 10)
            wanted = sum(card % 13 + 1 == total for card in hidden) if is_in_danger else 0
            assert abs(row["danger"] - 100 * chance_that_next_has(wanted, held, len(hidden))) <= 1
            seen |= {name for name, value in row.items() if value}
    assert len(seen) == len(row)


def test_scopa_says_what_a_play_gets_and_leaves():
    values = [card % 10 + 1 for card in range(40)]
    diamonds = {card for card, label in enumerate(ITALIAN.labels) if label[-1] == "d"}
    seven = next(card for card in diamonds if values[card] == 7)
    seen = set()
    for state in positions("scopa_v0", games=12, outcomes=True, target=None):
        player = state.current_player
        before, won = piles(state)
        hidden = [c for c in range(40) if not (before | won[0] | won[1] | int(state.record["hands"][player])) >> c & 1]
        for action, row in zip(state.legal_actions(), rows_of(state, player), strict=False):
            copy = state.clone()
            copy.apply(action)
            if deals_anew(state, copy):
                continue
            table, after = piles(copy)
            got, left = numbers(after[player] & ~won[player]), numbers(table)
            assert [row["cards"], row["diamonds"]] == [min(len(got), 11), len(diamonds & set(got))]
            assert row["settebello"] == (seven in got)
            assert row["primiera"] == min(sum(PRIMIERA[values[card]] - 10 for card in got), 50)
            assert row["scopa"] == (copy.record["sweeps"][player] > state.record["sweeps"][player])
            assert [row["left cards"], row["left diamonds"]] == [min(len(left), 16), len(diamonds & set(left))]
            assert row["left settebello"] == (seven in left)
            total = sum(values[card] for card in left)
            assert row["left total"] == min(total, 100)
            held = int(state.record["hands"][1 - player]).bit_count()
            wanted = sum(values[card] == total for card in hidden)
            assert abs(row["danger"] - 100 * chance_that_next_has(wanted, held, len(hidden))) <= 1
            seen |= {name for name, value in row.items() if value}
    assert len(seen) == len(row)


def test_spades_says_what_the_others_may_do():
    tricks = []
    for state in positions("spades_v0", games=6, policy="heuristic"):
        rows = rows_of(state, state.current_player)[: len(state.legal_actions())]
        if state.phase == "bidding":
            assert [row["bid"] for row in rows] == [
                int(state.action_label(a).split()[-1]) if state.action_label(a)[-1].isdigit() else 0
                for a in state.legal_actions()
            ]
            assert len({row["tricks"] for row in rows}) == 1
            tricks.append(rows[0]["tricks"] / 10)
        elif state.phase == "play":
            for row in rows:
                assert 97 <= sum(row[f"seat {seat} wins"] for seat in range(4)) <= 103
    assert 2 < np.mean(tricks) < 5


def plan_of(state, player):
    parts = state.game.layout(state.options).split(state.observation(player))
    names = ("outcomes", "plan_step", "plan_tiles", "plan_waits")
    return {name: parts[name] for name in names}


def chance_of_at_least(number, wanted, drawn, cards):
    """The chance that at least `number` of `wanted` cards among `cards` are drawn with `drawn`."""
    ways = sum(math.comb(wanted, k) * math.comb(cards - wanted, drawn - k) for k in range(min(number, drawn + 1)))
    return 1 - ways / math.comb(cards, drawn)


def straight_chance(ranks, left, drawn):
    """The best chance of a straight with one more rank, whichever does, or with the two that one straight lacks."""
    straights = [{(low + step) % 13 for step in range(5)} for low in range(10)]
    if any(straight <= ranks for straight in straights):
        return 1.0
    completing = {(straight - ranks).pop() for straight in straights if len(straight - ranks) == 1}
    chances = [chance_of_at_least(1, sum(card % 13 in completing for card in left), drawn, len(left))]
    for straight in straights:
        if len(lacking := straight - ranks) == 2 and drawn > 1:
            one, other = (sum(card % 13 == rank for card in left) for rank in lacking)
            none = [1 - chance_of_at_least(1, number, drawn, len(left)) for number in (one, other, one + other)]
            chances.append(1 - none[0] - none[1] + none[2])
    return max(chances)


def test_one_player_poker_says_what_is_kept_and_may_become():
    seen, rng = set(), np.random.default_rng(2)
    for state in positions("one_player_poker_v0", games=8):
        hand, left = list(map(int, state.record["hand"])), numbers(state.record["left"])
        rows = rows_of(state, 0)
        for action in rng.choice(state.legal_actions(), 12):
            row, taken = rows[action], [card for k, card in enumerate(hand) if POSITIONS[action] >> k & 1]
            keep = [card for card in hand if card not in taken]
            of_rank = Counter(card % 13 for card in keep)
            kept = [sum(number >= least for number in of_rank.values()) for least in (2, 3, 4)]
            assert [row["kept"], row["pairs"], row["threes"], row["fours"]] == [len(keep), *kept]
            copy = state.clone()
            copy.apply(int(action))
            gain = int(copy.record["model_score"]) - int(state.record["model_score"])
            assert row["points"] == gain // 10
            suits = [(sum(card // 13 == suit for card in keep), suit) for suit in range(4)]
            assert row["suited"] == max(suits)[0]
            flush = max(
                chance_of_at_least(5 - held, sum(card // 13 == suit for card in left), len(taken), len(left))
                for held, suit in suits
            )
            assert abs(row["flush"] - 100 * flush) <= 0.5 + 1e-6
            assert abs(row["straight"] - 100 * straight_chance(set(of_rank), left, len(taken))) <= 0.5 + 1e-6
            wanted = {least: [rank for rank, number in of_rank.items() if number >= least] for least in (1, 2)}
            hit = {
                least: chance_of_at_least(1, sum(card % 13 in ranks for card in left), len(taken), len(left))
                for least, ranks in wanted.items()
            }
            assert abs(row["pair"] - 100 * (1 if kept[0] else hit[1])) <= 0.5 + 1e-6
            assert abs(row["three"] - 100 * (1 if kept[1] else hit[2] if kept[0] else 0)) <= 0.5 + 1e-6
            full = (1 if kept[0] > 1 or kept[2] else hit[1]) if kept[1] else hit[2] if kept[0] > 1 else 0
            assert abs(row["full house"] - 100 * full) <= 0.5 + 1e-6
            seen |= {name for name, value in row.items() if value}
    assert len(seen) >= len(row) - 1  # four of a rank are rare


def makes_a_meld(card, hand):
    """Whether a card and two others of a hand are a set or a run."""
    same_rank = sum(other % 13 == card % 13 for other in hand)
    run = {other - card for other in hand if other // 13 == card // 13}
    return same_rank >= 2 or any(steps <= run for steps in ({-2, -1}, {-1, 1}, {1, 2}))


def test_gin_rummy_says_what_actions_leave():
    checked = Counter()
    for state in positions("gin_rummy_v0", policy="heuristic"):
        player, record = state.current_player, state.record
        hand = set(numbers(int(record["hands"][player])))
        known = set(numbers(int(record["known"][1 - player])))
        seen = hand | known | set(numbers(int(record["discards"])))
        rows = dict(zip(state.legal_actions(), rows_of(state, player), strict=False))
        for action, row in rows.items():
            left = hand - {action if action < 52 else action - KNOCK_0} if state.phase == "discard" else hand
            if action in (TAKE_UPCARD, BIG_GIN) or (state.phase == "wall" and action >= KNOCK_0):
                continue
            assert row["deadwood"] == min_deadwood(left)
            assert row["outs"] == sum(makes_a_meld(card, left) for card in set(range(52)) - seen)
            if action < 52 and makes_a_meld(action, known):
                assert row["risk"] == 100
                checked["fed"] += 1
            checked[state.phase] += 1
        least = min((row["burden"] for action, row in rows.items() if action < KNOCK_0), default=0)
        for action, row in rows.items():
            if action < KNOCK_0 and abs(row["burden"]) < 127 and row["more than least"] < 127 and least > -127:
                assert abs(row["more than least"] - (row["burden"] - least)) <= 1  # both are rounded
    assert checked["discard"] > 500
    assert checked["draw"] > 50


def chances_in_percent(state, place):
    """Chances that the card of the player to act is playable, useless or critical by its hints alone."""
    record, player, heights = state.record, state.current_player, state.record["heights"]
    seen = {"played": 0, "discarded": 0}
    counts = {name: [int(record[name]) >> 2 * card & 3 for card in range(25)] for name in seen}
    copies = [3 if card % 5 == 0 else 1 if card % 5 == 4 else 2 for card in range(25)]
    unseen = [copies[c] - counts["played"][c] - counts["discarded"][c] for c in range(25)]
    for card in record["hands"][1 - player][: record["hand_sizes"][1 - player]]:
        unseen[card] -= 1
    useless, critical = set(), set()
    for card in range(25):
        suit, rank = divmod(card, 5)
        lost = [counts["discarded"][c] == copies[c] for c in range(5 * suit + int(heights[suit]), card)]
        if rank < heights[suit] or any(lost) or counts["discarded"][card] == copies[card]:
            useless.add(card)
        elif copies[card] - counts["discarded"][card] == 1:
            critical.add(card)
    playable = {5 * suit + int(heights[suit]) for suit in range(5)}
    suits, ranks = int(record["suits"][player, place]), int(record["ranks"][player, place])
    fits = [card for card in range(25) if suits >> card // 5 & 1 and ranks >> card % 5 & 1]
    number = sum(unseen[card] for card in fits)
    return [100 * sum(unseen[c] for c in fits if c in cards) // number for cards in (playable, useless, critical)]


def test_hanabi_says_what_cards_can_be_and_what_hints_touch():
    plain, hints = 0, 0
    for state in positions("hanabi_v0", policy="heuristic"):
        player, record = state.current_player, state.record
        for action, row in zip(state.legal_actions(), rows_of(state, player), strict=False):
            if action < 10:
                place = action % 5
                playable, useless, critical = chances_in_percent(state, place)
                assert row["playable by hints"] == playable
                if not record["called"][player, place]:  # no convention says more
                    assert [row["playable"], row["useless"], row["critical"]] == [playable, useless, critical]
                    plain += 1
                continue
            after = state.clone()
            after.apply(action)
            was, now = record["hinted"][1 - player], after.record["hinted"][1 - player]
            new = [int(record["hands"][1 - player][k]) for k in range(5) if now[k] and not was[k]]
            sets = [sum(int(record[name]) >> 2 * card & 1 for card in new) for name in ("useless", "critical")]
            assert [row["wastes"], row["keeps"]] == sets
            hints += len(new) > 0
    assert plain > 500
    assert hints > 500


def test_holdem_says_how_strong_the_hand_is():
    game, streets = get_game("texas_holdem_v0"), Counter()
    options = {"format": "cash", "num_players": 2, "outcomes": True}
    for state in positions("texas_holdem_v0", games=60, **options):
        player, record = state.current_player, state.record
        equity = dict(zip(*equity_of(state, player), strict=True))
        assert not equity_of(state, 1 - player)[1].any()
        shares = [equity["any hand"], equity["best of 2"], equity["best of 4"], equity["best of 8"]]
        own = [int(card) for card in record["deck"][2 * player : 2 * player + 2]]
        if state.phase == "preflop":
            assert equity["ahead"] == 0
            hand = starting_hand(*own)
            assert shares == [np.float32(equity_against_best(hand, width)) for width in (1000, 500, 250, 125)]
        else:
            board = [int(card) for card in record["deck"][4 : 4 + {"flop": 3, "turn": 4, "river": 5}[state.phase]]]
            pairs = list(itertools.combinations(sorted(set(range(52)) - {*own, *board}), 2))
            ranks = hand_ranks(np.array([[*own, *board], *([*pair, *board] for pair in pairs)]))
            ahead = ((ranks[0] > ranks[1:]).mean() + (ranks[0] >= ranks[1:]).mean()) / 2
            assert abs(equity["ahead"] - ahead) < 0.2  # more than 4.5 standard deviations
            if state.phase == "river":
                assert equity["any hand"] == equity["ahead"]
                assert shares == sorted(shares, reverse=True)
        streets[state.phase] += 1
    assert set(streets) == set(game.phases)


def equity_of(state, player):
    layout = state.game.layout(state.options)
    return layout.sections[-1].labels, layout.split(state.observation(player))["equity"]


def test_riichi_says_what_discards_leave_and_may_cost():
    threatened, discards = 0, 0
    for state in positions("riichi_v0", policy="heuristic"):
        player, record = state.current_player, state.record
        others = [p for p in range(4) if p != player]
        hand = np.zeros(34, np.int8)
        for face in range(37):
            hand[kind_of(face)] += record["hands"][player, face]
        unseen = np.array([num_unseen(record, player, kind) for kind in range(34)])
        for action, row in zip(state.legal_actions(), rows_of(state, player), strict=False):
            if action >= CLOSED_KAN or not row["valued"]:
                continue
            kind, after, melds = kind_of(action % RIICHI), hand.copy(), int(record["num_melds"][player])
            after[kind] -= 1
            assert row["shanten"] == shanten(after, melds)
            assert row["ukeire"] == min(count_ukeire(after, melds, unseen), 127)
            if all(int(record["thrown"][p] | record["passed"][p]) >> kind & 1 for p in others):
                assert row["danger"] == 0
            discards += 1
            threatened += row["danger"] > 0
    assert discards > 1000
    assert threatened > 100


def test_rummikub_shows_the_next_step_of_the_play_and_whether_the_planner_waits():
    seen = set()
    for state in positions("rummikub_v0", games=3, plies=120, policy="planner", outcomes=True, steps="loose"):
        player = state.current_player
        plan = plan_of(state, player)
        for other in range(state.num_players):
            assert other == player or not any(part.any() for part in plan_of(state, other).values())
        step = STEPS[int(plan["plan_step"].argmax())]
        label = state.action_label(state.policy_action("planner", 0))
        assert plan["plan_step"].sum() == 1
        if plan["plan_waits"][0]:
            assert label.split()[-1] in ("draw", "pass", "done")  # it gives up what was begun, or ends it
        else:
            kinds = {"draw": "idle", "pass": "idle", "done": "done"}
            assert kinds.get(label, label.split()[0]) == step or step == "idle"
        legal = state.legal_actions()
        number = legal.index(state.policy_action("max_tiles", 0))
        assert np.flatnonzero(plan["outcomes"]).tolist() == ([number] if number < len(plan["outcomes"]) else [])
        assert (plan["plan_tiles"][0] >= 1) == (step != "idle")
        seen.add(step)
    assert {"idle", "lay"} <= seen
