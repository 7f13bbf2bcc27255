"""QR codes, drawn here, as a page may load no scripts or pictures from elsewhere."""

from __future__ import annotations

from markupsafe import Markup
from segno import make


def draw_qr(text: str, title: str) -> Markup:
    """A QR code of the text as SVG, dark on light in both colour schemes."""
    drawn = make(text, error="m", micro=False).svg_inline(
        border=3, dark="#1c2426", light="#fffcf5", omitsize=True, svgclass="qr", lineclass=None, title=title
    )
    return Markup(drawn)  # noqa: S704 - segno escapes the title
