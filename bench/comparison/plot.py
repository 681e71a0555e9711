"""Pictures as inline SVG: lines over sizes, and points over time. Colours come from the page's style by a series' class."""

import math
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 460, 290
LEFT, RIGHT, TOP, BOTTOM = 54, 12, 10, 34


@dataclass(frozen=True)
class Series:
    name: str
    style: str  # "p0", "p1 dashed", "floor"
    shape: int  # which mark
    points: tuple  # (x, y, what is told of it), x ascending


def mark(shape, x, y, size=3.2):
    """A small shape around (x, y); series that have like colours have unlike marks."""
    outlines = {
        1: ((-1, -1), (1, -1), (1, 1), (-1, 1)), 2: ((0, -1.3), (1.2, 1), (-1.2, 1)), 3: ((0, -1.4), (1.4, 0), (0, 1.4), (-1.4, 0)),
        4: ((-1.2, -1), (1.2, -1), (0, 1.3)), 5: ((-1.5, -0.6), (1.5, -0.6), (1.5, 0.6), (-1.5, 0.6)),
        6: ((-0.6, -1.5), (0.6, -1.5), (0.6, 1.5), (-0.6, 1.5)),
    }
    if shape not in outlines:
        return f'<circle class="mark" cx="{x:.1f}" cy="{y:.1f}" r="{size:.1f}">'
    corners = " ".join(f"{x + size * right:.1f},{y + size * down:.1f}" for right, down in outlines[shape])
    return f'<polygon class="mark" points="{corners}">'


def closed(shape):
    return "</polygon>" if shape in range(1, 7) else "</circle>"


def legend_entry(series):
    line = f'<line class="line" x1="0" y1="7" x2="28" y2="7"/>{mark(series.shape, 14, 7)}{closed(series.shape)}'
    return (f'<span class="{series.style}"><svg width="28" height="14" aria-hidden="true">{line}</svg>'
            f"{escape(series.name)}</span>")


class Axis:
    """From values to a place on the picture."""

    def __init__(self, low, high, start, end, logarithmic):
        self.logarithmic = logarithmic
        self.low, self.high = (math.log10(low), math.log10(high)) if logarithmic else (low, high)
        if self.high <= self.low:
            self.high = self.low + 1
        self.start, self.end = start, end

    def at(self, value):
        value = math.log10(value) if self.logarithmic else value
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)


def decades(low, high):
    """Powers of ten around a range, none of whose steps is left out."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    return [10.0**power for power in range(first, max(last, first + 1) + 1)]


def round_steps(high, number=5):
    """0, and steps of 1, 2 or 5 up to at least `high`."""
    rough = high / number
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * 0.999)
    return [step * index for index in range(math.ceil(high / step * 0.999) + 1)]


def frame(horizontal, vertical, x_ticks, y_ticks):
    """Grid and labels. Ticks are (value, text)."""
    parts = []
    for value, text in y_ticks:
        y = vertical.at(value)
        parts.append(f'<line class="grid" x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}"/>'
                     f'<text x="{LEFT - 6}" y="{y + 3:.1f}" text-anchor="end">{escape(text)}</text>')
    # As many labels as do not touch.
    every = math.ceil(len(x_ticks) / 9)
    for index, (value, text) in enumerate(x_ticks):
        x = horizontal.at(value)
        parts.append(f'<line class="grid" x1="{x:.1f}" y1="{HEIGHT - BOTTOM}" x2="{x:.1f}" y2="{HEIGHT - BOTTOM + 4}"/>')
        if index % every == 0:
            parts.append(f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{escape(text)}</text>')
    return "".join(parts)


def curve(series, horizontal, vertical):
    places = [(horizontal.at(x), vertical.at(y), told) for x, y, told in series.points]
    path = " ".join(f"{'M' if index == 0 else 'L'}{x:.1f} {y:.1f}" for index, (x, y, _) in enumerate(places))
    marks = "" if series.style == "floor" else "".join(
        f"{mark(series.shape, x, y)}<title>{escape(told)}</title>{closed(series.shape)}" for x, y, told in places)
    return f'<g class="{series.style}"><path class="line" d="{path}"/>{marks}</g>'


def lines(series, x_text, y_text, logarithmic, title):
    """A picture of all series; empty if there is nothing to draw. Sizes are always on a logarithmic axis."""
    points = [point for one in series for point in one.points]
    if not points:
        return ""
    sizes = sorted({x for x, _, _ in points})
    heights = [y for _, y, _ in points]
    ticks = decades(min(heights), max(heights)) if logarithmic else round_steps(max(heights))
    horizontal = Axis(sizes[0], sizes[-1] if len(sizes) > 1 else sizes[0] * 2, LEFT + 10, WIDTH - RIGHT - 10, True)
    vertical = Axis(ticks[0], ticks[-1], HEIGHT - BOTTOM, TOP, logarithmic)
    body = frame(horizontal, vertical, [(size, x_text(size)) for size in sizes], [(tick, y_text(tick)) for tick in ticks])
    # Weft comes first and is drawn last, above the others.
    body += "".join(curve(one, horizontal, vertical) for one in reversed(series) if one.points)
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title)}">{body}</svg>'


def over_time(values, title, unit):
    """Values in the order in which they were measured."""
    ticks = round_steps(max(values), 4)
    horizontal = Axis(0, max(1, len(values) - 1), LEFT + 10, WIDTH - RIGHT - 10, False)
    vertical = Axis(ticks[0], ticks[-1], HEIGHT - BOTTOM, TOP, False)
    body = frame(horizontal, vertical, [], [(tick, f"{tick:g} {unit}") for tick in ticks])
    body += "".join(f'{mark(0, horizontal.at(index), vertical.at(value), 2)}<title>{value:g} {unit}</title></circle>'
                    for index, value in enumerate(values))
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title)}"><g class="p1">{body}</g></svg>'
