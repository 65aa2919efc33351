"""What fishing games with the full deck share: sides, deals of four cards, the end of a hand and of a match, texts.

A game's state record contains `state.FIELDS`, and its options `num_players`, `teams`, `match` and `target`. Its table
starts as `table.new_table()`. The kernels of `rules` then work on its records.
"""
