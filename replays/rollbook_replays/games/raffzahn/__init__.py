"""The presentation of Raffzahn: tiles with their teeth, three dice, and the tiles in front of every seat."""

from typing import Final

from rollbook.rules.raffzahn.moves import Pass, Surrender
from rollbook_replays.games.presentation import Presentation
from rollbook_replays.games.raffzahn.board import PALETTE, board
from rollbook_replays.games.raffzahn.charts import charts
from rollbook_replays.games.raffzahn.effect import effect
from rollbook_replays.games.raffzahn.guide import GUIDE
from rollbook_replays.games.raffzahn.lesson import LESSON
from rollbook_replays.games.raffzahn.menu import menu
from rollbook_replays.games.raffzahn.picture import list_touched, picture
from rollbook_replays.games.raffzahn.story import highlight, score, story
from rollbook_replays.games.raffzahn.texts import TEXTS
from rollbook_replays.games.raffzahn.thumb import THUMB

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
    careful=(Pass, Surrender),
)
