"""Write the golden replays anew: python tests/golden/regenerate.py [GAME ...]

A golden replay must still verify as long as its game's version stays. Write one anew only for a game whose version
has risen, and read the diff. Each game has one with its defaults, and one for each option value listed here that
changes play.
"""

import random
import sys
from pathlib import Path

import cardenvs
from cardenvs.core.codes import FORFEIT
from cardenvs.core.replay import Replay

FOLDER = Path(__file__).parent
OPTIONS = {
    "blackjack_v0": [
        {"num_players": 3, "insurance": True, "surrender": "late", "rounds": 3, "penetration": 30, "bet_units": (1, 5)},
        {"decks": 0, "naturals": "sab", "peek": False, "hit_21": True, "double": "none", "max_hands": 1, "rounds": 4},
    ],
    "canasta_v0": [{"num_players": 4, "ask_partner": True, "match": True, "target": 500}, {"num_players": 3}],
    "casino_v0": [{"num_players": 4, "teams": True, "match": False}, {"royal": True, "table_only_builds": True}],
    "durak_v0": [
        {"num_players": 3, "variant": "perevodnoy", "show_trump_transfer": True},
        {"num_players": 6, "teams": "trios"},
    ],
    "gin_rummy_v0": [{"oklahoma": True, "layoff": "manual", "big_gin": True}, {"match_target": 20}],
    "bridge_v0": [
        {"scoring": "rubber", "honours": True, "max_deals": 3},
        {"phase": "play", "result": "imps"},
        {"phase": "auction", "tricks": (8, 5, 8, 5, 9, 4, 9, 4, 6, 7, 6, 7, 7, 6, 6, 6, 8, 5, 8, 4)},
    ],
    "briscola_v0": [{"num_players": 4}, {"target": 2, "reward": "points"}],
    "dou_dizhu_v0": [
        {"rebid": False, "first_bidder": "random", "rocket_kicker": True, "returns": "win_loss"},
        {"four_with_two": False, "ambiguous_kickers": True, "all_pass": "zero"},
        {"bidding": "none", "returns": "rlcard"},
    ],
    "crazy_eights_v0": [
        {"num_players": 2, "skip": "Q", "reverse": "A", "draw_two": "2", "openspiel": True},
        {
            "num_players": 6,
            "draw_two": "7",
            "draw_when_able": False,
            "scoring": "own_penalty",
            "target": 100,
            "hand_size": 4,
            "start_eight": "wild",
            "max_plays": 60,
        },
    ],
    "cribbage_v0": [
        {"num_players": 3, "target": 61, "skunk": True, "explicit_go": False, "first_dealer": 2},
        {"num_players": 4, "muggins": True, "crib_flush": "four", "show_order": "seats", "heels": 1},
    ],
    "riichi_v0": [
        {"length": "east", "starting_points": 8_000, "multiple_ron": "triple", "uma": "10-20", "oka": 5},
        {"red_fives": False, "swap_calling": True, "abortive_draws": False, "kan_dora": False, "returns": "rank"},
    ],
    "ristiseiska_v0": [
        {"num_players": 5, "beg": "random", "play_begged": True, "extra": True, "end": "places", "ace": "closer"},
        {"num_players": 4, "beg": "token", "five_after_eight": True, "match_target": "100", "dealer": 3},
    ],
    "hearts_v0": [
        {"num_players": 3, "lead_any_club": True, "jd_bonus": True, "moon": "choice"},
        {"num_players": 5, "target": 50, "first_trick_points": True, "no_trick_bonus": True},
    ],
    "euchre_v0": [
        {"joker": True, "discard_upcard": True, "lone_defender": True, "alone_lead": "left_of_maker"},
        {"target": 5, "stick_the_dealer": False, "need_suit_to_order": True, "partner_assist_alone": True},
    ],
    "hanabi_v0": [
        {"num_players": 4, "rainbow": "wild", "bomb_score": "count", "start_player": "random"},
        {"num_players": 3, "preset": "small", "empty_hints": True, "discard_at_max": True},
    ],
    "kasino_v0": [{"num_players": 4, "teams": True, "match": True}, {"num_players": 3, "draw_variant": True}],
    "katko_v0": [{"num_players": 4, "poker_point": True}, {"num_players": 3, "two_rule": True, "leader": "winner"}],
    "kuhn_poker_v0": [{"num_players": 3}],
    "marjapussi_v0": [
        {"match_target": 12, "beat": "full", "calls_per_lead": 2, "bag": True},
        {"pack": "32", "ask": "open", "trump_change": True, "scoring": "hand_points", "declare_first_lead": True},
    ],
    "pinnacola_v0": [
        {"num_players": 4, "hand_size": 15, "pinelle": True, "wilds_per_meld": 2, "attach": "any", "target": 300},
        {"pozzo": "whole", "close_needs": "poker", "close_discard": "optional", "stock_end": "pozzo", "jokers": False},
    ],
    "one_player_poker_v0": [{"plays": 2, "discards": 0, "reward": "gameplay"}],
    "rummikub_v0": [{"num_players": 2, "steps": "loose"}, {"num_players": 3, "joker_rule": "free", "returns": "win"}],
    "oh_hell_v0": [
        {"num_players": 5, "order_of_bids": "simultaneous", "trump": "rotate", "schedule": "up", "max_cards": 4},
        {"num_players": 3, "scoring": "penalty", "returns": "rank", "max_cards": 3, "first_dealer": "random"},
    ],
    "liars_dice_v0": [
        {
            "num_players": 3,
            "wild": "ones",
            "ones_bids": "halved",
            "format": "elimination",
            "exact_call": True,
            "palifico": True,
        },
        {
            "num_players": 4,
            "dice": 2,
            "sides": 8,
            "bidding": "face_first",
            "format": "elimination",
            "loss": "difference",
        },
    ],
    "leduc_poker_v0": [{"num_players": 3}, {"ante": 5, "raise_size": (3, 10), "max_raises": 4}],
    "scopa_v0": [{"num_players": 3, "target": None, "napola": True}, {"num_players": 4, "scopone": "nine"}],
    "skat_v0": [{"all_pass": "ramsch", "jump_bids": False, "deals": 3}, {"bidding": "openspiel", "deals": 2}],
    "spades_v0": [
        {"target": 100, "lose_at": -300, "blind_nil": True, "blind_deficit": 0, "blind_nil_pass": 2},
        {"partners": False, "first_lead": "low_club", "failed_nil": "count", "nil": False},
    ],
    "texas_holdem_v0": [
        {"format": "cash", "num_players": 9, "num_hands": 5, "ante": 5},
        {"betting": "fcpa"},
        {"betting": "limit", "stacks": (70, 200, 90, 150), "hands_per_level": 3},
        {
            "betting": "limit",
            "format": "cash",
            "stacks": (400, 58, 137, 61, 83),
            "num_hands": 6,
            "small_bet": 10,
            "big_bet": 30,
            "max_bets": 3,
            "blind_counts": False,
            "heads_up_cap": False,
            "short_raise": "levels",
            "street_order": "after_last",
        },
        {"betting": "pot_limit", "num_players": 3},
    ],
    "uno_v0": [
        {
            "num_players": 3,
            "stacking": "any",
            "seven_zero": True,
            "jump_in": True,
            "uno_call": "action",
            "hand_size": 4,
        },
        {"num_players": 2, "rlcard": True},
        {"draw": "until_playable", "forced_play": True, "target": 50, "scoring": "against", "max_turns": 100},
    ],
    "wingspan_v0": [{"num_players": 5, "goals": "blue", "reward": "score"}, {"num_players": 3, "reward": "winner"}],
}


def record(name: str, options: dict, seed: int) -> Replay:
    """One game of random play; in the last of three somebody forfeits."""
    state, chooser = cardenvs.get_game(name).new_state(seed=seed, **options), random.Random(seed)
    while not state.is_terminal:
        if seed == 2 and state.ply == 1:
            state.apply(FORFEIT + state.current_player)
        else:
            state.apply(chooser.choice(state.legal_actions()))
    return Replay.of(state)


def main(names: list[str]) -> None:
    """Write the replays of `names`, or of all registered games."""
    for name in names or cardenvs.list_games():
        for k, options in enumerate([{}, *OPTIONS.get(name, [])]):
            path = FOLDER / f"{name}-{k}.json"
            record(name, options, seed=k).save(path)
            print(path)


if __name__ == "__main__":
    main(sys.argv[1:])
