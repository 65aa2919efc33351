"""What every game and every face builds on. Names no game."""
