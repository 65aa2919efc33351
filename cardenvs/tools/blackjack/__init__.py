"""Tools for Blackjack."""
