"""From the command line to results; see docs/benchmarks.md."""

import json
import sys
import time

from . import machine
from .arguments import parse
from .building import Builder
from .cases import BadInput
from .contenders import Machine
from .document import document, to_text, write_file
from .install import install
from .measuring import Measuring, Plan, groups
from .page import page
from .peers import find_peers
from .processes import Interrupted, adopt_orphans, raise_on_signals
from .text import peer_list, ratio_table, summary_line
from .weft import find_weft

FINE, FAILED, BAD_INPUT = 0, 1, 2
BUSY = 0.7  # processes that run or want to, before anything is measured


def write(arguments, result):
    if arguments.json:
        write_file(arguments.json, to_text(result))
    if arguments.html:
        write_file(arguments.html, page(result))


def redraw(arguments):
    try:
        with open(arguments.source, encoding="utf-8") as file:
            result = json.load(file)
        if result["schema"] != 1:
            raise BadInput(f"{arguments.source}: schema {result['schema']}, this reads 1")
        missing = {"cells", "failures"} - result.keys()
        if missing:
            raise BadInput(f"{arguments.source}: no results of bench/compare: {', '.join(sorted(missing))} missing")
        write(arguments, result)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadInput(f"{arguments.source}: no results of bench/compare: {error!r}") from None
    return result


def settings_of(arguments, words):
    return {"arguments": " ".join(words), "started": time.strftime("%Y-%m-%d %H:%M:%S %z"), "rounds": arguments.rounds,
            "time_budget_s": arguments.time_budget, "min_bytes": arguments.sizes.min_bytes,
            "max_bytes": arguments.sizes.max_bytes, "dtype": "float32", "op": "sum", "invariant": arguments.invariant}


def compare(arguments, words):
    builder = Builder(arguments.peers_folder)
    weft = find_weft(arguments.weft_bench, arguments.invariant, arguments.tune, arguments.symmetric)
    peers, left_out = find_peers(builder, arguments.peers_folder, arguments.peers)
    print(peer_list(peers, left_out), file=sys.stderr, flush=True)
    facts = machine.facts()
    if facts["load"] > BUSY:
        print(f"others use this machine (load {facts['load']}): times will be too long", file=sys.stderr, flush=True)
    plan = Plan(weft, peers, arguments.collectives, arguments.sizes, arguments.rounds, arguments.time_budget,
                Machine(facts["cores"]), machine.State(builder), arguments.deadline, arguments.invariant, arguments.tune)
    settings = settings_of(arguments, words)

    def result():
        return document(plan, measuring, facts, left_out, settings)

    # After each round, so that hours of measuring do not end in nothing.
    measuring = Measuring(plan, lambda: write(arguments, result()))
    try:
        measuring.measure(groups(arguments.ranks, arguments.cluster))
    except Interrupted:
        settings["interrupted"] = True
        if measuring.runs:
            write(arguments, result())
        raise
    return result()


def run(words):
    arguments = parse(words)
    if arguments.install_peers:
        return FINE if install(arguments.peers_folder) else FAILED
    if arguments.list:
        print(peer_list(*find_peers(Builder(arguments.peers_folder), arguments.peers_folder, arguments.peers)))
        return FINE
    result = redraw(arguments) if arguments.source else compare(arguments, words)
    print(ratio_table(result))
    print(summary_line(result))
    return FAILED if any(entry["program"] == "weft" for entry in result["failures"]) else FINE


def main():
    adopt_orphans()
    raise_on_signals()
    try:
        return run(sys.argv[1:])
    except BadInput as reason:
        print(f"bench/compare: {reason}", file=sys.stderr)
        return BAD_INPUT
    except OSError as reason:
        print(f"bench/compare: {reason}", file=sys.stderr)
        return BAD_INPUT
    except Interrupted as reason:
        print(f"bench/compare: {reason}", file=sys.stderr)
        return 128 + reason.number
