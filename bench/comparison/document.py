"""The JSON: all that was measured and how, in a form that the page is drawn from. Schema 1, described in docs/benchmarks.md."""

import json
import os
from dataclasses import asdict

from .cases import bus_factor
from .clusters import parse_cluster, wire_floor_us
from .namespaces import MIN_BURST_BYTES
from .results import STATE_FACTOR, TIE, cells_of, near_runs, summary, verdict

def cell_entry(cell, near):
    """`near` is the same cell from the runs in the machine's near state, or None."""
    key = cell.key
    ratio = cell.ratio
    entry = {
        "collective": key.collective, "ranks": key.place.ranks, "bytes": key.bytes, "hosts": key.place.hosts,
        "cluster": key.place.cluster or None,
        "weft_us": cell.weft and cell.weft.us, "weft_algorithm": cell.weft and cell.weft.algorithm,
        "peers": {name: best.us for name, best in cell.peers.items()},
        "variants": {name: best.variant for name, best in cell.peers.items()},
        "best_peer": cell.best_peer, "ratio": ratio and round(ratio, 4), "verdict": verdict(ratio),
        "near_ratio": near and near.ratio and round(near.ratio, 4),
        "floor_us": floor_of(key),
        "flag_ns": {"weft": mean_flag(cell.weft), "best_peer": mean_flag(cell.peers.get(cell.best_peer))},
    }
    for name, best in cell.others.items():
        entry[f"weft_{name}_us"] = best.us
        entry[f"{name}_ratio"] = (ours := cell.ratio_of(best)) and round(ours, 4)
    return entry


def floor_of(key):
    """What the wires of an emulated cluster allow, for sizes that a burst does not carry; of one machine's floors nothing is known."""
    if not key.place.cluster or key.bytes < 4 * MIN_BURST_BYTES:
        return None
    floor = wire_floor_us(parse_cluster(key.place.cluster), key.collective, key.bytes)
    return floor and round(floor, 3)


def mean_flag(best):
    flags = [flag for flag in (best.flag_ns if best else ()) if flag]
    return round(sum(flags) / len(flags), 1) if flags else None


def run_entry(run):
    return {"round": run.round, "cluster": run.place.cluster or None, "ranks": run.place.ranks, "collective": run.collective,
            "program": run.program, "variant": run.variant, "flag_ns": list(run.flag_ns), "seconds": run.seconds,
            "median_us": {str(point.bytes): point.median_us for point in run.points if not point.wrong},
            **({"failure": run.failure} if run.failure else {})}


def variant_entries(runs):
    """Every way in which a program was started, once for each place and with one of its commands."""
    found = {}
    for run in runs:
        found.setdefault((run.place, run.program, run.variant), run.command)
    return [{"cluster": place.cluster or None, "ranks": place.ranks, "program": program, "variant": variant, "command": command}
            for (place, program, variant), command in found.items()]


def failure_entries(runs):
    return [{"program": run.program, "variant": run.variant, "cluster": run.place.cluster or None, "ranks": run.place.ranks,
             "collective": run.collective, "round": run.round, "why": run.failure} for run in runs if run.failure]


def state_entry(runs, why_not):
    flags = [flag for run in runs for flag in run.flag_ns if flag]
    return {"flag_ns": {"least": min(flags), "most": max(flags)} if flags else None,
            "changed": bool(flags) and max(flags) > STATE_FACTOR * min(flags), **({"why_not": why_not} if why_not else {})}


def document(plan, measuring, machine, left_out, settings):
    runs = measuring.runs
    near = {cell.key: cell for cell in cells_of(near_runs(runs))}
    cells = [cell_entry(cell, near.get(cell.key)) for cell in cells_of(runs)]
    programs = [{"name": contender.name, "title": contender.title, "version": contender.version, **contender.files}
                for contender in [plan.weft, *plan.peers]]
    return {
        "schema": 1, "settings": {**settings, "tie": TIE}, "machine": machine,
        "state": state_entry(runs, plan.state.why_not), "programs": programs,
        "left_out": [asdict(entry) for entry in left_out], "summary": summary([cell["ratio"] for cell in cells]),
        "cells": cells, "failures": failure_entries(runs), "variants": variant_entries(runs),
        "runs": [run_entry(run) for run in runs],
    }


def to_text(entry):
    """JSON with one line for each entry of a list, so that people and diff can read it."""
    parts = []
    for name, value in entry.items():
        if isinstance(value, list) and value:
            lines = ",\n".join("  " + json.dumps(item, ensure_ascii=False) for item in value)
            parts.append(f" {json.dumps(name)}: [\n{lines}\n ]")
        else:
            parts.append(f" {json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def write_file(path, text):
    """Whole or not at all."""
    unfinished = f"{path}.{os.getpid()}.new"
    try:
        with open(unfinished, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(unfinished, path)
    finally:
        if os.path.exists(unfinished):
            os.unlink(unfinished)


def bus_bandwidth_gbs(cell, microseconds):
    """GB/s on each rank's link, as nccl-tests counts."""
    return cell["bytes"] / microseconds / 1e3 * bus_factor(cell["collective"], cell["ranks"])
