"""Reviews of recorded games: what each decision was worth, and what a better one would have gained."""

from cardenvs.review.decisions import Judged, Review, review_game
from cardenvs.review.judges import Judge, judge_of

__all__ = ["Judge", "Judged", "Review", "judge_of", "review_game"]
