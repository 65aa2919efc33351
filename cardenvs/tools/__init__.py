"""Tools of single games: commands, match runners and file formats. Games do not import them."""
