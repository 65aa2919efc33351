"""Settings of the poker API."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class PokerSettings:
    """Settings of the poker API, and bounds on what clients can make it do."""

    run: Path | None = None  # folder of a calibration run; None: the seeds in this package
    # secret from which decks are shuffled, challenges from fresh seeds; empty: decks follow from their seeds alone
    deck_key: bytes = b""
    log: bool = False  # whether to write a line of JSON to standard error for each request
    games: int = 200_000  # kept in all. A full store drops idle games of the addresses with the most games.
    games_per_address: int = 2000  # kept for one client address; then its longest idle game is dropped
    open_challenges: int = 20  # unfinished challenges with secret decks for one client address
    unfinished_game_days: float = 7  # days without a move after which an unfinished game is dropped
    new_games_per_minute: int = 120  # for one client address
    requests_per_second: float = 200.0  # for one client address, in bursts of up to four times as many
