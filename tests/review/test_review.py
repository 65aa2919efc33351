"""Reviews: mistakes with known prices, what a player cannot know, plays of several actions, words."""

import numpy as np
import pytest

import cardenvs
from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import AgentError, PolicyNotFoundError
from cardenvs.core.replay import Replay
from cardenvs.games.texas_holdem.actions import raise_action
from cardenvs.review import Judge, Judged, judge_of, review_game
from cardenvs.review.decisions import document
from cardenvs.review.kinds import kinds_of_mistakes, pattern
from cardenvs.review.story import turning_points

KUHN = cardenvs.get_game("kuhn_poker_v0")
JACK, QUEEN, KING = 0, 1, 2


def played(name, *, seed=1, policies=("random",), deck=None, **options):
    """A game in which the players' policies take turns."""
    state = cardenvs.get_game(name).new_state(seed=seed, deck=deck, **options)
    while not state.is_terminal:
        state.apply(state.policy_action(policies[state.ply % len(policies)], state.ply))
    return Replay.of(state)


def kuhn(deck, *labels):
    state = KUHN.new_state(seed=0, deck=deck)
    for label in labels:
        state.apply(state.action_from_label(label))
    return Replay.of(state)


def reviewed(replay, by="random", **settings):
    options = replay.game.make_options(**replay.options)
    return review_game(replay, judge_of(by, replay.game, options, settings.pop("sees_all", False)), **settings)


# ---------------------------------------------------------------------------------------------------------------
# Prices of mistakes


def test_a_call_with_the_worst_card_costs_what_it_puts_in():
    review = reviewed(kuhn([KING, JACK], "bet", "call"))
    (call,) = review.mistakes
    assert (call.player, call.ply, call.played, call.best) == (1, 1, "call", "fold")
    assert (call.value, call.loss, call.best_value) == (-2, 1, -1)  # all worlds agree: a jack never wins
    assert review.loss(1) == 1
    assert review.loss(0) == 0
    assert review.accuracy(1) == -100  # folding gains half a chip over chance, calling loses half a chip
    assert review.fortune(1) == 0  # its mistake explains all that it lost


def test_folding_the_best_card_costs_the_pot():
    (fold,) = reviewed(kuhn([QUEEN, KING], "bet", "fold")).mistakes
    assert (fold.played, fold.best, fold.loss) == ("fold", "call", 3)


def test_who_plays_best_makes_no_mistake():
    review = reviewed(kuhn([KING, JACK], "bet", "fold"))
    assert review.mistakes == []
    assert review.accuracy(1) == 100
    assert review.fortune(1) == pytest.approx(0, abs=1e-9)  # a jack that folds loses its ante whatever is dealt


def test_by_its_own_judge_a_policy_of_search_loses_little():
    state = cardenvs.get_game("leduc_poker_v0").new_state(seed=4)
    judge = judge_of("search:playout=random", state.game, state.options)
    while not state.is_terminal:
        plays = [(action,) for action in state.legal_actions()]
        best = judge.returns(state, plays, 99 + state.ply, 4000).mean(0).argmax()
        state.apply(plays[int(best)][0])
    assert reviewed(Replay.of(state), "search:playout=random", worlds=2000).mistakes == []


def test_where_all_plays_are_equal_chance_makes_few_mistakes():
    replay = played("kuhn_poker_v0", seed=3)

    class Coin:
        def returns(self, state, plays, seed, rounds):
            return np.random.default_rng(seed % 2**32).normal(size=(rounds, len(plays)))

    losses = [review_game(replay, Judge("coin", False, Coin()), worlds=50, seed=seed).mistakes for seed in range(200)]
    share = sum(map(len, losses)) / (200 * len(reviewed(replay).decisions))
    assert share < 0.05  # 2 standard errors, one side, where the best is not the play made


# ---------------------------------------------------------------------------------------------------------------
# Knowledge


def test_a_review_of_a_player_is_the_same_whatever_the_others_hold():
    one, other = (reviewed(kuhn([QUEEN, hidden], "pass", "bet", "call"), players=[0]) for hidden in (JACK, KING))
    assert [vars(judged) for judged in one.decisions] == [vars(judged) for judged in other.decisions]


@pytest.mark.parametrize("name", ["gin_rummy_v0", "hearts_v0", "texas_holdem_v0", "durak_v0", "skat_v0"])
def test_a_twin_is_judged_alike(name):
    game = cardenvs.get_game(name)
    judge = judge_of("search:playout=random", game, game.make_options())
    state = game.new_state(seed=5)
    for ply in range(12):
        if state.is_terminal:
            break
        twin = state.determinize(state.current_player, 77)
        plays = [(action,) for action in state.legal_actions()[:4]]
        assert np.array_equal(judge.returns(state, plays, ply, 5), judge.returns(twin, plays, ply, 5))
        state.apply(state.policy_action("random", ply))


@pytest.mark.parametrize(
    ("hidden", "labels", "better", "value", "loss"),
    [(KING, ("pass", "bet", "call"), "fold", -2, 1), (JACK, ("pass", "bet", "fold"), "call", -1, 3)],
)
def test_with_all_cards_the_price_is_that_of_the_cards_as_they_lay(hidden, labels, better, value, loss):
    review = reviewed(kuhn([QUEEN, hidden], *labels), sees_all=True)
    last = review.of(0)[-1]
    assert (last.played, last.best, last.value, last.loss) == (labels[-1], better, value, loss)


def test_the_same_seed_gives_the_same_review():
    replay = played("gin_rummy_v0", seed=2)
    one, two, other = (document(reviewed(replay, "search", worlds=20, seed=seed)) for seed in (1, 1, 2))
    assert one == two
    assert one["decisions"] != other["decisions"]


# ---------------------------------------------------------------------------------------------------------------
# Judges


@pytest.mark.parametrize("by", ["random", "search:playout=random", "ismcts:simulations=4"])
def test_any_agent_can_judge(by):
    (call,) = (one for one in reviewed(kuhn([KING, JACK], "bet", "call"), by, worlds=10).mistakes if one.player == 1)
    assert (call.played, call.loss) == ("call", 1)


@pytest.mark.parametrize(
    ("by", "message"),
    [
        ("search:simulations=50", "in a number of worlds of its own; leave out 'simulations'"),
        ("python:nothing.here:Agent", "by an agent of cardenvs, not by other code"),
        ("nobody", "no agent 'nobody' for kuhn_poker_v0"),
    ],
)
def test_a_judge_that_cannot_be_is_refused(by, message):
    with pytest.raises(AgentError, match=message):
        judge_of(by, KUHN, KUHN.make_options())


def test_who_needs_whole_histories_judges_only_where_deals_can_be_listed():
    game = cardenvs.get_game("gin_rummy_v0")
    with pytest.raises(
        AgentError, match="needs whole histories, which cannot be listed in gin_rummy_v0; judge by search"
    ):
        judge_of("ismcts", game, game.make_options())
    assert judge_of("ismcts", game, game.make_options(), sees_all=True).sees_all


@pytest.mark.parametrize("name", ["kuhn_poker_v0", "leduc_poker_v0"])
def test_deals_that_can_be_listed_are_judged_by_agents_that_need_histories(name):
    assert reviewed(played(name), by="ismcts:simulations=4", worlds=10).judge.spec == "ismcts:simulations=4"


def test_a_search_with_a_network_plays_out_by_the_network():
    pytest.importorskip("torch")
    game = cardenvs.get_game("leduc_poker_v0")
    state, values = game.new_state(seed=3), []
    for by in ("zoo:leduc_poker_v0/magnet", "search:network=zoo:leduc_poker_v0/magnet"):
        judge = judge_of(by, game, state.options, sees_all=True)
        values.append(judge.returns(state, [(action,) for action in state.legal_actions()], 1, 8).tolist())
    assert values[0] == values[1]


def test_amounts_without_an_id_are_judged():
    game = cardenvs.get_game("texas_holdem_v0")
    state = game.new_state(seed=1, num_players=2, format="cash")
    state.apply(raise_action(state.options, 57))
    while not state.is_terminal:
        state.apply(state.policy_action("equity", state.ply))
    review = reviewed(Replay.of(state), worlds=10)
    assert state.game.new_state(seed=1, num_players=2, format="cash").action_label(state.actions[0]) == "raise to 57"
    assert review.decisions[0].played == "raise to 57"


def test_an_unknown_playout_is_refused():
    with pytest.raises(PolicyNotFoundError, match="no policy 'clever'"):
        judge_of("search:playout=clever", KUHN, KUHN.make_options())


@pytest.mark.parametrize(
    ("settings", "message"), [({"worlds": 9}, "at least 10 worlds; got 9"), ({"players": [2]}, "players 0 to 1; got 2")]
)
def test_wrong_settings_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        reviewed(kuhn([KING, JACK], "bet", "call"), **settings)


# ---------------------------------------------------------------------------------------------------------------
# Games


def test_a_play_of_several_actions_is_one_decision():
    replay = played("canasta_v0", policies=("heuristic",), target=500)
    review = reviewed(replay, "search:playout=random", worlds=10, players=[0])
    assert max(one.actions for one in review.decisions) > 1
    plies = [one.ply for one in review.decisions]
    assert all(after >= one.ply + one.actions for one, after in zip(review.decisions, plies[1:], strict=False))


def test_a_forfeit_is_no_decision():
    state = KUHN.new_state(seed=0, deck=[KING, JACK])
    state.apply(FORFEIT + 0)
    assert reviewed(Replay.of(state)).decisions == ()


def test_a_game_that_goes_on_can_be_reviewed():
    state = KUHN.new_state(seed=0, deck=[KING, JACK])
    state.apply(state.action_from_label("bet"))
    review = reviewed(Replay.of(state))
    assert not review.is_over
    assert [one.played for one in review.decisions] == ["bet"]
    assert all(point.until <= 1 for point in turning_points(review))


@pytest.mark.rotating
def test_every_game_can_be_reviewed(every_game):
    state = every_game.new_state(seed=3)
    policy = every_game.playout_policy
    while not state.is_terminal and state.ply < 12:
        state.apply(state.policy_action(policy, state.ply))
    review = reviewed(Replay.of(state), "search", worlds=10)
    bounds = every_game.returns(state.options)
    for one in review.decisions:
        assert bounds.low <= one.value <= one.best_value <= bounds.high
    assert {point.player for point in turning_points(review)} <= set(range(state.num_players))


# ---------------------------------------------------------------------------------------------------------------
# Words


def test_turning_points_are_the_largest_changes_in_order():
    replay = kuhn([KING, JACK], "bet", "call")
    points = turning_points(reviewed(replay))
    assert [point.ply for point in points] == sorted(point.ply for point in points)
    (blunder,) = (point for point in points if point.is_mistake)
    assert (blunder.player, blunder.change) == (1, -1)
    assert blunder.text == "player_1 chose “call”; “fold” was worth 1 more."


def test_what_a_reviewed_player_did_not_see_is_not_told():
    replay = played("gin_rummy_v0", seed=2, policies=("heuristic",))
    review = reviewed(replay, "search", worlds=10, players=[0])
    told = " ".join(point.text for point in turning_points(review, most=1000))
    assert "player_1 draws a card" in told or "player_1 takes" in told
    drawn = [event for event in replay.events() if event.player == 1 and event.kind == "draw_stock"]
    assert drawn
    for event in drawn:
        card = replay.game.view.token_label(event.token)
        assert f"player_1 draws {card}" not in told


@pytest.mark.parametrize(
    ("label", "wanted"),
    [
        ("discard 7♦", "discard …"),
        ("knock discarding 10♥", "knock discarding …"),
        ("take the pile by adding 5, discard 3♠", "take the pile by adding …, discard …"),
        ("take set 12 apart (R6 R7 R8), done", "take set … apart …, done"),
        ("raise to 1943, 1/2 pot", "raise to … pot"),
        ("hint player_1 red", "hint … red"),
        ("pass", "pass"),
    ],
)
def test_kinds_of_plays_leave_out_cards_and_numbers(label, wanted):
    assert pattern(label) == wanted


def test_kinds_of_mistakes_add_up():
    review = reviewed(kuhn([KING, JACK], "bet", "call"))
    again = reviewed(kuhn([QUEEN, KING], "bet", "fold"))
    kinds = kinds_of_mistakes(KUHN, [(0, *review.mistakes), (1, *again.mistakes), (2, *again.mistakes)])
    assert [(kind.text, kind.loss, len(kind.examples)) for kind in kinds] == [
        ("fold: better call (phase play)", 6, 2),
        ("call: better fold (phase play)", 1, 1),
    ]
    assert kinds[0].worst.game == 1


@pytest.mark.parametrize(
    ("game", "played", "best", "wanted"),
    [
        ("gin_rummy_v0", "discard 7♦", "discard K♣", "discard …: better a higher one (phase p)"),
        ("gin_rummy_v0", "discard 7♦", "discard A♦", "discard …: better a lower one (phase p)"),
        ("gin_rummy_v0", "discard 7♦", "discard 7♣", "discard …: better one of another suit (phase p)"),
        ("gin_rummy_v0", "discard 7♦", "knock discarding 7♦", "discard …: better knock discarding … (phase p)"),
        ("oh_hell_v0", "bid 3", "bid 10", "bid …: better a higher one (phase p)"),
        ("canasta_v0", "meld 4 4 4", "meld 5 5 5", "meld …: better another one (phase p)"),
    ],
)
def test_kinds_say_how_the_better_play_differed(game, played, best, wanted):
    mistake = Judged(0, 0, "p", played, best, 2, 0.0, 1.0, 0.1, 0.0, ())
    (kind,) = kinds_of_mistakes(cardenvs.get_game(game), [(0, mistake)])
    assert kind.text == wanted
