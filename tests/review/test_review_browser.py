"""The page of a review in Chromium: its links lead to the positions of the game."""

import pytest

import cardenvs
from cardenvs.core.replay import Replay
from cardenvs.review import judge_of, review_game

pytest.importorskip("matplotlib")


def test_a_turning_point_leads_to_its_position(browser, tmp_path):
    from cardenvs.review.page import page

    state = cardenvs.get_game("leduc_poker_v0").new_state(seed=3)
    while not state.is_terminal:
        state.apply(state.policy_action("random", state.ply))
    replay = Replay.of(state)
    review = review_game(replay, judge_of("random", state.game, state.options), worlds=50)
    path = tmp_path / "review.html"
    path.write_text(page(review), encoding="utf-8")
    for width in (390, 1100):
        opened = browser.new_page(viewport={"width": width, "height": 800})
        errors = []
        opened.on("pageerror", lambda error, errors=errors: errors.append(error))
        opened.goto(path.as_uri())
        player = opened.frame_locator("#game iframe")
        player.locator("#count", has_text="0 of").wait_for()
        for link in opened.locator("[data-ply]").all():
            ply = int(link.text_content())
            link.click()
            player.locator("#count", has_text=f"{ply} of").wait_for()
        last = review.decisions[-1]
        opened.evaluate("ply => document.querySelector('#game iframe').contentWindow.postMessage({ply}, '*')", last.ply)
        player.locator("#notes", has_text="Mean return of each move").wait_for()
        assert opened.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert errors == []
        opened.close()
