"""How results are shown: in the terminal, as pages, as sites, as files."""
