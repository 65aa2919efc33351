"""Output of results: terminal, pages, sites and files."""
