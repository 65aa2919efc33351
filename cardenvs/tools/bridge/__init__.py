"""Tools of Contract Bridge: files of boards, double-dummy results, annotated replays, and an agent that uses them."""
