"""Evener for Spack: a copy of this file is packages/evener/package.py of a Spack repository.

    spack develop --path CHECKOUT evener@main
    spack install evener +mpi

CUDA, HIP and OpenCL are no variants: the library needs none of them to be built, and opens their drivers when a program asks for devices.
"""

from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *


class Evener(CMakePackage):
    """Loops over tasks of unequal weight on compute units of unequal strength:
    groups of CPU cores, GPUs and ranks, in C, C++ and Fortran."""

    homepage = "https://evener.invalid"
    git = "https://evener.invalid/evener.git"

    license("Apache-2.0")

    version("main", branch="main")

    variant("mpi", default=True, description="Plug-in for this MPI, for runs of several ranks")
    variant("fortran", default=True, description="Examples in Fortran; the modules are installed as source")
    variant("shared", default=True, description="Shared library beside the archive")
    variant("scotch", default=False, description="Scotch, which the schedule map tries beside its own plans")
    variant("cbc", default=False, description="COIN-OR CBC, for the exact schedule, optimal")
    variant("contract", default=True, description="Let the compiler fuse a*b+c")

    depends_on("c", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("cmake@3.18:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("hwloc@2:")
    depends_on("cjson")
    depends_on("mpi", when="+mpi")
    # opened when they are first needed, in the folders that linking records
    depends_on("scotch@7:~mpi~int64", when="+scotch")
    depends_on("cbc@2.10:", when="+cbc")

    def cmake_args(self):
        return [
            self.define("EVENER_ISA", "all"),
            self.define("MUMPS_LIBRARY", False),
            self.define("EVENER_MPICC", self.spec["mpi"].mpicc if self.spec.satisfies("+mpi") else False),
            self.define_from_variant("EVENER_FORTRAN", "fortran"),
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
            self.define_from_variant("EVENER_CONTRACT", "contract"),
        ]
