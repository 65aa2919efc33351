"""One score over the suite: a fixed protocol of games, opponents and deals, on which 0 is random play and 100 is the
protocol's reference player.

    protocol.py   the protocol, from a file of this package
    scores.py     from the games played to scores, with intervals
    card.py       the result as a file, and its check against the games in a store
"""

from cardenvs.arena.evaluation.card import check_card, evaluation_card
from cardenvs.arena.evaluation.protocol import Protocol, Task, read_protocol
from cardenvs.arena.evaluation.scores import Evaluation, GameScore, evaluation_of

__all__ = [
    "Evaluation", "GameScore", "Protocol", "Task", "check_card", "evaluation_card", "evaluation_of", "read_protocol",
]  # fmt: skip
