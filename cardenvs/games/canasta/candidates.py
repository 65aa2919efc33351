"""Candidates of Canasta."""
