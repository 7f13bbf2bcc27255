"""The presentation of Can't Stop: the stop sign with markers and runners, and the risk of a throw."""

from typing import Final

from rollbook.rules.cant_stop.moves import Stop
from rollbook_replays.games.cant_stop.board import PALETTE, board
from rollbook_replays.games.cant_stop.charts import charts
from rollbook_replays.games.cant_stop.effect import effect
from rollbook_replays.games.cant_stop.guide import GUIDE
from rollbook_replays.games.cant_stop.lesson import LESSON
from rollbook_replays.games.cant_stop.menu import menu
from rollbook_replays.games.cant_stop.picture import list_touched, picture
from rollbook_replays.games.cant_stop.story import highlight, score, story
from rollbook_replays.games.cant_stop.texts import TEXTS
from rollbook_replays.games.cant_stop.thumb import THUMB
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
    careful=(Stop,),
)
