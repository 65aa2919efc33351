"""Agents that other libraries bring along, behind their extras: opponents that nobody here wrote."""
