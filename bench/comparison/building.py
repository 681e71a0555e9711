"""Compiling the peers' benchmark programs, once for each peer, version and text; the results are kept in a cache folder."""

import hashlib
import os
import shutil
from pathlib import Path

from .processes import run

SOURCES = Path(__file__).parent / "programs"
COMPILE_DEADLINE_S = 180


class CannotBuild(Exception):
    """Why a program cannot be compiled, in one line."""


def cache_folder():
    root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(root) / "weft" / "peers"


class Builder:
    def __init__(self, folder):
        self.folder = Path(folder) / "programs"

    def build(self, source, compiler, flags=(), environment=None, version=""):
        """The program made of programs/<source>; compiled if the same was not compiled before."""
        path = shutil.which(compiler)
        if path is None:
            raise CannotBuild(f"no {compiler}")
        language = ["-std=c++20"] if source.endswith(".cpp") else ["-std=gnu11"]
        words = [path, "-O2", *language, "-Wall", "-Wextra", str(SOURCES / source)]
        text = (SOURCES / source).read_bytes() + (SOURCES / "loop.h").read_bytes()
        mark = hashlib.sha256(text + "\0".join([*words, *flags, version]).encode()).hexdigest()[:16]
        program = self.folder / f"{Path(source).stem}-{mark}"
        if program.exists():
            return program
        self.folder.mkdir(parents=True, exist_ok=True)
        unfinished = program.with_suffix(f".{os.getpid()}")
        outcome = run([*words, "-o", str(unfinished), *flags], COMPILE_DEADLINE_S, environment)
        if outcome.failed:
            unfinished.unlink(missing_ok=True)
            raise CannotBuild(f"programs/{source} does not compile: {first_error(outcome)}")
        unfinished.rename(program)
        return program


def first_error(outcome):
    """The compiler's first complaint; the last line only counts them."""
    lines = [line for line in outcome.errors.splitlines() if "error" in line.lower()]
    return lines[0].strip()[:300] if lines else outcome.why()
