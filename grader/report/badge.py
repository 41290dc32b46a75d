"""A badge with the score, as SVG: a file that any page can show, without a service behind it."""

from __future__ import annotations

from html import escape

from grader.report.target import put
from grader.result import Result

CHARACTER = 7  # pixels, about, at the size of the text
PADDING = 12
# From which share of the points on: the colour. White text on each has a contrast of 4.5 : 1 or more.
COLOURS = ((1.0, "#2a7f3f"), (0.6, "#8a6100"), (0.0, "#b3352b"))


def write(result: Result, target: str) -> None:
    """Writes it."""
    put(render(result), target)


def render(result: Result) -> str:
    """The badge: the assignment on the left, the score on the right."""
    share = result.score / result.max_score if result.max_score else 0.0
    colour = next(colour for least, colour in COLOURS if share >= least)
    name, score = result.assignment, f"{result.score}/{result.max_score}"
    left, right = (len(text) * CHARACTER + PADDING for text in (name, score))
    label = escape(f"{name}: {score}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" aria-label="{label}">\n'
        f"  <title>{label}</title>\n"
        f'  <rect width="{left}" height="20" fill="#444"/>\n'
        f'  <rect x="{left}" width="{right}" height="20" fill="{colour}"/>\n'
        f'  <g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle">\n'
        f'    <text x="{left / 2:g}" y="14">{escape(name)}</text>\n'
        f'    <text x="{left + right / 2:g}" y="14">{escape(score)}</text>\n'
        f"  </g>\n"
        f"</svg>\n"
    )
