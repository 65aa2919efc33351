"""The table of Durak, and the kinds of event that change it."""

from cardenvs.core.events import Op, Part, Table
from cardenvs.games.durak.state import MAX_PLAYERS, bout_number, talon
from cardenvs.kits.matches import declare_forfeit

TABLE = Table(MAX_PLAYERS)

TALON = TABLE.pile("talon", ordered=True, layout="stack", tokens=talon, seen="nobody", on="turn_up")
TURN_UP = TABLE.pile("turn_up", tokens="turn_up")
HAND = TABLE.pile("hand", per_player=True, layout="hand", cards="hands", seen="owner", known="known")
ATTACK = TABLE.pile("attack", cards="attack")
DEFENCE = TABLE.pile("defence", cards="defence", on="attack")
DISCARDS = TABLE.pile("discards", layout="stack", cards="discards")

TRUMP = TABLE.counter("trump", value="trump")  # suit 0..3, in the order s c d h
ATTACKER = TABLE.counter("attacker", use="player", value="primary")
DEFENDER = TABLE.counter("defender", use="player", value="defender")
BOUT = TABLE.counter("bout", value=bout_number)  # 1, 2, ...

NEW_TALON = TABLE.event("new_talon", Op.CREATE, "A deck of {value} cards is shuffled.", is_detail=True)
DEAL = TABLE.event("deal", Op.MOVE, "{player} is dealt {token}.")
TURNS_UP = TABLE.event("turn_up", Op.MOVE, "{token} is turned up under the talon.")
LAST_CARD = TABLE.event("last_card", Op.REVEAL, "The last card dealt, {token} of {player}, is shown.")
NEW_TRUMP = TABLE.event("trump", Op.SET, "{value} is trump.", is_detail=True)
# Who attacks first depends on the hands (2.4).
LOWEST_TRUMP = TABLE.event(
    "lowest_trump", Op.REVEAL, "{player} shows the lowest trump, {token}.", reveals_hidden_value=True
)
NO_TRUMPS = TABLE.event("no_trumps", Op.NOTE, "Nobody holds a trump.", reveals_hidden_value=True)
NEW_BOUT = TABLE.event("bout", Op.SET, "Bout {value} begins.", is_detail=True)
NEW_ATTACKER = TABLE.event("attacker", Op.SET, "{player} attacks.", reveals_hidden_value=True, is_detail=True)
NEW_DEFENDER = TABLE.event("defender", Op.SET, "{player} defends.", reveals_hidden_value=True, is_detail=True)
LEADS = TABLE.event("lead", Op.MOVE, "{player} leads {token}.")
THROWS_IN = TABLE.event("throw_in", Op.MOVE, "{player} throws in {token}.")
ADDS = TABLE.event("add", Op.MOVE, "{player} adds {token}.")
PASSES = TABLE.event("pass", Op.NOTE, "{player} passes.")
BEATS = TABLE.event("beat", Op.MOVE, "{player} beats with {token}.")
TRANSFERS = TABLE.event("transfer", Op.MOVE, "{player} transfers with {token}.")
SHOWS = TABLE.event("show", Op.REVEAL, "{player} shows {token} to transfer.")
TAKES = TABLE.event("take", Op.NOTE, "{player} takes.", closes=Part.TRICK)
TAKES_ATTACK = TABLE.event("take_attack", Op.MOVE_ALL, "The attack cards go to {target}.", is_detail=True)
TAKES_DEFENCE = TABLE.event("take_defence", Op.MOVE_ALL, "The cards that beat them go to {target}.", is_detail=True)
REPELLED = TABLE.event("repelled", Op.NOTE, "{player} has repelled the attack.", closes=Part.TRICK)
DISCARDS_ATTACK = TABLE.event("discard_attack", Op.MOVE_ALL, "The attack cards are discarded.", is_detail=True)
DISCARDS_DEFENCE = TABLE.event("discard_defence", Op.MOVE_ALL, "The cards that beat them too.", is_detail=True)
DRAWS = TABLE.event("draw", Op.MOVE, "{player} draws {token}.")
IS_OUT = TABLE.event("out", Op.NOTE, "{player} has no cards left and is out.", closes=Part.TRICK)
IS_DURAK = TABLE.event("durak", Op.NOTE, "{player} is the durak.")
NO_DURAK = TABLE.event("drawn", Op.NOTE, "The game is drawn.")
FORFEITS = declare_forfeit(TABLE)
