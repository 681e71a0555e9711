"""bench/invariance on a small grid: the bits of Invariant are the same, those of Fast are not."""

import os
import subprocess
import unittest
from pathlib import Path

PROGRAM = str(Path(os.environ["WEFT_TEST_BIN"]) / "weft-bench")
SMALL = ["--weft-bench", PROGRAM, "--ranks", "3", "--channels", "1,3", "--transports", "shm", "--dtypes", "float32", "--max-bytes", "64k"]


def invariance(*more):
    return subprocess.run(["bench/invariance", *SMALL, *more], capture_output=True, text=True, timeout=300, check=False)


class Invariance(unittest.TestCase):
    def test_invariant_bits_are_the_same(self):
        outcome = invariance()
        self.assertEqual(outcome.returncode, 0, outcome.stdout + outcome.stderr)
        self.assertRegex(outcome.stdout, r"invariant: \d\d+ combinations in \d+ groups, 0 of which differ")

    def test_emulated_hosts_change_nothing(self):
        outcome = invariance("--hosts", "2+1,1+2", "--channels", "1")
        self.assertEqual(outcome.returncode, 0, outcome.stdout + outcome.stderr)
        self.assertIn(" 0 of which differ", outcome.stdout)

    def test_fast_bits_are_not(self):
        outcome = invariance("--numerics", "fast")
        self.assertEqual(outcome.returncode, 0, outcome.stdout + outcome.stderr)
        self.assertNotRegex(outcome.stdout, r" 0 of which differ")

    def test_a_program_that_is_not_there_is_bad_input(self):
        outcome = invariance("--weft-bench", "/nowhere/weft-bench")
        self.assertEqual(outcome.returncode, 2)
        self.assertIn("/nowhere/weft-bench", outcome.stderr)


if __name__ == "__main__":
    unittest.main()
