"""Pages with tables that need no server: the rules run in the reader's browser.

`cardenvs site` writes the pages (build.py). Their Python is in tables.py, their scripts are in static.
"""
