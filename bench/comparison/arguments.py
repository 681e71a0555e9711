"""The command line as a value. Parsed once, trusted afterwards."""

import argparse
from pathlib import Path

from .building import cache_folder
from .cases import COLLECTIVES, BadInput, Sizes, parse_bytes
from .clusters import parse_cluster

DESCRIPTION = "Measures Weft and the peers that are installed beside each other, and says who is ahead by how much."
EPILOGUE = """examples:
  bench/compare --install-peers
  bench/compare --list
  bench/compare --ranks 2,4,8 --json c.json --html c.html
  bench/compare --ranks 2 --collectives all_reduce,broadcast --max-bytes 64k --rounds 2
  bench/compare --cluster 4x2@1gbit --json d.json
  bench/compare --cluster 4x1@1gbit/3=200mbit
  bench/compare --from c.json --html c.html

exit status: 0 measured, also where peers failed; 1 Weft failed or was wrong, or an installation failed; 2 bad input."""
MAX_RANKS = 1024


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise BadInput(message)


def parser():
    made = Parser(prog="bench/compare", description=DESCRIPTION, epilog=EPILOGUE, formatter_class=argparse.RawTextHelpFormatter)
    add = made.add_argument
    add("--ranks", metavar="N,...", help="numbers of ranks on this machine (2,4,8 if nothing else is asked for)")
    add("--cluster", metavar="HxR@RATE[/K=RATE],...",
        help="emulated clusters: H hosts of R ranks, links of RATE, host K's of another; needs root")
    add("--collectives", metavar="NAME,...", default=",".join(COLLECTIVES), help="default: all of\n%(default)s")
    add("--min-bytes", metavar="SIZE", default="8",
        help="smallest size; sizes go up by factors of 4, the largest is always there (8)")
    add("--max-bytes", metavar="SIZE", help="largest size (64M; on clusters 16M)")
    add("--peers", metavar="NAME,...", help="these peers only; --list names them")
    add("--rounds", metavar="N", type=int, default=3, help="how often everything is measured; the least median counts (3)")
    add("--time-budget", metavar="SECONDS", type=float, default=0.1, help="timed calls for each size, about (0.1)")
    add("--deadline", metavar="SECONDS", type=float, help="after which a program is ended (120; on clusters 300)")
    add("--invariant", action="store_true", help="Weft's invariant mode, beside peers that promise equal bits, too")
    add("--symmetric", action="store_true", help="Weft with buffers in symmetric memory, too, in a column of its own")
    add("--tune", action="store_true", help="let Weft measure its algorithms before (weft-bench --tune)")
    add("--weft-bench", metavar="FILE", help="the program (build/release/bin/weft-bench)")
    add("--peers-folder", metavar="FOLDER", help="of wheels and compiled programs (~/.cache/weft/peers)")
    add("--json", metavar="FILE", help="write all results there")
    add("--html", metavar="FILE", help="write a page with plots there")
    add("--from", metavar="FILE", dest="source", help="measure nothing: results of an earlier --json")
    add("--list", action="store_true", help="say which peers are found, and why others are not")
    add("--install-peers", action="store_true", help="install them: apt and Python wheels, for measuring only")
    return made


def names(text, known, what):
    chosen = list(dict.fromkeys(filter(None, text.split(","))))
    unknown = [name for name in chosen if name not in known]
    if unknown or not chosen:
        raise BadInput(f"no such {what}: {', '.join(unknown) or repr(text)}; there are {', '.join(known)}")
    return chosen


def numbers(text):
    parts = text.split(",")
    if not all(part.isdigit() and 2 <= int(part) <= MAX_RANKS for part in parts):
        raise BadInput(f"--ranks {text}: numbers from 2 to {MAX_RANKS}, as 2,4,8")
    return list(dict.fromkeys(map(int, parts)))


def sizes(arguments):
    default = "16M" if arguments.cluster and not arguments.ranks else "64M"
    found = Sizes(parse_bytes(arguments.min_bytes), parse_bytes(arguments.max_bytes or default))
    if found.min_bytes < 4 or found.max_bytes < found.min_bytes or found.max_bytes > 1 << 32:
        raise BadInput("sizes go from 4 bytes to 4G, and --max-bytes is no less than --min-bytes")
    return found


def parse(words):
    """The namespace that argparse makes, with values in the places of texts; BadInput if they make no sense."""
    arguments = parser().parse_args(words)
    measures_by_itself = not arguments.ranks and not arguments.cluster
    arguments.sizes = sizes(arguments)
    arguments.ranks = numbers(arguments.ranks or "2,4,8") if arguments.ranks or measures_by_itself else []
    arguments.cluster = [parse_cluster(text) for text in arguments.cluster.split(",")] if arguments.cluster else []
    arguments.collectives = names(arguments.collectives, COLLECTIVES, "collective")
    arguments.peers = [name for name in arguments.peers.split(",") if name] if arguments.peers is not None else None
    if not 1 <= arguments.rounds <= 1000:
        raise BadInput("--rounds is a number from 1 to 1000")
    if not 0.001 <= arguments.time_budget <= 3600:
        raise BadInput("--time-budget is a number of seconds from 0.001 to 3600")
    if arguments.deadline is not None and not 1 <= arguments.deadline <= 86400:
        raise BadInput("--deadline is a number of seconds from 1 to 86400")
    root = Path(__file__).resolve().parents[2]
    arguments.weft_bench = Path(arguments.weft_bench or root / "build" / "release" / "bin" / "weft-bench")
    arguments.peers_folder = Path(arguments.peers_folder or cache_folder())
    for file in filter(None, (arguments.json, arguments.html)):
        if not Path(file).resolve().parent.is_dir():
            raise BadInput(f"{file}: its folder does not exist")
    return arguments
