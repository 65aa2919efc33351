"""What an action id of Dou Dizhu says about its action, for networks."""

import numpy as np

from cardenvs.games.dou_dizhu.cards import BLACK, NUM_BITS, NUM_RANKS
from cardenvs.games.dou_dizhu.plays import BID_0, NUM_BIDS, NUM_KINDS, PASS, PLAYS, kinds_and_starts
from cardenvs.games.dou_dizhu.rules import num_actions

KIND = NUM_BITS  # first column of each part
START = KIND + NUM_KINDS
SIZE = START + NUM_RANKS
IS_PASS = SIZE + 1
BID = IS_PASS + 1
NUM_FEATURES = BID + NUM_BIDS


def action_features(options):
    """Return the cards of a play as in observations, its kind, lowest rank and number of cards; pass; the bid."""
    cards = PLAYS[: num_actions(options)]
    counts = cards[:, None] >> 4 * np.arange(NUM_RANKS) & 15
    features = np.zeros((len(cards), NUM_FEATURES), np.int8)
    features[:, : 4 * BLACK] = (counts[:, :BLACK, None] > np.arange(4)).reshape(len(cards), -1)
    features[:, 4 * BLACK : NUM_BITS] = counts[:, BLACK:]
    plays = np.flatnonzero(cards)
    kinds, starts = kinds_and_starts()
    features[plays, KIND + kinds[plays]] = 1
    features[plays, START + starts[plays]] = 1
    features[:, SIZE] = counts.sum(1)
    features[PASS, IS_PASS] = 1
    features[BID_0 + 1 + np.arange(NUM_BIDS), BID + np.arange(NUM_BIDS)] = 1
    return features
