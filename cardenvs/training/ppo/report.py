"""What a run says about its scores, in sentences."""

from cardenvs.training.ppo.evaluate import Score


def meaning(scores: dict[str, Score], unit: str, num_players: int) -> str:
    """Return what the final scores say, in a sentence or two."""
    by_verdict: dict[str, list[str]] = {}
    for name, score in scores.items():
        by_verdict.setdefault(score.verdict, []).append(name)
    story = "; it ".join(f"{verdict} {' and '.join(names)}" for verdict, names in by_verdict.items())
    what = (
        f"A score is what the policy wins a deal, in {unit}, with the others in all other seats"
        if num_players > 1
        else f"A score is how much more the policy gets than another on the same deals, in {unit}"
    )
    return f"{what}, ± half its 95% interval. The policy {story}."


def warning(scores: dict[str, Score]) -> str | None:
    """Return a warning if the policy does no better than random play in its place; None if it does."""
    level = [
        f"{score} against {name}, where random play gets {score.chance:+.2f}"
        for name, score in scores.items()
        if not score.is_above_chance
    ]
    if not level:
        return None
    return (
        f"Warning: the policy is no better than random play: it scores {'; '.join(level)}. "
        "Try more steps (--total-steps), another learning rate (--set lr=1e-4 or 2e-3), more exploration "
        "(--set entropy=0.05), larger rollouts (--set num_envs=2048), or a shorter variant of the game (--option)."
    )
