"""The loop around the peers' collectives: which sizes it measures, and that it sees wrong results. A single rank plays the peer."""

import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from comparison.building import SOURCES, Builder, CannotBuild
from comparison.cases import Sizes, sizes_of

PEER = """
#include "loop.h"
static int calls;
static void run(const struct Call* call) {
  ++calls;
  if (call->collective != BROADCAST) memcpy(call->out, call->in, call->count * sizeof(float));
  SPOIL
}
static void agree_on_max(double* values, int number) { (void)values, (void)number; }
int main(int argc, char** argv) {
  const struct Peer peer = {0, RANKS, NULL, NULL, run, agree_on_max};
  const struct Settings settings = read_settings(argc, argv, NULL);
  measure_all(&peer, &settings);
  return 0;
}
"""


@unittest.skipUnless(shutil.which("gcc"), "no gcc")
class Loop(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="weft-compare-test."))
        self.addCleanup(shutil.rmtree, self.folder)

    def results(self, *arguments, spoil="", ranks=1):
        source = self.folder / "peer.c"
        source.write_text(PEER.replace("SPOIL", spoil).replace("RANKS", str(ranks)))
        program = self.folder / "peer"
        subprocess.run(["gcc", "-std=gnu11", "-O2", "-I", SOURCES, source, "-o", program], check=True, timeout=120)
        done = subprocess.run([program, "--time-budget", "0.001", *arguments], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [line.split() for line in done.stdout.splitlines()]

    def test_right_results_are_told_as_right(self):
        for collective in ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast"):
            results = self.results("--collectives", collective, "--max-bytes", "8192")
            self.assertTrue(results)
            self.assertEqual({result[-1] for result in results}, {"0"}, collective)

    def test_one_wrong_element_is_seen_in_every_collective(self):
        for collective in ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast"):
            results = self.results("--collectives", collective, "--max-bytes", "8192", spoil="call->out[call->count - 1] += 1;")
            self.assertEqual({int(result[-1]) > 0 for result in results}, {True}, collective)

    def test_results_that_go_wrong_later_are_seen_too(self):
        (result,) = self.results("--collectives", "all_reduce", "--max-bytes", "8", spoil="if (calls > 1) call->out[0] += 1;")
        self.assertNotEqual(result[-1], "0")

    def test_sizes_are_those_that_weft_is_measured_at(self):
        # With three "ranks" the sizes are rounded; what the results are does not matter here.
        for collective in ("all_reduce", "all_gather", "all_to_all"):
            results = self.results("--collectives", collective, "--min-bytes", "8", "--max-bytes", "1000", ranks=3)
            self.assertEqual([int(result[3]) for result in results], sizes_of(collective, 3, Sizes(8, 1000)))

    def test_a_barrier_is_measured_once(self):
        self.assertEqual([result[1:4] for result in self.results("--collectives", "barrier")], [["barrier", "1", "0"]])

    def test_bad_arguments_are_refused(self):
        self.results("--max-bytes", "8")
        for words in (["--max-bytes"], ["--nonsense", "1"], ["--max-bytes", "4", "--min-bytes", "8"], ["--factor", "1"]):
            done = subprocess.run([self.folder / "peer", *words], capture_output=True, timeout=60)
            self.assertEqual(done.returncode, 2, words)


# A clock that only calls move: they take QUICK us each, and SLOW from the call number WHEN on.
CLOCKED_PEER = """
#define _GNU_SOURCE
#include <time.h>
static double passed_us;
static int clock_of_calls(clockid_t clock, struct timespec* now) {
  (void)clock;
  now->tv_sec = (time_t)(passed_us / 1e6);
  now->tv_nsec = (long)((passed_us - (double)now->tv_sec * 1e6) * 1e3);
  return 0;
}
#define clock_gettime clock_of_calls
#include "loop.h"
static int calls;
static void run(const struct Call* call) {
  if (call->collective != BROADCAST) memcpy(call->out, call->in, call->count * sizeof(float));
  passed_us += ++calls < WHEN ? QUICK : SLOW;
}
static void agree_on_max(double* values, int number) { (void)values, (void)number; }
int main(int argc, char** argv) {
  const struct Peer peer = {0, 1, NULL, NULL, run, agree_on_max};
  const struct Settings settings = read_settings(argc, argv, NULL);
  measure_all(&peer, &settings);
  printf("passed %.0f\\n", passed_us);
  return 0;
}
"""


@unittest.skipUnless(shutil.which("gcc"), "no gcc")
class Budget(unittest.TestCase):
    def batches_and_seconds(self, quick, slow, when):
        with tempfile.TemporaryDirectory(prefix="weft-compare-test.") as folder:
            source, program = Path(folder) / "peer.c", Path(folder) / "peer"
            source.write_text(CLOCKED_PEER.replace("QUICK", str(quick)).replace("SLOW", str(slow)).replace("WHEN", str(when)))
            subprocess.run(["gcc", "-std=gnu11", "-O2", "-I", SOURCES, source, "-o", program], check=True, timeout=120)
            words = [program, "--collectives", "all_reduce", "--max-bytes", "8", "--time-budget", "0.1"]
            done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=True)
        result, passed = (line.split() for line in done.stdout.splitlines())
        return int(result[7]), float(passed[1]) / 1e6

    def test_calls_that_keep_their_pace_fill_the_time(self):
        batches, seconds = self.batches_and_seconds(100, 100, 1)
        self.assertIn(batches, (999, 1000))
        self.assertAlmostEqual(seconds, 0.101, delta=0.001)

    def test_calls_that_become_slow_after_the_estimate_do_not_make_all_batches(self):
        # At 15 us a call the time is for 1,000 batches of two; at 8 ms these would take 16 s.
        batches, seconds = self.batches_and_seconds(15, 8000, 40)
        self.assertLessEqual(batches, 20)
        self.assertLess(seconds, 0.5)

    def test_five_batches_are_made_unless_they_take_more_than_a_second(self):
        self.assertEqual(self.batches_and_seconds(100_000, 100_000, 1)[0], 5)
        batches, seconds = self.batches_and_seconds(4_000_000, 4_000_000, 1)
        self.assertEqual(batches, 1)
        self.assertEqual(seconds, 20)  # two checks, one to warm up, one to estimate, one timed


@unittest.skipUnless(shutil.which("gcc"), "no gcc")
class Building(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="weft-compare-test."))
        self.addCleanup(shutil.rmtree, self.folder)

    def test_a_program_is_compiled_once(self):
        first = Builder(self.folder).build("state.c", "gcc", ["-pthread"])
        time = first.stat().st_mtime_ns
        self.assertEqual(Builder(self.folder).build("state.c", "gcc", ["-pthread"]), first)
        self.assertEqual(first.stat().st_mtime_ns, time)

    def test_another_version_of_the_library_is_another_program(self):
        one, two = (Builder(self.folder).build("state.c", "gcc", ["-pthread"], version=version) for version in "12")
        self.assertNotEqual(one, two)

    def test_what_does_not_compile_is_told_by_its_first_error(self):
        with self.assertRaisesRegex(CannotBuild, "programs/mpi.c does not compile: .*error"):
            Builder(self.folder).build("mpi.c", "gcc", ["-nostdinc"])
        self.assertEqual(list((self.folder / "programs").iterdir()), [])

    def test_a_compiler_that_is_not_there_is_told(self):
        with self.assertRaisesRegex(CannotBuild, "no mpicc.nowhere"):
            Builder(self.folder).build("mpi.c", "mpicc.nowhere")


if __name__ == "__main__":
    unittest.main()
