#!/usr/bin/env python3
"""evener-cc in the builds of others: its options, one and two commands, make, CMake, dependency files, odd names.

Run: ctest -R cc-builds, or tests/cc/test_builds.py build/evener-cc [test ..]
"""
import json
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
TEAMS_C = """int main(void) {
    int a[4];
#pragma omp teams distribute num_teams(2:CPU:1)
    for (int i = 0; i < 4; i++) a[i] = i;
    printf("%d\\n", a[3]);
    return 0;
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

    def test_names_of_files(self):
        """Any that a file may have: sources, objects, folders; in messages and dependencies as they are."""
        text = '#include <stdio.h>\nint main(void) {\nint s = 0;\n#pragma omp teams distribute num_teams(2:CPU:1) reduction(+ : s)\n' \
               'for (int i = 0; i < 5; i++) s += i;\nprintf("%d %s", s, __FILE__);\nreturn 0;\n}\n'
        cxx = os.path.join(os.path.dirname(common.COMMAND), "evener-c++")
        for number, name in enumerate(('a"b\nc\td', "a#b$c'd:e%sf", "a??-b c\\", "-a\u00e9;&(x)*[y]{z}", '\n\\"\\012?')):
            folder, compiler = os.path.join(self.tree, "in " + name), COMPILERS[number % len(COMPILERS)]
            os.mkdir(folder)
            for end, command, mode in (".c", common.COMMAND, []), (".c", common.COMMAND, ["--preprocessed"]), (".cpp", cxx, []):
                path = os.path.join(folder, name + end)
                with self.subTest(name=name, end=end, mode=mode):
                    with open(path, "w") as file:
                        file.write(text)
                    self.fine(run([command, *mode, path, "-o", os.path.join(folder, name)], env={"EVENER_CC": compiler}))
                    self.assertEqual(self.fine(run([os.path.join(folder, name)])).stdout, f"10 {path}")
            with open(path, "w") as file:
                file.write(text.replace("CPU", "CPUS"))
            for mode in [], ["--preprocessed"]:
                self.assertTrue(run([cxx, *mode, "-c", path], env={"EVENER_CC": compiler}).stderr.startswith(f"{path}:4:42: error: num_teams: unknown family"))
        self.write("a\tb c#d$.c", text)
        plain = self.fine(run([COMPILERS[0], "-w", "-MMD", "-MF", "plain", "-c", "a\tb c#d$.c", "-o", "x.o"], cwd=self.tree))
        self.make("-w", "-MMD", "-MF", "ours", "-c", "a\tb c#d$.c", "-o", "x.o")
        self.assertEqual(self.read("ours").split(".c")[0], self.read("plain").split(".c")[0], plain)

    def test_headers(self):
        """Precompiled headers are made and used: by -include, as the first include, in files with directives and without."""
        self.write("p.h", "#include <stdio.h>\n#define SAID 7\n")
        self.write("u.c", TEAMS_C)
        self.write("i.c", '/* a\n comment */ // another\n#include "p.h"\n' + TEAMS_C)
        self.write("v.c", 'int v(void) { return SAID; }\n')
        self.write("w.c", '#include "p.h"\nint w(void) { return SAID; }\n')
        for words in (["p.h"], ["-x", "c-header", "p.h", "-o", "p.h.gch"], ["-c", "-O2", "-x", "c-header", "p.h", "-o", "p.h.gch"]):
            self.make(*words, compiler="gcc")
            self.assertGreater(os.path.getsize(os.path.join(self.tree, "p.h.gch")), 1000)
        strict = ["-O2", "-Winvalid-pch", "-Werror"]
        for words in ["-include", "p.h", "u.c"], ["i.c"], ["-c", "-include", "p.h", "v.c"], ["-c", "w.c"], ["-include", "p.h", "u.c", "v.c"]:
            said = self.make("-H", *strict, *words, compiler="gcc").stderr
            self.assertRegex(said, "^! (./)?p.h.gch")
        os.unlink(os.path.join(self.tree, "p.h.gch"))
        if "clang" in COMPILERS:
            self.make("-x", "c-header", "p.h", "-o", "p.h.pch", compiler="clang")
            self.make("-include", "p.h", "u.c", compiler="clang")
            self.make("-include-pch", "p.h.pch", "-c", "v.c", compiler="clang")

    def test_included(self):
        """Directives, lists of units and pragmas in included files: the source is preprocessed by itself."""
        os.mkdir(os.path.join(self.tree, "inc"))
        self.write("inc/loop.h", "#pragma omp teams distribute num_teams(2:CPU:1)\n")
        self.write("inc/list.h", "#define UNITS 2:CPU:1\n")
        self.write("inc/macro.h", '#define SHARED _Pragma("omp teams distribute num_teams(2:CPU:1)")\n')
        self.write("inc/all.h", '#include "loop.h"\n')
        self.write("inc/inline.h", '#include <omp_cu.h>\nstatic unsigned most(void) { unsigned n = 0;\n#pragma omp teams distribute num_teams(3:CPU:1) '
                   'reduction(max : n)\nfor (int i = 0; i < 9; i++) n = omp_get_num_cus();\nreturn n; }\n')
        head, loop = "#include <omp_cu.h>\nint main(void) {\nint n = 0, *p = &n;\n", "for (int i = 0; i < 9; i++) if (omp_get_num_cus() == 2) *p = 2;\nreturn n != 2; }\n"
        for number, (text, words) in enumerate(((head + '#include "inc/loop.h"\n' + loop, []), (head + "#include <all.h>\n" + loop, ["-Iinc"]),
                                                ('#include "list.h"\n' + head + "#pragma omp teams distribute num_teams(UNITS)\n" + loop, ["-iquote", "inc"]),
                                                (head + "SHARED\n" + loop, ["-include", "inc/macro.h"]),
                                                ('#include "inc/inline.h"\nint main(void) { return most() != 3; }\n', []))):
            self.write("s.c", text)
            for compiler in COMPILERS[number % len(COMPILERS):][:1]:
                with self.subTest(number=number, compiler=compiler):
                    self.make("-w", *words, "s.c", compiler=compiler)
                    self.fine(run([os.path.join(self.tree, "a.out")]))

        self.write("s.c", head + "#include <loop.h>\n" + loop)
        inc = {"CPATH": os.path.join(self.tree, "inc")}
        said = self.cc(COMPILERS[0], "-c", "s.c", cwd=self.tree, env=inc)
        self.assertIn("loop.h:1:1: note: this directive of an included file is read with the option --preprocessed\n", said.stderr)
        self.make("-w", "--preprocessed", "s.c", env=inc)
        self.write("s.c", head + "n = ;\n" + loop)
        self.assertNotIn("note", self.cc(COMPILERS[0], "-c", "s.c", cwd=self.tree).stderr)

    def test_as_a_compiler(self):
        """What builds ask of a compiler: standard input, many files, questions, formats of messages."""
        self.write("u.c", "#include <stdio.h>\n" + TEAMS_C)
        self.write("two.c", "int two;\n")
        text = self.read("u.c")
        for compiler in COMPILERS:
            for words in ["-x", "c", "-"], ["-O", "-pipe", "-xc", "-", "two.c", "-o", "a.out"]:
                self.make(*words, compiler=compiler, input=text)
                self.assertEqual(self.output(), "3\n")
            self.make("-c", "-x", "c", "-", "-o", "plain.o", compiler=compiler, input="int plain;\n")
            self.make("-S", "-o", "-", "u.c", compiler=compiler)
            self.assertIn("__OPTIMIZE__", self.make("-O2", "-dM", "-E", "-x", "c", "-", compiler=compiler, input="").stdout)
            self.assertIn("<stdin>:2:46: error", self.cc(compiler, "-xc", "-", cwd=self.tree, input=MAIN.split("int sum")[0].replace('#include "part.h"', "")
                                                         .replace("#include <stdio.h>\nint main(void) {\n", "")
                                                         + "#pragma omp teams distribute num_teams(2:CPUS:1)\n").stderr)
            for question in ["-print-file-name=libc.so", "u.c"], ["-dumpmachine"], ["--version"], ["-print-search-dirs"], ["-v"], ["-dumpversion", "u.c"]:
                asked = run([compiler, *question], cwd=self.tree)
                got = self.cc(compiler, *question, cwd=self.tree)
                self.assertEqual((got.stdout, got.returncode), (asked.stdout, asked.returncode), question)
            self.assertNotEqual(self.cc(compiler, "-c", "u.c", "two.c", "-o", "x.o", cwd=self.tree).returncode, 0)
            self.assertFalse(os.path.exists(os.path.join(self.tree, "x.o")))
            self.assertIn("-o at the end of the line", self.cc(compiler, "u.c", "-o", cwd=self.tree).stderr)
            self.make("-###", "-c", "u.c", compiler=compiler)
        self.write("wrong.c", 'void f(void) {\n#pragma omp teams distribute num_teams(2:CPUS:1)\nfor (int i = 0; i < 9; i++) ;\n}\n')
        said = json.loads(self.cc("gcc", "-fdiagnostics-format=json", "-c", "wrong.c", cwd=self.tree).stderr)
        self.assertEqual((said[0]["kind"], said[0]["locations"][0]["caret"]["line"], said[0]["message"]),
                         ("error", 2, 'num_teams: unknown family "CPUS", expected CPU, GPU or FPGA'))

    def test_preprocessed(self):
        """What -E gives, or another's, is compiled, as distcc and some of ccache's modes have it."""
        cxx, env = os.path.join(os.path.dirname(common.COMMAND), "evener-c++"), {"EVENER_CC": COMPILERS[-1]}
        self.write("u.c", "#include <omp_cu.h>\n#include <stdio.h>\n" + TEAMS_C.replace("a[i] = i", "a[i] = (int)omp_get_num_cus() + 1"))
        self.write("u.cpp", self.read("u.c").replace("int a[4];", "int a[4];\ntry {\n").replace("= (int)", "= i > 5 ? throw 1 : (int)")
                   .replace("printf", "throw 2;\n} catch (int x) { a[0] = x; }\nprintf"))
        for command, source, cooked, language in (common.COMMAND, "u.c", "u.i", "cpp-output"), (cxx, "u.cpp", "u.ii", "c++-cpp-output"):
            self.fine(run([command, "-E", source, "-o", cooked], cwd=self.tree, env=env))
            self.fine(run([command, "-c", cooked], cwd=self.tree, env=env))
            self.fine(run([command, "u.o"], cwd=self.tree, env=env))
            self.assertEqual(self.output(), "3\n")
            self.fine(run([command, "-x", language, "-"], cwd=self.tree, env=env, input=self.read(cooked)))
            self.assertEqual(self.output(), "3\n")
        self.write("p.c", "int n;\nint printf(const char *, ...);\n" + TEAMS_C)
        self.fine(run([COMPILERS[0], "-E", "p.c", "-o", "p.i"], cwd=self.tree))
        self.make("p.i")
        self.assertEqual(self.output(), "3\n")

    @unittest.skipUnless(shutil.which("g++"), "no g++")
    def test_languages_at_once(self):
        """C and C++ in one program with link-time optimisation, which makes cleanups of C++ C's: the archive has no group that would take their name."""
        self.write("c.c", "int c(void) {\nint n = 0;\n#pragma omp teams distribute num_teams(2:CPU:1) reduction(+ : n)\nfor (int i = 0; i < 3; i++) n++;\nreturn n;\n}\n")
        self.write("m.cpp", '#include <vector>\nextern "C" int c(void);\nint main() { std::vector<int> v(5); return c() + (int)v.size() != 8; }\n')
        self.make("-flto", "-c", "c.c", compiler="gcc")
        cxx = os.path.join(os.path.dirname(common.COMMAND), "evener-c++")
        self.fine(run([cxx, "-O1", "-flto", "m.cpp", "c.o", "-o", "m"], cwd=self.tree, env={"EVENER_CC": "gcc"}))
        self.fine(run([os.path.join(self.tree, "m")]))

    @unittest.skipUnless(shutil.which("cmake"), "no cmake")
    def test_ipo(self):
        """CMake finds archivers that know the compiler's objects."""
        self.write("CMakeLists.txt", "cmake_minimum_required(VERSION 3.16)\nproject(p C)\ninclude(CheckIPOSupported)\n"
                   "check_ipo_supported(RESULT r OUTPUT o LANGUAGES C)\nif(NOT r)\nmessage(FATAL_ERROR ${o})\nendif()\n")
        self.fine(run(["cmake", "-S", self.tree, "-B", os.path.join(self.tree, "b"), f"-DCMAKE_C_COMPILER={common.COMMAND}"], env={"EVENER_CC": "gcc"}))
        for tool in "gcc-ar", "gcc-nm", "gcc-ranlib":
            got = self.fine(run([os.path.join(os.path.dirname(common.COMMAND), "evener-" + tool), "--version"], env={"EVENER_CC": "gcc"}))
            self.assertEqual(got.stdout, run([tool, "--version"]).stdout)

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
