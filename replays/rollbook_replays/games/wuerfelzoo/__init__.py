"""The presentation of Würfelzoo: animals in the middle and in front of the seats, and turns composed of dice."""

from typing import Final

from rollbook_replays.games.presentation import Presentation
from rollbook_replays.games.wuerfelzoo.animals import PALETTE
from rollbook_replays.games.wuerfelzoo.board import board
from rollbook_replays.games.wuerfelzoo.charts import charts
from rollbook_replays.games.wuerfelzoo.effect import effect
from rollbook_replays.games.wuerfelzoo.guide import GUIDE
from rollbook_replays.games.wuerfelzoo.lesson import LESSON
from rollbook_replays.games.wuerfelzoo.menu import menu
from rollbook_replays.games.wuerfelzoo.picture import alike, list_touched, picture
from rollbook_replays.games.wuerfelzoo.story import score, story
from rollbook_replays.games.wuerfelzoo.texts import TEXTS
from rollbook_replays.games.wuerfelzoo.thumb import THUMB

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
    alike,
    THUMB,
    charts,
    effect=effect,
    lesson=LESSON,
)
