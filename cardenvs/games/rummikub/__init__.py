"""Rummikub (Sabra rules): engine and exact legality. Rules: rules.md."""
