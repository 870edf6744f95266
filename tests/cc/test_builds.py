#!/usr/bin/env python3
"""evener-cc in the builds of others: its options, one and two commands, make, CMake, dependency files, odd names.

Run: ctest -R cc-builds, or tests/cc/test_builds.py build/evener-cc [test ..]
"""
import os
import shutil
import signal
import subprocess
import time
import unittest
import common
from common import Case, COMPILERS, INCLUDE, SOURCE, run

MAIN = """#include "part.h"
#include <stdio.h>
int main(void) {
    int sum = 0;
#pragma omp teams distribute num_teams(2:CPU:1) reduction(+: sum)
    for (int i = 0; i < 10; i++) sum += part(i);
    printf("%d\\n", sum);
    return 0;
}
"""
PART = """#include "part.h"
#ifndef __EVENER_CC__
#error not by evener-cc
#endif
int part(int i) { return FACTOR * i; }
int most(void) {
    int n = 0;
#pragma omp teams distribute num_teams(1:CPU:1) reduction(max: n)
    for (int k = 0; k < 3; k++) n = part(k);
    return n;
}
"""
PLAIN = '#include "part.h"\nint part(int i) { return FACTOR * i; }\n'


class Builds(Case):
    def setUp(self):
        self.tree = os.path.join(self.folder, self.id().split(".")[-1], "a b")
        os.makedirs(os.path.join(self.tree, "sub folder"))
        self.write("sub folder/main.c", MAIN)
        self.write("sub folder/part.h", "#define FACTOR 2\nint part(int);\n")
        self.write("part.c", PLAIN)
        self.source = os.path.join(self.tree, "sub folder", "main.c")

    def write(self, name, text):
        with open(os.path.join(self.tree, name), "w") as file:
            file.write(text)

    def read(self, name):
        with open(os.path.join(self.tree, name)) as file:
            return file.read()

    def make(self, *words, compiler=COMPILERS[0], **more):
        return self.fine(self.cc(compiler, *words, cwd=self.tree, **more))

    def output(self, name="a.out"):
        return self.fine(run([os.path.join(self.tree, name)])).stdout

    def test_at_once(self):
        """Sources, an object and a library in one command; a file without directives as it is."""
        self.make("-Isub folder", "sub folder/main.c", "part.c", "-lm")
        self.assertEqual(self.output(), "90\n")
        self.assertEqual(sorted(os.listdir(self.tree)), ["a.out", "part.c", "sub folder"])
        self.write("part.c", PART)
        for compiler in COMPILERS:
            self.make("-o", "two", "part.c", "sub folder/main.c", "-I", "sub folder", compiler=compiler)
            self.assertEqual(self.output("two"), "90\n")

    def test_in_steps(self):
        self.make("-c", "sub folder/main.c")
        self.make("-c", "-I", "sub folder", "-o", "p.o", "part.c")
        self.make("main.o", "p.o", "-oa.out")
        self.assertEqual(self.output(), "90\n")
        self.make("-c", "-Isub folder", "sub folder/main.c", "part.c")
        self.make("main.o", "part.o")
        self.assertEqual(self.output(), "90\n")
        self.make("-S", "sub folder/main.c")
        self.assertIn("evn_cu_enter", self.read("main.s"))
        self.make("-fsyntax-only", "sub folder/main.c")

    def test_dependencies(self):
        """The source, not the temporary file; the target, as without evener-cc."""
        for mode in ([], ["--preprocessed"]):
            for words, file, target in ((["-MD", "-c"], "main.d", "main.o:"), (["-MMD", "-MF", "x.dep", "-c"], "x.dep", "main.o:"),
                                        (["-MD", "-MT", "my target", "-MF", "y.d", "-c", "-o", "z.o"], "y.d", "my target:"),
                                        (["-MMD", "-c", "-o", "deep.c.o"], "deep.c.d", "deep.c.o:"),
                                        (["-Wp,-MMD,w.d", "-c"], "w.d", "main.o:")):
                with self.subTest(words=words, mode=mode):
                    self.make(*mode, *words, "sub folder/main.c")
                    text = self.read(file).replace("\\\n", " ")
                    self.assertTrue(text.startswith(target), text)
                    self.assertIn("sub\\ folder/main.c", text)
                    self.assertIn("sub\\ folder/part.h", text)
                    self.assertNotIn("evener-cc-", text)

    def test_dependencies_alone(self):
        """-M, -MM and -E: omp_cu.h is found, and the source is what they are about."""
        self.write("ask.c", '#include <omp_cu.h>\nint main(void) { return (int)omp_get_num_cus(); }\n')
        for compiler in COMPILERS:
            for word, said in ("-M", "omp_cu.h"), ("-MM", "ask.o: ask.c"), ("-E", "omp_get_num_cus"):
                self.assertIn(said, self.make(word, "ask.c", compiler=compiler).stdout)
        self.assertEqual(self.make("-c", "--show", "ask.c").stdout.count("-fopenmp"), 1)

    def test_more_files(self):
        """What the compiler leaves beside the object stays, named as without evener-cc; nothing stays among the temporary files."""
        temporary = os.path.join(self.tree, "tmp")
        os.mkdir(temporary)
        for words, left in ((["--coverage"], "prog-main.gcno"), (["-gsplit-dwarf"], "prog-main.dwo"), (["-fstack-usage"], "prog-main.su"),
                            (["-save-temps=obj"], "prog-main.s"), (["-save-temps"], None)):
            with self.subTest(words=words):
                os.mkdir(os.path.join(self.tree, "bin"))
                self.make(*words, "-Isub folder", "sub folder/main.c", "part.c", "-o", "bin/prog", env={"TMPDIR": temporary}, compiler="gcc")
                self.assertEqual(self.output("bin/prog"), "90\n")
                files = os.listdir(os.path.join(self.tree, "bin"))
                if left:
                    self.assertIn(left, files)
                if words == ["--coverage"]:
                    self.assertIn("prog-main.gcda", files)
                self.assertNotIn("prog-main.o", files)
                self.assertEqual(os.listdir(temporary), [])
                shutil.rmtree(os.path.join(self.tree, "bin"))
        self.write("prog-main.o", "the user's")
        self.make("--coverage", "-Isub folder", "sub folder/main.c", "part.c", "-o", "prog", compiler="gcc")
        self.assertEqual(self.read("prog-main.o"), "the user's")

    def test_signals(self):
        """A signal to the command ends the compiler, then the command, by the same signal, and nothing is left."""
        temporary, slow = os.path.join(self.tree, "tmp"), os.path.join(self.tree, "slow")
        os.mkdir(temporary)
        self.write("slow", "#!/bin/sh\necho > started\nexec sleep 100\n")
        os.chmod(slow, 0o755)
        for number in signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE:
            program = subprocess.Popen([common.COMMAND, "-Isub folder", "-c", "sub folder/main.c"], cwd=self.tree, stderr=subprocess.DEVNULL,
                                       env=dict(common.PLAIN, EVENER_CC="./slow", TMPDIR=temporary), restore_signals=True)
            try:
                while not os.path.exists(os.path.join(self.tree, "started")):
                    self.assertIsNone(program.poll())
                    time.sleep(0.01)
                program.send_signal(number)
                self.assertEqual(program.wait(60), -number)
            finally:
                program.kill()
            self.assertEqual(os.listdir(temporary), [])
            os.unlink(os.path.join(self.tree, "started"))

    def test_makefile(self):
        """Rebuilt when a header changes, else not."""
        self.write("Makefile", f"CC = {common.COMMAND}\nCFLAGS = -O1 -MMD -I'sub folder'\na.out: m.o part.o\n\t$(CC) m.o part.o\n"
                   "m.o:\n\t$(CC) $(CFLAGS) -c 'sub folder/main.c' -o m.o\n-include m.d part.d\n")
        env = {"EVENER_CC": COMPILERS[0]}
        make = ["make", "-C", self.tree]
        self.fine(run(make, env=env))
        self.assertEqual(self.output(), "90\n")
        self.assertIn("up to date", run(make, env=env).stdout)
        self.write("sub folder/part.h", "#define FACTOR 3\nint part(int);\n")
        os.utime(os.path.join(self.tree, "sub folder", "part.h"), (2e9, 2e9))
        self.fine(run(make, env=env))
        self.assertEqual(self.output(), "135\n")

    @unittest.skipUnless(shutil.which("cmake"), "no cmake")
    def test_cmake(self):
        """As the compiler, as a launcher, and by evener_directives()."""
        lists = ('cmake_minimum_required(VERSION 3.18)\nproject(p C)\nadd_executable(p "sub folder/main.c" part.c)\n'
                 'target_include_directories(p PRIVATE "sub folder")\n')
        flags = self.make("--link-flags").stdout.strip()
        end = f'target_link_libraries(p PRIVATE {flags})\n'
        function = f'set(EVENER_CC "{common.COMMAND}")\ninclude("{SOURCE}/cmake/directives.cmake")\nevener_directives(p)\n'
        env = {"EVENER_CC": COMPILERS[0]}
        for number, (text, words) in enumerate(((lists, [f"-DCMAKE_C_COMPILER={common.COMMAND}"]),
                                                (lists + end, [f"-DCMAKE_C_COMPILER_LAUNCHER={common.COMMAND}",
                                                               f"-DCMAKE_C_COMPILER={COMPILERS[0]}"]),
                                                (lists + function + end, [f"-DCMAKE_C_COMPILER={COMPILERS[0]}"]))):
            self.write("CMakeLists.txt", text)
            build = os.path.join(self.tree, f"build {number}")
            ninja = ["-G", "Ninja"] if number == 1 and shutil.which("ninja") else []
            self.fine(run(["cmake", "-S", self.tree, "-B", build, *ninja, *words], env=env))
            self.fine(run(["cmake", "--build", build], env=env))
            self.assertEqual(self.output(f"build {number}/p"), "90\n")
            again = self.fine(run(["cmake", "--build", build, "--verbose"], env=env)).stdout
            self.assertNotIn("main.c.o -c", again)

    def test_launcher(self):
        """The compiler, with programs before it, as the first words."""
        words = [shutil.which("env"), COMPILERS[0], "-c", "sub folder/main.c"]
        self.fine(run([common.COMMAND, *words], cwd=self.tree, env={"EVENER_CC": "false"}))
        self.assertTrue(os.path.exists(os.path.join(self.tree, "main.o")))
        if shutil.which("ccache"):
            env = {"CCACHE_DIR": os.path.join(self.folder, "ccache")}
            self.make("-c", "-o", "c.o", "sub folder/main.c", compiler="ccache " + COMPILERS[0], env=env)
            self.make("c.o", "part.c", "-Isub folder", compiler="ccache " + COMPILERS[0], env=env)
            self.assertEqual(self.output(), "90\n")

    def test_options(self):
        shown = self.make("--show", "-Isub folder", "sub folder/main.c", "part.c").stdout.splitlines()
        self.assertEqual(len(shown), 2)
        self.assertEqual(sorted(os.listdir(self.tree)), ["part.c", "sub folder"])
        self.assertIn("-fopenmp -D__EVENER_CC__ -idirafter", shown[0])
        self.make("--keep", "-c", "-o", "kept.o", "sub folder/main.c")
        self.assertEqual(self.make("--source", "sub folder/main.c").stdout, self.read("kept.evn.c"))
        folder = self.make("--compile-flags").stdout.split()[-1]
        self.assertEqual(os.path.realpath(folder), os.path.realpath(INCLUDE))
        self.assertEqual(self.make("--compile-flags", env={"EVENER_CC_INCLUDE": folder}).stdout, f"-fopenmp -D__EVENER_CC__ -idirafter {folder}\n")
        flags = self.make("--link-flags").stdout.split()
        self.assertEqual((flags[0], flags[-1]), ("-Wl,--wrap=GOMP_parallel,--wrap=__kmpc_fork_call", "-fopenmp"))
        self.assertEqual(self.make("--link-flags", env={"EVENER_CC_LINK": "-lx"}).stdout, "-lx -fopenmp\n")
        self.write("words", "-c '-Isub folder' \"sub folder/main.c\"\n-o from\\ file.o")
        self.make("@words")
        self.assertTrue(os.path.exists(os.path.join(self.tree, "from file.o")))
        plain = self.make("-E", "sub folder/main.c").stdout
        self.assertIn("#pragma omp teams distribute", plain)
        self.assertEqual(self.make("--version").stdout, run([COMPILERS[0], "--version"]).stdout)
        self.assertEqual(self.make("--help").stdout.splitlines()[0], "usage: evener-cc [options] [any options of the compiler] files")
        missing = self.cc(COMPILERS[0], "-c", "missing.c", cwd=self.tree)
        self.assertNotEqual(missing.returncode, 0)
        self.assertIn("missing.c", missing.stderr)
        self.assertNotEqual(run([common.COMMAND]).returncode, 0)

    def test_nothing_is_left(self):
        """No temporary file, whatever happens."""
        folder = os.path.join(self.tree, "tmp")
        os.mkdir(folder)
        for words in (["-c", "sub folder/main.c"], ["-Isub folder", "sub folder/main.c", "part.c"], ["-c", "--preprocessed", "sub folder/main.c"],
                      ["sub folder/main.c"], ["-c", "-DFACTOR=x", "-Dpart=+", "sub folder/main.c"]):
            self.cc(COMPILERS[0], *words, cwd=self.tree, env={"TMPDIR": folder})
            self.assertEqual(os.listdir(folder), [])


if __name__ == "__main__":
    common.main()
