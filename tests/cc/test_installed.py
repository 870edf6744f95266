#!/usr/bin/env python3
"""What is installed makes programs with directives, far from the source: evener-cc alone, make, pkg-config, the CMake package with
Make and Ninja, a shared library, link-time optimisation.

Run: ctest -R cc-installed, or tests/cc/test_installed.py build/evener-cc [test ..]     the build tree is installed
"""
import glob
import os
import re
import shutil
import unittest
import common
from common import Case, COMPILERS, SOURCE, run

EXPECTED = "7979.6156517964137\n"
LIBRARY = """long triangle(int n) {
    long sum = 0;
#pragma omp teams distribute num_teams(2:CPU:1) reduction(+ : sum)
    for (int i = 1; i <= n; i++) sum += i;
    return sum;
}
"""
USER = """#include <stdio.h>
long triangle(int);
int main(void) {
    int sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 5; i++) sum += i;
    printf("%d %ld\\n", sum, triangle(100));
    return 0;
}
"""


class Installed(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.usr = os.path.join(cls.folder, "the system", "usr")
        done = run(["cmake", "--install", os.path.dirname(common.COMMAND), "--prefix", cls.usr])
        assert done.returncode == 0, done.stderr
        pc = glob.glob(cls.usr + "/**/evener-cu.pc", recursive=True)[0]
        cls.pc = os.path.dirname(pc)
        for name in glob.glob(cls.pc + "/*.pc"):
            with open(name) as file:
                text = re.sub(r"^prefix=.*$", "prefix=" + cls.usr.replace(" ", "\\\\ "), file.read(), flags=re.M)
            with open(name, "w") as file:
                file.write(text)
        cls.command = os.path.join(cls.usr, "bin", "evener-cc")
        cls.user = os.path.join(cls.folder, "user's program")
        os.mkdir(cls.user)
        for name in "zones.c", "stencil.h", "stencil.kernel.c":
            shutil.copy(os.path.join(SOURCE, "examples", name), cls.user)
        for name, text in ("library.c", LIBRARY), ("user.c", USER):
            with open(os.path.join(cls.user, name), "w") as file:
                file.write(text)

    def made(self, *words, **more):
        return self.fine(run(list(words), cwd=self.user, **more)).stdout

    def test_nothing_of_the_tree(self):
        """Neither folder that the command names is the source's or the build's."""
        flags = self.made(self.command, "--compile-flags") + self.made(self.command, "--link-flags")
        self.assertNotIn(SOURCE, flags)
        self.assertIn("usr", flags)

    def test_by_hand(self):
        """Compiled and linked, also with link-time optimisation, and by make."""
        with open(os.path.join(self.user, "Makefile"), "w") as file:
            file.write("user: user.o library.o\n\t$(CC) $^ -o $@\n")
        for compiler in COMPILERS:
            env = {"EVENER_CC": compiler}
            for words in (), ("-O2", "-flto"):
                if words and compiler == "clang" and not shutil.which("ld.lld"):
                    continue
                self.made(self.command, *words, "user.c", "library.c", "-o", "out", env=env)
                self.assertEqual(self.made("./out"), "10 5050\n")
            self.made("make", "-B", "CC=" + self.command.replace(" ", "\\ "), "user", env=env)
            self.assertEqual(self.made("./user"), "10 5050\n")

    @unittest.skipUnless(shutil.which("gfortran"), "no gfortran")
    def test_fortran(self):
        """By evener-fc, whose module lies beside the headers."""
        with open(os.path.join(self.user, "sum.f90"), "w") as file:
            file.write("program p\ninteger :: i, s = 0\n!$omp teams distribute num_teams(2:CPU:1) reduction(+: s)\n"
                       "do i = 1, 9\ns = s + i\nend do\nprint '(i0)', s\nend program\n")
        self.made(os.path.join(os.path.dirname(self.command), "evener-fc"), "sum.f90", "-o", "sum")
        self.assertEqual(self.made("./sum"), "45\n")

    def test_shared_library(self):
        """The directives are in a library, and who uses it is linked by a plain compiler."""
        for compiler in COMPILERS:
            self.made(self.command, "-fPIC", "-shared", "library.c", "-o", "libtriangle.so", env={"EVENER_CC": compiler})
            self.made(compiler, "-fopenmp", "user.c", "-L.", "-ltriangle", "-Wl,-rpath," + self.user, "-o", "shared")
            self.assertEqual(self.made("./shared"), "10 5050\n")

    def test_shared_evener(self):
        """Evener itself shared, outside of the loader's folders: a program runs at once, unless it shall not know where it is."""
        usr = os.path.join(self.folder, "a shared", "usr")
        shutil.copytree(self.usr, usr, symlinks=True)
        archive = glob.glob(usr + "/**/libevener.a", recursive=True)
        if not archive:
            self.skipTest("Evener is a shared library already")
        folder, command = os.path.dirname(archive[0]), os.path.join(usr, "bin", "evener-cc")
        needs = self.made(self.command, "--link-flags").split("-Wl,--end-group ")[1].split()
        self.made(COMPILERS[0], "-shared", "-fopenmp", "-Wl,-soname,libevener.so.0,-z,nodelete,--whole-archive", archive[0],
                  "-Wl,--no-whole-archive", *needs, "-o", folder + "/libevener.so.0")
        os.symlink("libevener.so.0", folder + "/libevener.so")
        os.unlink(archive[0])
        env = {"EVENER_CC": COMPILERS[0]}
        self.made(command, "user.c", "library.c", "-o", "knows", env=env)
        self.assertEqual(self.made("./knows"), "10 5050\n")
        self.made(command, "--no-rpath", "user.c", "library.c", "-o", "knows_not", env=env)
        self.assertIn("libevener.so.0", run(["./knows_not"], cwd=self.user).stderr)
        self.assertEqual(self.made("./knows_not", env={"LD_LIBRARY_PATH": folder}), "10 5050\n")
        self.assertIn("-rpath", self.made(command, "--link-flags"))
        self.assertNotIn("-rpath", self.made(command, "--no-rpath", "--link-flags"))
        self.assertNotIn("-rpath", self.made(self.command, "--link-flags"))

    @unittest.skipUnless(shutil.which("pkg-config"), "no pkg-config")
    def test_pkg_config(self):
        """Compiled by evener-cc, linked by another with the flags of evener-cu."""
        import shlex
        flags = shlex.split(self.made("pkg-config", "--libs", "evener-cu", env={"PKG_CONFIG_PATH": self.pc}))
        for name in "user", "library":
            self.made(self.command, "-c", name + ".c", env={"EVENER_CC": COMPILERS[0]})
        self.made(COMPILERS[0], "user.o", "library.o", *flags, "-o", "linked")
        self.assertEqual(self.made("./linked"), "10 5050\n")

    def test_cmake(self):
        """find_package(evener), evener_directives(), evener_kernels()."""
        with open(os.path.join(self.user, "CMakeLists.txt"), "w") as file:
            file.write("cmake_minimum_required(VERSION 3.18)\nproject(user C)\nfind_package(evener REQUIRED)\n"
                       "add_executable(zones zones.c)\nevener_directives(zones)\nevener_kernels(zones stencil stencil.kernel.c)\n"
                       "target_compile_options(zones PRIVATE -O2 -ffp-contract=off)\n"
                       "add_library(triangle SHARED library.c)\nevener_directives(triangle)\n"
                       "find_package(OpenMP REQUIRED COMPONENTS C)\nadd_executable(user user.c)\n"
                       "target_link_libraries(user PRIVATE triangle OpenMP::OpenMP_C)\n")
        generators = [["-G", "Unix Makefiles"]] + ([["-G", "Ninja"]] if shutil.which("ninja") else [])
        for number, generator in enumerate(generators):
            compiler = COMPILERS[number % len(COMPILERS)]
            build = os.path.join(self.folder, f"build {number}")
            self.made("cmake", "-S", self.user, "-B", build, *generator, "-DCMAKE_PREFIX_PATH=" + self.usr, "-DCMAKE_C_COMPILER=" + compiler)
            self.made("cmake", "--build", build)
            self.assertEqual(self.made(build + "/zones", env={"EVENER_UNITS": "1:CPU:1,2:GPU:1"}), EXPECTED)
            self.assertEqual(self.made(build + "/user"), "10 5050\n")
