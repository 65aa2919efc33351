"""What matches and experiments say: means and intervals, ratings, boards."""
