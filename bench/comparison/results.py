"""From runs to cells: the least of the rounds' medians for Weft and for each peer's best variant, their ratio, and who is ahead."""

from collections import Counter
from dataclasses import dataclass, field
from math import exp, log

from .cases import CellKey

TIE = 1.03  # within 3 % nobody is ahead
STATE_FACTOR = 1.5  # a flag's time that has changed by so much is another state of the machine


@dataclass
class Best:
    """The least median seen so far, and where."""

    us: float
    variant: str
    algorithm: str
    flag_ns: tuple


@dataclass
class Cell:
    key: CellKey
    weft: Best = None
    others: dict = field(default_factory=dict)  # Weft's further variants: {"symmetric": Best}
    peers: dict = field(default_factory=dict)  # {name: Best}

    @property
    def best_peer(self):
        return min(self.peers, key=lambda name: self.peers[name].us, default=None)

    @property
    def ratio(self):
        """The best peer's time over Weft's; above 1 Weft is ahead. None if either is missing."""
        return self.ratio_of(self.weft)

    def ratio_of(self, ours):
        if ours is None or not self.peers:
            return None
        return self.peers[self.best_peer].us / ours.us


def verdict(ratio):
    if ratio is None:
        return "unknown"
    return "won" if ratio > TIE else "lost" if ratio < 1 / TIE else "tie"


def cells_of(runs):
    """All cells in the order in which they were first measured, sizes ascending."""
    cells = {}
    for run in runs:
        for point in run.points:
            if point.wrong:
                continue
            cell = cells.setdefault(CellKey(run.place, run.collective, point.bytes),
                                    Cell(CellKey(run.place, run.collective, point.bytes)))
            add(cell, run, Best(point.median_us, run.variant, point.algorithm, run.flag_ns))
    order = {key: number for number, key in enumerate(dict.fromkeys((run.place, run.collective) for run in runs))}
    return sorted(cells.values(), key=lambda cell: (order[cell.key.place, cell.key.collective], cell.key.bytes))


def add(cell, run, new):
    if run.program != "weft":
        if run.program not in cell.peers or new.us < cell.peers[run.program].us:
            cell.peers[run.program] = new
    elif run.variant == "default":
        cell.weft = new if cell.weft is None or new.us < cell.weft.us else cell.weft
    elif run.variant not in cell.others or new.us < cell.others[run.variant].us:
        cell.others[run.variant] = new


def near_runs(runs):
    """The runs before and after which flags were fast. Fast is told by the fastest tenth: a single flag may be faster than a state."""
    flags = sorted(flag for run in runs for flag in run.flag_ns if flag)
    if not flags:
        return []
    limit = STATE_FACTOR * flags[len(flags) // 10]
    return [run for run in runs if all(flag and flag <= limit for flag in run.flag_ns)]


def summary(ratios):
    """How many cells are won, tied, lost, and the geometric mean of the ratios."""
    known = [ratio for ratio in ratios if ratio is not None]
    counts = Counter(map(verdict, ratios))
    mean = exp(sum(map(log, known)) / len(known)) if known else None
    return {"won": counts["won"], "tie": counts["tie"], "lost": counts["lost"], "unknown": counts["unknown"],
            "geometric_mean_ratio": round(mean, 4) if mean else None}
