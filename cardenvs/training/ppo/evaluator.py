"""The evaluations of a run: scores against its opponents, and NashConv."""

from collections.abc import Callable, Iterator, Sequence

import torch

from cardenvs.agents.network import Network, log_policy
from cardenvs.core.errors import OptionError, SolvingError
from cardenvs.core.game import Game
from cardenvs.core.options import Options
from cardenvs.core.rng import derived_seed
from cardenvs.core.state import State
from cardenvs.training.cfr import Tree
from cardenvs.training.config import Config
from cardenvs.training.ppo.evaluate import Evaluation, Score
from cardenvs.training.ppo.games import Games
from cardenvs.training.ppo.opponents import Opponent

AGENT = "agent"  # the name of a frozen opponent in scores and metrics


class Evaluator:
    """Evaluates policies of a run. It draws no random numbers from the run."""

    def __init__(self, game: Game, config: Config, games: Games, opponent: Opponent | None) -> None:
        """Prepare evaluations against `opponent`, or against the policies of the config.

        Raises:
            PolicyNotFoundError: the game lacks a policy that the config names.
            OptionError: the game is too large for NashConv.
        """
        self._config, self._games = config, games
        self._frozen = None if opponent is None else {AGENT: opponent}
        self.opponents = [*(self._frozen or _policies_to_play(game, config))]  # names of the opponents to score against
        # names of the policies of the game that evaluations call
        self.policies = self.opponents if opponent is None else ["random"]
        self._evaluations: dict[str, Evaluation] = {}
        self._tree = listed(game, game.make_options(**config.options)) if config.nash_conv else None

    def scores(
        self,
        policy: Network,
        deals: int,
        purpose: str = "evaluation",
        on_games: Callable[[int, int], None] = lambda done, total: None,
    ) -> Iterator[tuple[str, Score]]:
        """Yield the name of each opponent and the score against it on duplicate deals; a purpose always gets the same
        deals.

        `on_games` is called with the number of games that have ended, and their total.
        """
        evaluation, done = self._evaluation(deals, purpose), 0
        total = sum(map(evaluation.num_games, self.opponents))

        def count(ended: int) -> None:
            nonlocal done
            done += ended
            on_games(done, total)

        evaluation.on_games = count
        for name in self.opponents:
            yield name, evaluation.score(policy, name)

    def _evaluation(self, deals: int, purpose: str) -> Evaluation:
        if purpose not in self._evaluations:
            config, games = self._config, self._games.batch(deals)
            seed = derived_seed(config.seed, purpose)
            self._evaluations[purpose] = Evaluation(
                games, seed, config.eval_sample, self._frozen, threshold=config.eval_threshold
            )
        return self._evaluations[purpose]

    def nash_conv(self, policy: Network) -> float | None:
        """Return the NashConv of a policy, sampled, or greedy for dmc; None if the config does not ask for it."""
        if self._tree is None:
            return None
        return nash_conv(policy, self._tree, self._config.method == "dmc", self._config.eval_threshold)


def _policies_to_play(game: Game, config: Config) -> Sequence[str]:
    """Return the names of the policies to evaluate against, by default all of the game.

    Raises:
        PolicyNotFoundError: the game lacks a policy that the config names.
    """
    for name in config.eval_opponents:
        game.engine.policy(name)
    return config.eval_opponents or game.engine.policy_names()


MOST_HISTORIES = 1_000_000  # take a second or two to list


def listed(game: Game, options: Options) -> Tree:
    """Return the tree on which a run computes NashConv.

    Raises:
        OptionError: the game has more than MOST_HISTORIES with these options.
    """
    try:
        return Tree(game, most_histories=MOST_HISTORIES, **options.as_dict())
    except SolvingError as error:
        raise OptionError(f"nash_conv is for smaller games: {error}; leave it out with --set nash_conv=false") from None


@torch.inference_mode()
def nash_conv(network: Network, tree: Tree, greedy: bool = False, threshold: float = 0.0) -> float:
    """Return what all players together could gain by best responses to the network's policy, sampled or greedy.

    Actions with a probability below `threshold` are left out.
    """

    def probabilities(state: State) -> list[float]:
        observation = torch.from_numpy(state.observation(state.current_player)).to(network.scale.device)
        legal = torch.tensor([list(state.legal_actions())], device=observation.device)
        logits, _ = network(network.features(observation.unsqueeze(0)), legal)
        if greedy:
            return torch.nn.functional.one_hot(logits.argmax(-1), logits.shape[1]).squeeze(0).tolist()
        every = torch.ones_like(logits, dtype=torch.bool)
        return log_policy(logits, every, threshold).double().exp().squeeze(0).tolist()

    return tree.nash_conv(tree.policy(probabilities))
