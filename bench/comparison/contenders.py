"""What all programs have in common that are measured, Weft and its peers: how they are started and what they answer."""

from dataclasses import dataclass, field

from .cases import COLLECTIVES
from .processes import Command


@dataclass(frozen=True)
class Point:
    """One size, as one run of a program has seen it; microseconds."""

    bytes: int
    median_us: float
    min_us: float
    p99_us: float
    wrong: int
    algorithm: str = ""


@dataclass(frozen=True)
class Machine:
    """What decides how programs are started."""

    cores: int


@dataclass(frozen=True)
class Task:
    """What a program is started for."""

    place: object
    collective: str
    sizes: object
    budget_s: float
    machine: Machine
    scratch: object  # a new folder, which all ranks see
    hosts: object = None  # Namespaces, or None: this machine

    @property
    def warmup(self):
        """Calls before the clock; between hosts a call may take a second, and the check before has warmed up what is to be."""
        return 1 if self.hosts else 5

    @property
    def oversubscribed(self):
        """Emulated hosts share this machine's cores, too."""
        return self.place.ranks > self.machine.cores

    def loop_arguments(self):
        """What the programs of programs/loop.h understand."""
        return ["--collectives", self.collective, "--min-bytes", str(self.sizes.min_bytes),
                "--max-bytes", str(self.sizes.max_bytes), "--factor", "4", "--warmup", str(self.warmup),
                "--time-budget", str(self.budget_s)]

    def by_hand(self, words, environment_of):
        """A command for each rank, on its host; environment_of(rank) is what that rank needs in its environment."""
        commands = []
        for rank in range(self.place.ranks):
            host = self.hosts.cluster.host_of(rank) if self.hosts else 0
            commands.append(Command(self.hosts.on(host, words) if self.hosts else list(words), environment_of(rank)))
        return commands

    def on_first_host(self, words):
        return self.hosts.on(0, words) if self.hosts else list(words)


@dataclass(frozen=True)
class Variant:
    """One way to start a program. `start` makes the commands of a task, which run side by side."""

    name: str
    start: object
    collectives: tuple = COLLECTIVES
    reproducible: bool = False  # promises equal bits over algorithms


@dataclass(frozen=True)
class Contender:
    """Weft or a peer. `variants` are those that make sense for a task; `read` turns the outcome of one into points."""

    name: str
    title: str
    version: str
    variants: object
    read: object
    files: dict = field(default_factory=dict)  # what was found where, for --list and the page
    tune: object = None  # makes the commands that find out about the machine; Weft alone has them


class Unreadable(Exception):
    """A program said something that is no result."""


def read_lines(outcome, _task):
    """The points that a program of programs/loop.h has printed; launchers may print other lines between them."""
    points = []
    for line in outcome.output.splitlines():
        words = line.split()
        if not words or words[0] != "result":
            continue
        if len(words) != 10:
            raise Unreadable(f"half a line: {line[:100]}")
        try:
            numbers = [float(word) for word in words[2:]]
        except ValueError:
            raise Unreadable(f"no number in: {line[:100]}") from None
        if numbers[2] <= 0:
            raise Unreadable(f"a time that is not positive: {line[:100]}")
        points.append(Point(int(numbers[1]), numbers[2], numbers[3], numbers[4], int(numbers[7])))
    return points
