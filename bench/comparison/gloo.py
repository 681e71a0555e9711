"""Gloo, Debian's: TCP alone, on loopback or between emulated hosts. Its ranks are started one by one and meet in a folder. They are
not pinned: a rank has a second thread for its connections, and both on one core would take turns of 4 ms."""

import shutil
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from .building import CannotBuild
from .contenders import Contender, Variant, read_lines
from .namespaces import INTERFACE
from .processes import run

ONLY_ALL_REDUCE = ("all_reduce",)


@dataclass(frozen=True)
class Gloo:
    program: Path

    def start(self, algorithm, task):
        def environment_of(rank):
            return {"COMPARE_RANK": str(rank), "COMPARE_RANKS": str(task.place.ranks), "COMPARE_STORE": str(task.scratch),
                    "COMPARE_INTERFACE": INTERFACE if task.hosts else "lo"}

        return task.by_hand([str(self.program), *task.loop_arguments(), "--algorithm", algorithm], environment_of)

    def variants(self, task):
        """All but all_reduce have one algorithm each."""
        others = ["bcube", "ring_chunked", "halving_doubling"]
        if task.hosts is None:
            # Spinning receivers need a core each.
            others = ["ring_chunked"] if task.oversubscribed else ["ring_class-poll", "halving_doubling-poll", "ring_chunked"]
        return [Variant("ring", partial(self.start, "ring"))] + [
            Variant(name.replace("_", "-"), partial(self.start, name), collectives=ONLY_ALL_REDUCE) for name in others]


def version_of_package():
    if shutil.which("dpkg-query") is None:
        return "unknown"
    return run(["dpkg-query", "-W", "-f", "${Version}", "libgloo-dev"], 20).output.strip() or "unknown"


def find(builder, _folder):
    if not Path("/usr/include/gloo/allreduce.h").exists():
        raise CannotBuild("no Gloo headers in /usr/include; bench/compare --install-peers brings them")
    version = version_of_package()
    program = builder.build("gloo.cpp", "g++", ["-lgloo", "-pthread"], version=version)
    return Contender("gloo", "Gloo (Debian)", version, Gloo(program).variants, read_lines, {"program": str(program)})
