"""The documentation: pages, and `python -m docs.generate`, which writes those that follow from the code."""
