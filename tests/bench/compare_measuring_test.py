"""Programs are interleaved, have deadlines, and what fails does not end the rest."""

import os
import signal
import subprocess
import sys
import time
import unittest
from functools import partial
from types import SimpleNamespace

from comparison import processes
from comparison.cases import Sizes
from comparison.contenders import Contender, Machine, Variant, read_lines
from comparison.measuring import Measuring, Plan, groups
from comparison.processes import Command, descendants, run, run_together

SIZES = Sizes(8, 32)
RESULT = "\n".join(f"result {{collective}} 2 {size} 0.5 0.4 0.9 10 10 0" for size in SIZES.sweep())
HALF = RESULT.split("\n")[0]


def program(name, *, exit_code=0, text=RESULT, names=("default",), **more):
    def start(variant, task):
        STARTED.append(f"{name}/{variant}")
        script = f"import sys; print({text.format(collective=task.collective)!r}); sys.exit({exit_code})"
        return [Command([sys.executable, "-c", script])]

    variants = [Variant(variant, partial(start, variant), **more) for variant in names]
    return Contender(name, name, "1", lambda task: variants, read_lines)


STARTED = []


class Interleaving(unittest.TestCase):
    def measure(self, *peers, rounds=2, collectives=("all_reduce",), **more):
        STARTED.clear()
        state = SimpleNamespace(measure=lambda: 60.0, why_not="")
        plan = Plan(program("weft"), list(peers), list(collectives), SIZES, rounds, 0.1, Machine(2), state, 60, **more)
        self.rounds = 0
        measuring = Measuring(plan, on_round=self.count_round, log=lambda text: None)
        measuring.measure(groups([2], []))
        return measuring.runs

    def count_round(self):
        self.rounds += 1

    def test_weft_and_its_peers_take_turns_in_every_round(self):
        self.measure(program("a"), program("b", names=("one", "two")))
        self.assertEqual(STARTED, ["weft/default", "a/default", "b/one", "b/two"] * 2)
        self.assertEqual(self.rounds, 2)

    def test_every_run_has_the_state_before_and_after_it(self):
        self.assertEqual([run.flag_ns for run in self.measure(program("a"))], [(60.0, 60.0)] * 4)

    def test_a_peer_that_fails_is_noted_once_and_the_rest_goes_on(self):
        runs = self.measure(program("bad", exit_code=3, text=HALF), program("good"))
        self.assertEqual(STARTED, ["weft/default", "bad/default", "good/default", "weft/default", "good/default"])
        self.assertEqual([run.failure for run in runs if run.failure], ["exit status 3; 1 of 2 sizes were measured"])

    def test_a_peer_that_fails_at_one_collective_may_try_the_next(self):
        self.measure(program("bad", exit_code=3, text=HALF), rounds=1, collectives=("all_reduce", "all_gather"))
        self.assertEqual(STARTED.count("bad/default"), 2)

    def test_nonsense_is_a_failure_and_no_result(self):
        runs = self.measure(program("liar", text="result {collective} 2"), rounds=1)
        self.assertIn("half a line", runs[1].failure)
        self.assertEqual(runs[1].points, ())

    def test_variants_run_only_for_collectives_they_are_for(self):
        self.measure(program("a", collectives=("barrier",)), rounds=1)
        self.assertEqual(STARTED, ["weft/default"])

    def test_only_reproducible_peers_are_set_beside_the_invariant_mode(self):
        self.measure(program("fast"), program("exact", reproducible=True), rounds=1, invariant=True)
        self.assertEqual(STARTED, ["weft/default", "exact/default"])
        self.measure(program("fast"), program("exact", reproducible=True), rounds=1)
        self.assertEqual(STARTED, ["weft/default", "fast/default"])


class Processes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        processes.adopt_orphans()
        processes.GRACE_S = 1

    def python(self, script):
        return [sys.executable, "-c", script]

    def test_output_and_exit_status_are_told(self):
        outcome = run(self.python("import sys; print('out'); print('err', file=sys.stderr); sys.exit(4)"), 60)
        told = (outcome.output, outcome.errors, outcome.exit_code, outcome.timed_out)
        self.assertEqual(told, ("out\n", "err\n", 4, False))

    def test_a_program_that_is_not_there_is_a_failure(self):
        outcome = run(["no-such-program-anywhere"], 60)
        self.assertEqual(outcome.exit_code, 127)
        self.assertEqual(outcome.why(), "exit status 127: no-such-program-anywhere: No such file or directory")

    def test_what_does_not_end_is_ended_with_all_that_it_started(self):
        # The grandchild ignores being asked, and has a session of its own.
        grandchild = ("import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); "
                      "time.sleep(600)")
        child = (f"import subprocess, sys, time; p = subprocess.Popen([sys.executable, '-c', {grandchild!r}], "
                 "start_new_session=True, stdout=subprocess.PIPE); p.stdout.readline(); print(p.pid, flush=True); time.sleep(600)")
        outcome = run(self.python(child), 8)
        self.assertTrue(outcome.timed_out)
        self.assertIn("did not end within", outcome.why())
        self.assertFalse(os.path.exists(f"/proc/{int(outcome.output)}"))

    def test_what_a_program_leaves_behind_is_ended_too(self):
        child = ("import subprocess; print(subprocess.Popen(['sleep', '600'], stdout=subprocess.DEVNULL, "
                 "start_new_session=True).pid)")
        outcome = run(self.python(child), 60)
        self.assertFalse(outcome.failed)
        self.assertFalse(os.path.exists(f"/proc/{int(outcome.output)}"))

    def test_ranks_whose_peer_has_failed_do_not_wait_for_the_deadline(self):
        start = time.monotonic()
        ranks = [Command(self.python("import time; time.sleep(600)")), Command(self.python("raise SystemExit(5)"))]
        outcome = run_together(ranks, 300)
        self.assertEqual((outcome.exit_code, outcome.timed_out), (5, False))
        self.assertLess(time.monotonic() - start, 100)

    def test_descendants_are_neither_parents_nor_oneself(self):
        child = subprocess.Popen(self.python("input()"), stdin=subprocess.PIPE)
        self.assertEqual(descendants(os.getpid()), [child.pid])
        self.assertNotIn(os.getpid(), descendants(os.getpid()))
        self.assertIn(os.getpid(), descendants(os.getppid()))
        child.communicate(b"\n", timeout=60)

    def test_a_signal_ends_the_tool_and_what_it_started(self):
        script = ("import sys; from comparison.processes import *; raise_on_signals(); adopt_orphans(); print('up', flush=True)\n"
                  "try: run([sys.executable, '-c', 'import os, time; print(os.getpid()); time.sleep(600)'], 300)\n"
                  "except Interrupted as reason: print(reason, len(descendants(os.getpid())), flush=True)")
        tool = subprocess.Popen(self.python(script), stdout=subprocess.PIPE, text=True)
        self.assertEqual(tool.stdout.readline(), "up\n")
        until = time.monotonic() + 60
        while not descendants(tool.pid) and time.monotonic() < until:
            pass
        tool.send_signal(signal.SIGTERM)
        output, _ = tool.communicate(timeout=60)
        self.assertEqual(output, "ended by SIGTERM 0\n")


if __name__ == "__main__":
    unittest.main()
