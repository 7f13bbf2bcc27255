"""The presentation of Allie Gator: two piles and their targets, hands, penalties and teeth."""

from typing import Final

from rollbook.rules.allie_gator.moves import Snap
from rollbook_replays.games.allie_gator.board import PALETTE, board
from rollbook_replays.games.allie_gator.charts import charts
from rollbook_replays.games.allie_gator.effect import effect
from rollbook_replays.games.allie_gator.guide import GUIDE
from rollbook_replays.games.allie_gator.lesson import LESSON
from rollbook_replays.games.allie_gator.menu import menu
from rollbook_replays.games.allie_gator.picture import list_touched, picture
from rollbook_replays.games.allie_gator.story import highlight, score, story
from rollbook_replays.games.allie_gator.texts import TEXTS
from rollbook_replays.games.allie_gator.thumb import THUMB
from rollbook_replays.games.presentation import Presentation

PRESENTATION: Final = Presentation(
    board,
    menu,
    story,
    TEXTS,
    PALETTE,
    picture,
    list_touched,
    score,
    GUIDE,
    thumb=THUMB,
    charts=charts,
    highlight=highlight,
    effect=effect,
    lesson=LESSON,
    careful=(Snap,),
)
