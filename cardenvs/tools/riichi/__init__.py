"""Tools for riichi mahjong: logs in the mjai notation, scores and waits of hands."""
