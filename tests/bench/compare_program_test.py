"""bench/compare as a whole: Weft and a peer that is played by a script are measured, and JSON and page are written."""

import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from comparison.cases import BadInput
from comparison.clusters import parse_cluster
from comparison.namespaces import Namespaces, names_of_namespaces

ROOT = Path(__file__).resolve().parents[2]
COMPARE = ROOT / "bench" / "compare"
DEADLINE_S = 300

# Plays mpicc: the "compiler" makes a program that answers every question with 1 us.
COMPILER = """#!/bin/sh
while [ $# -gt 0 ]; do [ "$1" = -o ] && out=$2; shift; done
printf '#!/bin/sh\\necho result barrier 2 0 1.0 0.9 1.1 5 5 0\\n' > "$out"
chmod +x "$out"
"""
# Plays mpiexec: runs the program once.
LAUNCHER = """#!/bin/sh
[ "$1" = --version ] && { echo '    Version:      9.8.7'; exit 0; }
for word; do case $word in */mpi-*) exec "$word";; esac; done
exit 9
"""


class Program(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="weft-compare-test."))
        self.addCleanup(shutil.rmtree, self.folder)
        for name, text in (("mpicc.mpich", COMPILER), ("mpiexec.mpich", LAUNCHER)):
            file = self.folder / name
            file.write_text(text)
            file.chmod(file.stat().st_mode | stat.S_IXUSR)
        self.bench = Path(os.environ.get("WEFT_TEST_BIN", ROOT / "build" / "dev" / "bin")) / "weft-bench"

    def compare(self, *words):
        environment = {**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}"}
        return subprocess.run([sys.executable, COMPARE, "--peers-folder", self.folder, *words], cwd=self.folder, text=True,
                              env=environment, capture_output=True, timeout=DEADLINE_S, stdin=subprocess.DEVNULL)

    def measure(self, *words):
        return self.compare("--weft-bench", self.bench, "--ranks", "2", "--rounds", "1", "--time-budget", "0.01", *words)

    def cells(self):
        return json.loads((self.folder / "c.json").read_text())["cells"]

    def needs_namespaces(self):
        if os.geteuid() != 0:
            self.skipTest("namespaces need root")
        try:
            with Namespaces(parse_cluster("2x1@1gbit")):
                pass
        except BadInput as reason:
            self.skipTest(str(reason))

    def test_weft_and_a_peer_are_measured_and_told(self):
        done = self.measure("--collectives", "barrier", "--peers", "mpich", "--json", "c.json", "--html", "c.html")
        self.assertEqual(done.returncode, 0, done.stderr)
        result = json.loads((self.folder / "c.json").read_text())
        (cell,) = result["cells"]
        self.assertEqual((cell["collective"], cell["ranks"], cell["bytes"], cell["peers"]), ("barrier", 2, 0, {"mpich": 1.0}))
        self.assertAlmostEqual(cell["ratio"], 1.0 / cell["weft_us"], places=3)
        self.assertIn("mpich/default", done.stdout)
        self.assertIn("MPICH (Debian) 9.8.7", (self.folder / "c.html").read_text())

    def test_without_any_peer_weft_is_measured_alone(self):
        done = self.measure("--collectives", "all_reduce", "--max-bytes", "32", "--peers", "", "--json", "c.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        result = json.loads((self.folder / "c.json").read_text())
        self.assertEqual([cell["bytes"] for cell in result["cells"]], [8, 32])
        self.assertEqual({entry["why"] for entry in result["left_out"]}, {"not among --peers"})

    def test_on_emulated_hosts_weft_finds_its_ranks(self):
        self.needs_namespaces()
        done = self.compare("--weft-bench", self.bench, "--cluster", "2x2@1gbit", "--rounds", "1", "--time-budget", "0.01",
                            "--collectives", "all_reduce", "--max-bytes", "32", "--peers", "", "--json", "c.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        told = [(cell["bytes"], cell["ranks"], cell["hosts"], cell["cluster"]) for cell in self.cells()]
        self.assertEqual(told, [(8, 4, 2, "2x2@1gbit"), (32, 4, 2, "2x2@1gbit")])

    def test_a_signal_leaves_results_and_no_hosts(self):
        self.needs_namespaces()
        words = ["--peers-folder", self.folder, "--weft-bench", self.bench, "--cluster", "2x1@1gbit", "--rounds", "1000",
                 "--collectives", "barrier", "--peers", "", "--json", "c.json"]
        tool = subprocess.Popen([sys.executable, COMPARE, *words], cwd=self.folder, text=True, stderr=subprocess.PIPE,
                                stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        self.addCleanup(tool.kill)
        while not tool.stderr.readline().startswith("round 1/1000"):
            self.assertIsNone(tool.poll())
        tool.send_signal(signal.SIGTERM)
        tool.communicate(timeout=DEADLINE_S)
        self.assertEqual(tool.returncode, 128 + signal.SIGTERM)
        self.assertEqual([cell["collective"] for cell in self.cells()], ["barrier"])
        self.assertEqual([name for name in names_of_namespaces() if f"-{tool.pid}-" in name], [])

    def test_a_page_is_drawn_from_earlier_results(self):
        self.measure("--collectives", "barrier", "--peers", "mpich", "--json", "c.json", "--html", "first.html")
        done = self.compare("--from", "c.json", "--html", "second.html")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((self.folder / "first.html").read_text(), (self.folder / "second.html").read_text())

    def test_a_failure_of_weft_is_the_exit_status(self):
        broken = self.folder / "broken"
        broken.write_text("#!/bin/sh\n[ $1 = --version ] && exec echo 1.0\n[ $1 = --help ] && exit 0\necho no rank >&2; exit 1\n")
        broken.chmod(0o755)
        done = self.measure("--weft-bench", broken, "--collectives", "barrier", "--peers", "mpich", "--json", "c.json")
        self.assertEqual(done.returncode, 1)
        (failure,) = json.loads((self.folder / "c.json").read_text())["failures"]
        self.assertEqual((failure["program"], failure["why"]), ("weft", "exit status 1: no rank; 0 of 1 sizes were measured"))

    def test_the_list_says_what_is_found_and_why_the_rest_is_not(self):
        done = self.compare("--list", "--peers", "mpich,intelmpi")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"mpich +MPICH \(Debian\) 9\.8\.7")
        self.assertRegex(done.stdout, r"intelmpi +not found: .*--install-peers")
        self.assertRegex(done.stdout, r"gloo +not found: not among --peers")

    def test_bad_input_is_one_line_and_status_2(self):
        for words in (["--ranks", "0"], ["--weft-bench", "no/such"], ["--from", "no/such"], ["--peers", "nobody", "--list"],
                      ["--tune", "--weft-bench", "/bin/true"]):
            done = self.compare(*words)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), f"{words}: {done.stderr}")
            self.assertTrue(done.stderr.startswith("bench/compare: "))


if __name__ == "__main__":
    unittest.main()
