"""Weft as a contender: weft-bench, started as its users start it, and its JSON. On this machine it starts its ranks itself; on
emulated hosts they are started one by one, as docs/launching.md shows."""

import atexit
import json
import re
import shlex
import shutil
import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from .cases import FACTOR, BadInput, Sizes
from .contenders import Contender, Point, Unreadable, Variant
from .mpi import NETWORK_TLS
from .namespaces import INTERFACE, address_of
from .processes import Command, run

PORT = 29500  # and those after it, of rank 0's host, whose ports are its own


@dataclass(frozen=True)
class WeftBench:
    program: str
    options: tuple = ()  # of every call
    extra: tuple = ()  # (name of a further variant, its options)
    tables: str = ""  # the folder of the tables that --tune wrote; empty: none are used

    def arguments(self, options, task, sizes, json_name):
        # MPI_Bcast knows one buffer only, so Weft has one, too; its root moves with each call as the peers' does.
        broadcast = ["--in-place", "--root", "all"] if task.collective == "broadcast" else []
        return [task.collective, "--min-bytes", str(sizes.min_bytes), "--max-bytes", str(sizes.max_bytes),
                "--factor", str(FACTOR), "--warmup", str(task.warmup), "--time-budget", str(task.budget_s), "--dtype", "float32",
                "--json", f"{task.scratch}/{json_name}", *broadcast, *self.options, *options]

    def start(self, options, task):
        """weft-bench stops at the last step; where the steps pass the largest size by, a second call measures that one."""
        calls = [self.arguments(options, task, task.sizes, "steps.json")]
        largest = task.sizes.max_bytes
        if task.collective != "barrier" and task.sizes.last_step != largest:
            calls.append(self.arguments(options, task, Sizes(largest, largest), "largest.json"))
        return self.start_calls(calls, task)

    def table(self, task):
        """One for each topology."""
        return f"{self.tables}/{task.hosts.cluster.text.replace('/', '-') if task.hosts else 'here'}.json"

    def tune(self, task, collectives):
        sizes = ["--min-bytes", str(task.sizes.min_bytes), "--max-bytes", str(task.sizes.max_bytes)]
        return self.start_calls([["--tune", *collectives, *sizes, "--table", self.table(task)]], task)

    def start_calls(self, calls, task):
        """Calls one after the other. Each has a port of its own: that of the call before may be in use for some seconds."""
        # The first call on a topology makes its table.
        table = ["env", f"WEFT_TABLE={self.table(task)}"] if self.tables and Path(self.table(task)).exists() else []
        if task.hosts is None:
            calls = [[*table, self.program, *arguments, "-n", str(task.place.ranks)] for arguments in calls]
            return [Command(words_of(calls))]

        def environment_of(rank):
            return {"WEFT_RANK": str(rank), "WEFT_SIZE": str(task.place.ranks), "WEFT_INTERFACE": INTERFACE,
                    "WEFT_JOB": Path(task.scratch).name, "UCX_TLS": NETWORK_TLS,
                    "WEFT_HOST_ID": task.hosts.hosts[task.hosts.cluster.host_of(rank)]}

        meetings = [f"WEFT_RENDEZVOUS={address_of(0)}:{PORT + number}" for number in range(len(calls))]
        calls = [[*(table or ["env"]), meeting, self.program, *arguments] for meeting, arguments in zip(meetings, calls)]
        return task.by_hand(words_of(calls), environment_of)

    def variants(self, _task):
        found = [Variant("default", partial(self.start, []))]
        return found + [Variant(name, partial(self.start, options)) for name, options in self.extra]


def words_of(calls):
    return calls[0] if len(calls) == 1 else ["sh", "-c", " && ".join(map(shlex.join, calls))]


def read_json(_outcome, task):
    """What was written before a failure counts."""
    points = []
    for name in ("steps.json", "largest.json"):
        file = Path(task.scratch) / name
        try:
            points += points_of(json.loads(file.read_text())) if file.exists() else []
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise Unreadable(f"weft-bench's JSON: {error!r}") from None
    return points


def points_of(document):
    if document["schema"] != 1:
        raise Unreadable(f"weft-bench writes schema {document['schema']}, this reads 1")
    points = []
    for result in document["results"]:
        time = result["time_us"]
        algorithm = result["algorithm"] + (f"@{result['channels']}" if result["channels"] > 1 else "")
        points.append(Point(result["bytes"], time["median"], time["min"], time["p99"], result["wrong"], algorithm))
    return points


def folder_of_tables():
    folder = tempfile.mkdtemp(prefix="weft-tables.")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def find_weft(program, invariant=False, tune=False, symmetric=False):
    path = Path(program)
    if not path.is_file():
        build = "cmake --preset release && cmake --build --preset release"
        raise BadInput(f"no {program}: build it ({build}) or say --weft-bench FILE")
    program = str(path.resolve())
    version = run([program, "--version"], 20)
    if version.failed:
        raise BadInput(f"{program}: {version.why()}")
    known = set(re.findall(r"--[a-z-]+", run([program, "--help"], 20).output))
    for asked, option in ((invariant, "--numerics"), (tune, "--tune"), (symmetric, "--symmetric")):
        if asked and option not in known:
            raise BadInput(f"{program} has no {option}")
    bench = WeftBench(program, ("--numerics", "invariant") if invariant else (),
                      (("symmetric", ("--symmetric",)),) if symmetric else (), folder_of_tables() if tune else "")
    number = re.search(r"\d+\.\d+\S*", version.output)
    return Contender("weft", "Weft", number[0] if number else "unknown", bench.variants, read_json, {"program": program},
                     bench.tune)
