"""What is measured: collectives, sizes and places. Bytes are counted as nccl-tests does: the whole buffer for all_gather,
reduce_scatter and all_to_all, one rank's buffer for all_reduce and broadcast."""

import re
from dataclasses import dataclass

COLLECTIVES = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "barrier")
REDUCING = ("all_reduce", "reduce_scatter")
BLOCKWISE = ("all_gather", "reduce_scatter", "all_to_all")
ELEMENT_BYTES = 4  # fp32
FACTOR = 4
UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


class BadInput(Exception):
    """What the user asked for makes no sense; the text says why in one line."""


@dataclass(frozen=True)
class Sizes:
    """The smallest and the largest size of a sweep by FACTOR; the largest is measured even if the steps pass it by."""

    min_bytes: int = 8
    max_bytes: int = 64 << 20

    @property
    def last_step(self):
        size = self.min_bytes
        while size * FACTOR <= self.max_bytes:
            size *= FACTOR
        return size

    def sweep(self):
        size = self.min_bytes
        while size < self.max_bytes:
            yield size
            size *= FACTOR
        yield self.max_bytes


@dataclass(frozen=True)
class Place:
    """How many ranks, and where: on this machine, or in equal blocks on the hosts of a cluster (its text, as given)."""

    ranks: int
    hosts: int = 1
    cluster: str = ""

    def __str__(self):
        return f"{self.ranks} ranks" + (f" on {self.cluster}" if self.cluster else "")


@dataclass(frozen=True)
class CellKey:
    """One cell of the comparison."""

    place: Place
    collective: str
    bytes: int


def moved_bytes(collective, ranks, size):
    """The bytes that a call of nominal `size` moves: a block has at least one element."""
    if collective == "barrier":
        return 0
    count = size // ELEMENT_BYTES
    if collective in BLOCKWISE:
        return max(1, count // ranks) * ranks * ELEMENT_BYTES
    return max(1, count) * ELEMENT_BYTES


def sizes_of(collective, ranks, sizes):
    """The different calls of a sweep, in order: what rounds to the same call as the size before is left out."""
    return list(dict.fromkeys(moved_bytes(collective, ranks, size) for size in sizes.sweep()))


def bus_factor(collective, ranks):
    """What algorithm bandwidth is multiplied by to become bus bandwidth, as nccl-tests does."""
    if collective == "all_reduce":
        return 2 * (ranks - 1) / ranks
    return (ranks - 1) / ranks if collective in BLOCKWISE else 1.0


def parse_bytes(text):
    match = re.fullmatch(r"(\d+)([kKmMgG]?)(i?[bB])?", text)
    if not match:
        raise BadInput(f"{text!r} is no size; write 8, 4k, 64M or 1G")
    return int(match[1]) * UNITS[match[2].upper()]


def format_bytes(count):
    for unit in ("G", "M", "K"):
        if count >= UNITS[unit] and count % UNITS[unit] == 0:
            return f"{count // UNITS[unit]} {unit}iB"
    return f"{count} B"


def format_us(microseconds):
    """Three digits that count, in the unit that suits."""
    for limit, scale, unit in ((1e3, 1, "us"), (1e6, 1e3, "ms"), (float("inf"), 1e6, "s")):
        if microseconds < limit * 0.9995:
            value = microseconds / scale
            return f"{value:.{2 if value < 9.995 else 1 if value < 99.95 else 0}f} {unit}"
    raise AssertionError("a time is below infinity")
