"""Starting programs so that nothing outlives its deadline. Every process that the tool starts, and whatever these start, is a
descendant of the tool: orphans come back to it instead of to init. So all can be found and ended, and nobody else's are touched."""

import contextlib
import ctypes
import os
import select
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass, field

GRACE_S = 5  # between asking to end and ending; also for ranks whose peer has failed
PR_SET_CHILD_SUBREAPER = 36
ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupted(BaseException):
    """A signal asked the tool to end; raised wherever it is, so that everything is cleaned up on the way out."""

    def __init__(self, number):
        super().__init__(f"ended by {signal.Signals(number).name}")
        self.number = number


@dataclass(frozen=True)
class Command:
    words: list
    environment: dict = field(default_factory=dict)  # added to the tool's own


@dataclass(frozen=True)
class Outcome:
    exit_code: int  # of the first that failed; negative: a signal
    output: str  # standard output of the first
    errors: str  # standard error of all
    seconds: float
    timed_out: bool = False

    @property
    def failed(self):
        return self.timed_out or self.exit_code != 0

    def why(self):
        """What went wrong, in one line."""
        words = self.errors.split("\n")
        last = next((line.strip() for line in reversed(words) if line.strip(" -*=\t")), "")
        if self.timed_out:
            return f"did not end within {self.seconds:.0f} s"
        how = f"ended by signal {-self.exit_code}" if self.exit_code < 0 else f"exit status {self.exit_code}"
        return f"{how}: {last[:200]}" if last else how


def adopt_orphans():
    """Descendants whose parent has ended become children of this process."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def raise_on_signals():
    def interrupt(number, _frame):
        raise Interrupted(number)

    for number in ENDING_SIGNALS:
        signal.signal(number, interrupt)


@contextlib.contextmanager
def undisturbed():
    """Cleaning up is not interrupted: signals that come meanwhile are delivered afterwards."""
    old = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING_SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, old)


def parents():
    """The parent of every process there is."""
    found = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError, ValueError, IndexError):
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                found[int(name)] = int(file.read().rpartition(")")[2].split()[1])
    return found


def descendants(ancestor):
    """All processes below one, the nearest first."""
    children = {}
    for process, parent in parents().items():
        children.setdefault(parent, []).append(process)
    found = list(children.get(ancestor, []))
    for process in found:
        found.extend(children.get(process, []))
    return found


def end_descendants():
    """Asks all descendants to end, then ends those that still run, and reaps them."""
    with undisturbed():
        for number in (signal.SIGTERM, signal.SIGKILL):
            for process in descendants(os.getpid()):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, number)
            until = time.monotonic() + GRACE_S
            while reap() and time.monotonic() < until:
                time.sleep(0.02)
            if not descendants(os.getpid()):
                return


def reap():
    """Whether children are left after those that ended were taken note of."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0] != 0:
            pass
        return True
    return False


def wait_for_all(running, deadline):
    """Waits without polling until all have ended; False if they had not by the deadline. If one fails the others get GRACE_S."""
    watch = select.poll()
    waiting = {}
    for process in running:
        descriptor = os.pidfd_open(process.pid)
        waiting[descriptor] = process
        watch.register(descriptor, select.POLLIN)
    try:
        while waiting:
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            for descriptor, _ in watch.poll(left * 1000):
                if waiting[descriptor].wait() != 0:
                    deadline = min(deadline, time.monotonic() + GRACE_S)
                watch.unregister(descriptor)
                os.close(descriptor)
                del waiting[descriptor]
        return True
    finally:
        for descriptor in waiting:
            os.close(descriptor)


def run_together(commands, deadline_s):
    """Starts the commands side by side and waits for all. Whatever is left of them afterwards is ended."""
    start = time.monotonic()
    running = []
    with contextlib.ExitStack() as stack:
        output = stack.enter_context(tempfile.TemporaryFile("w+", errors="replace"))
        rest = stack.enter_context(tempfile.TemporaryFile("w+", errors="replace"))
        errors = stack.enter_context(tempfile.TemporaryFile("w+", errors="replace"))
        try:
            for number, command in enumerate(commands):
                running.append(subprocess.Popen(command.words, stdin=subprocess.DEVNULL, stdout=rest if number else output,
                                                stderr=errors, env={**os.environ, **command.environment},
                                                start_new_session=True))
            ended = wait_for_all(running, start + deadline_s)
        except OSError as error:
            return Outcome(127, "", f"{error.filename or commands[0].words[0]}: {error.strerror}", 0)
        finally:
            seconds = time.monotonic() - start
            known = [process.poll() for process in running]
            if descendants(os.getpid()):
                end_descendants()
                for process in running:
                    process.poll()  # it was reaped as all others were
        failures = [code for code in known if code]
        for file in (output, errors):
            file.seek(0)
        # A rank that was ended because another had failed before is no missed deadline.
        late = not ended and not failures
        return Outcome(failures[0] if failures else -signal.SIGKILL if late else 0, output.read(), errors.read(), seconds, late)


def run(words, deadline_s, environment=None):
    return run_together([Command(list(words), environment or {})], deadline_s)
