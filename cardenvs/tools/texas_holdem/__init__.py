"""Tools for Texas hold'em: recorded matches, timelines, and hands in PHH."""
