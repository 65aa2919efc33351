"""Results of matches and experiments: means and intervals, ratings, boards."""
