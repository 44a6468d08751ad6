# A recipe for Spack: put it into a repository of yours as packages/triscope/package.py, and the package's tarball (`npm pack`) into
# the folder from which `spack install triscope` is called. Its syntax is tested; Spack has never run it.
import os

from spack.package import *


class Triscope(Package):
    """High-performance-computing instrumentation: an optimistic parallel simulator, region attribution and node
    counters on one timeline."""

    manual_download = True
    license("Apache-2.0")

    # The checksum is that of your tarball: spack checksum triscope
    version("0.1.0", expand=False)

    variant("mpi", default=True, description="Simulates over MPI, and marks MPI calls")
    variant("openmp", default=False, description="Marks OpenMP regions, by clang and its runtime")

    depends_on("c", type=("build", "run"))
    depends_on("node-js@20.19:", type=("build", "run"))
    depends_on("npm@10:", type="build")
    depends_on("mpi", when="+mpi", type=("build", "run"))
    depends_on("llvm+clang", when="+openmp", type=("build", "run"))

    def url_for_version(self, version):
        return "file://{0}/triscope-{1}.tgz".format(os.getcwd(), version)

    def install(self, spec, prefix):
        npm = which("npm", required=True)
        npm("install", "--global", "--ignore-scripts", "--prefix={0}".format(prefix), self.stage.archive_file)

    def setup_run_environment(self, env):
        env.prepend_path("PATH", self.prefix.bin)
        env.prepend_path("MANPATH", self.prefix.share.man)
