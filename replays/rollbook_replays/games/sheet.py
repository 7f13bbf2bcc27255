"""The style sheet of the pictures: a table with petrol cloth, ivory pieces, and cream light on what may be chosen."""

from typing import Final

SHEET: Final = """
.zone { font-family: Seravek, "Gill Sans Nova", Ubuntu, Calibri, Carlito, "Open Sans", "DejaVu Sans", sans-serif;
  --ink: #24262a; --cloth: #1e4d57; --on-cloth: #f4efe4; --dim: #c3d2d0; --lit: #fff5d6; }
@media (prefers-color-scheme: dark) { .zone { --cloth: #183d46; } }
.seat0 { --seat: #f77e54; } .seat1 { --seat: #67a4ff; } .seat2 { --seat: #f4de42; } .seat3 { --seat: #d98caf; }
.seat4 { --seat: #01e28a; } .seat5 { --seat: #eef1f2; }
.mark { fill: var(--seat); stroke: #10262c; stroke-width: 2.2; stroke-linejoin: round; paint-order: stroke; }
.cloth { fill: var(--cloth); }
.on-cloth { fill: var(--on-cloth); } .dim { fill: var(--dim); } .ink { fill: var(--ink); }
.strong { font-weight: 700; }
.carved { font-family: "Iowan Old Style", "Palatino Linotype", Palatino, "URW Palladio L", P052, "Book Antiqua",
  Georgia, "DejaVu Serif", serif; font-weight: 700; }
.cell { fill: #0b252c; fill-opacity: .42; stroke: #fff; stroke-opacity: .13; stroke-width: 1.2; }
.trail { fill: var(--seat); fill-opacity: .42; stroke: var(--seat); stroke-opacity: .7; stroke-width: 1.2; }
.won { fill: var(--seat); fill-opacity: .9; stroke: #10262c; stroke-opacity: .5; }
.stamp { fill: none; stroke: #10262c; stroke-width: 2.6; stroke-linejoin: round; }
.flag, .pawn, .stamp { pointer-events: none; } .hit { fill: #fff; fill-opacity: 0; }
.flag { fill: #f4efe4; fill-opacity: .5; }
.pawn { fill: #f8f0e0; stroke: #24262a; stroke-width: 2; }
.says { pointer-events: none; }
.ghost { fill: #fff; fill-opacity: .75; stroke-dasharray: 3 2.5; }
.under { fill: #ad9e7e; } .top { fill: #f9f3e6; stroke: #8f8266; stroke-width: 1; }
.die { filter: drop-shadow(0 3px 2px #0007); }
.pip { fill: var(--ink); } .pips { fill: none; stroke: var(--ink); stroke-width: 11.2; stroke-linecap: round; }
.yellow .top { fill: #f7cb52; stroke: #a77a12; } .yellow .under { fill: #b8860f; }
.blue .top { fill: #a5d1f1; stroke: #3a6c94; } .blue .under { fill: #3f739d; }
.tooth { fill: #fffaf0; stroke: #24363b; stroke-width: 1.4; stroke-linejoin: round; }
.missing { fill: none; stroke: currentColor; stroke-dasharray: 2 2; stroke-width: 1.4; }
.out { stroke: var(--dim); stroke-width: 2.5; }
.safe .top { fill: #93a3a7; stroke: #3d4c50; } .safe .under { fill: #4b5a5e; }
.bolt { stroke: var(--lit); stroke-width: 3; }
.announced .top, .announced .cell { stroke: #f2bb4e; stroke-width: 5; stroke-opacity: 1; }
.lane { fill: #0b252c; fill-opacity: .4; stroke: #fff; stroke-opacity: .13; stroke-width: 1.5; }
.mat { fill: #0b252c; fill-opacity: .4; stroke: #fff; stroke-opacity: .3; stroke-width: 2; stroke-dasharray: 6 5; }
.target .top { fill: #dff1c8; stroke: #5c9440; stroke-width: 4; }
.bar { fill: #0a1f25; fill-opacity: .75; } .gap { fill: #7fbf5a; }
.fits { fill: #fffaf0; stroke: #24363b; stroke-width: 2; } .fits-not { fill: #c3d2d0; fill-opacity: .75; }
.gator { fill: #7cb557; stroke: #1e3a17; stroke-width: 2.4; stroke-linejoin: round; }
.fang { fill: #fffaf0; stroke: #1e3a17; stroke-width: 1.4; } .eye { fill: #1e2a17; }
.back { fill: #3f739d; stroke: #e8f1f8; stroke-width: 1.3; }
.rim { fill: none; stroke: currentColor; stroke-width: 1.6; }
.count { fill: currentColor; }
.outline { fill: none; stroke: currentColor; stroke-width: 2.6; stroke-linejoin: round; stroke-linecap: round; }
.turns { color: #f4efe4; } .special { color: #8a2f86; }
.animal { fill: none; stroke: #24262a; stroke-width: 2.3; stroke-linejoin: round; stroke-linecap: round; }
.animal-ink { fill: #24262a; }
.elephant .top { fill: #b9cadb; } .elephant .under { fill: #7d92a8; } .bear .top { fill: #cf9a67; }
.bear .under { fill: #94653a; } .boar .top { fill: #cbb9a6; } .boar .under { fill: #95816c; }
.fox .top { fill: #ff9a55; } .fox .under { fill: #c46420; } .squirrel .top { fill: #f7c56b; }
.squirrel .under { fill: #c08d30; } .worm .top { fill: #f6b5c6; } .worm .under { fill: #c0788c; }
.trap .top { fill: #e6e6e2; } .x2 .top { fill: #d9f0d2; } .x2 .under { fill: #8fb583; }
.thrown .top { stroke: #f2bb4e; stroke-width: 3; }
@media (forced-colors: active) { .top { fill: Canvas; stroke: CanvasText; }
  .pip, .ink, .animal-ink { fill: CanvasText; } .pips { stroke: CanvasText; }
  .animal { stroke: CanvasText; } .cell, .lane { stroke: CanvasText; stroke-opacity: 1; }
  .on-cloth, .dim, .count { fill: CanvasText; } }
"""
"""The style sheet for the classes; the cloth has a light and a dark colour."""
