"""Tools for single games: their commands, match runners and file formats. No game imports them."""
