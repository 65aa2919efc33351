"""Calibration: what a deck offers to someone who knows its order. For choosing decks only, never for playing."""
