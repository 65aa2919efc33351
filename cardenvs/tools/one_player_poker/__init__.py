"""Tools for one-player poker."""
