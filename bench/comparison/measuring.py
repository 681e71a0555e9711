"""The measurement: rounds, and in each round laps. A lap is one collective at one number of ranks, all programs one after the
other, so that Weft and its peers are interleaved, and whatever changes the machine strikes both. The machine's state is measured
before and after every run. A program that fails or hangs is noted and, for that collective and place, not started again."""

import contextlib
import shutil
import sys
import tempfile
from dataclasses import dataclass
from functools import partial

from .cases import Place, sizes_of
from .contenders import Command, Task, Unreadable
from .namespaces import Namespaces
from .processes import run_together

DEADLINE_S = 120
CLUSTER_DEADLINE_S = 300


@dataclass(frozen=True)
class Run:
    """One start of one program; `failure` is empty if all its points are there and right."""

    round: int
    place: object
    collective: str
    program: str
    variant: str
    points: tuple
    failure: str
    seconds: float
    flag_ns: tuple  # before and after; None where it cannot be measured
    command: str


@dataclass
class Plan:
    weft: object
    peers: list
    collectives: list
    sizes: object
    rounds: int
    budget_s: float
    machine: object
    state: object
    deadline_s: float = None
    invariant: bool = False
    tune: bool = False

    def programs(self, task):
        """(contender, variant) in the order of a lap. Beside Weft's invariant mode are only peers that promise equal bits, too."""
        chosen = [(self.weft, variant) for variant in self.weft.variants(task)]
        for peer in self.peers:
            chosen += [(peer, variant) for variant in peer.variants(task) if variant.reproducible == self.invariant]
        return [(contender, variant) for contender, variant in chosen if task.collective in variant.collectives]


def groups(rank_counts, clusters):
    """What is measured in turn: this machine with all its numbers of ranks, then each cluster. (places, cluster or None)"""
    found = [([Place(ranks) for ranks in rank_counts], None)] if rank_counts else []
    return found + [([Place(cluster.ranks, cluster.hosts, cluster.text)], cluster) for cluster in clusters]


def judge(outcome, points, expected, forgiving):
    """Why a run does not count as a success, or an empty text. Some peers stumble over their own ends: `forgiving` takes what was
    measured completely before."""
    wrong = [point.bytes for point in points if point.wrong]
    if wrong:
        return f"wrong results at {', '.join(map(str, wrong))} bytes"
    complete = {point.bytes for point in points} >= set(expected)
    if outcome.failed and not (complete and forgiving and not outcome.timed_out):
        return f"{outcome.why()}; {len(points)} of {len(expected)} sizes were measured"
    return "" if complete else f"only {len(points)} of {len(expected)} sizes were measured"


class Measuring:
    def __init__(self, plan, on_round=lambda: None, log=partial(print, file=sys.stderr, flush=True)):
        self.plan = plan
        self.on_round = on_round
        self.log = log
        self.runs = []
        self.given_up = set()
        self.flag_ns = None

    def measure(self, measured):
        for places, cluster in measured:
            with Namespaces(cluster) if cluster else contextlib.nullcontext() as hosts:
                if self.plan.tune:
                    self.tune(places, hosts)
                for number in range(1, self.plan.rounds + 1):
                    for place in places:
                        self.round(number, place, hosts)
                    self.on_round()

    def tune(self, places, hosts):
        """Weft finds out by itself which of its algorithms are the fastest; it is told nothing of the machine and its links."""
        for place in places:
            with self.task(place, "all_reduce", hosts) as task:
                outcome = run_together(self.plan.weft.tune(task, self.plan.collectives), self.deadline(hosts))
                self.log(f"{place}: weft-bench --tune: {outcome.why() if outcome.failed else 'done'}")
                if outcome.failed:
                    self.runs.append(Run(0, place, "all_reduce", self.plan.weft.name, "tune", (), outcome.why(), 0.0,
                                         (None, None), "weft-bench --tune"))

    @contextlib.contextmanager
    def task(self, place, collective, hosts):
        scratch = tempfile.mkdtemp(prefix="weft-compare.")
        plan = self.plan
        try:
            yield Task(place, collective, plan.sizes, plan.budget_s, plan.machine, scratch, hosts)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)

    def deadline(self, hosts):
        return self.plan.deadline_s or (CLUSTER_DEADLINE_S if hosts else DEADLINE_S)

    def round(self, number, place, hosts):
        for collective in self.plan.collectives:
            self.flag_ns = self.plan.state.measure()
            with self.task(place, collective, hosts) as task:
                lap = self.plan.programs(task)
            first = len(self.runs)
            for contender, variant in lap:
                self.run(number, place, hosts, collective, contender, variant)
            self.tell(number, place, collective, self.runs[first:])

    def run(self, number, place, hosts, collective, contender, variant):
        mark = (place, collective, contender.name, variant.name)
        if mark in self.given_up:
            return
        with self.task(place, collective, hosts) as task:
            commands = variant.start(task)
            outcome = run_together(commands, self.deadline(hosts))
            try:
                points = contender.read(outcome, task)
                expected = sizes_of(collective, place.ranks, self.plan.sizes)
                failure = judge(outcome, points, expected, forgiving=contender is not self.plan.weft)
            except Unreadable as reason:
                points, failure = [], str(reason)
        before, self.flag_ns = self.flag_ns, self.plan.state.measure()
        if failure:
            self.given_up.add(mark)
            self.log(f"  {contender.name}/{variant.name}: {failure}")
        self.runs.append(Run(number, place, collective, contender.name, variant.name, tuple(points), failure,
                             round(outcome.seconds, 2), (before, self.flag_ns), described(commands, task.scratch)))

    def tell(self, number, place, collective, runs):
        seconds = sum(run.seconds for run in runs)
        flags = [flag for run in runs for flag in run.flag_ns if flag]
        state = f", flag {min(flags):.0f} to {max(flags):.0f} ns" if flags else ""
        self.log(f"round {number}/{self.plan.rounds}, {place}, {collective}: {len(runs)} programs, {seconds:.0f} s{state}")


def described(commands, scratch):
    """The first command as one could type it, for the page: with what is set for it, without the scratch folder's name."""
    first: Command = commands[0]
    settings = [f"{name}={value}" for name, value in sorted(first.environment.items()) if not name.startswith("OMPI_ALLOW")]
    text = " ".join([*settings, *map(str, first.words)]).replace(str(scratch), "SCRATCH")
    return text + (f"  (and {len(commands) - 1} more like it)" if len(commands) > 1 else "")
