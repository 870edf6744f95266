#!/usr/bin/env python3
"""evener-c++: directives in C++ give what a compiler gives that does not see them, on any units; exceptions reach the caller of the
directive; what is wrong is said with the line of the source. Random programs: tests/cc/fuzz.py --cxx.

Run: ctest -R cc-cxx, or tests/cc/test_cxx.py build/evener-cc [test ..]     EVENER_TEST_LONG=1: every compiler in every mode and standard
"""
import os
import re
import shutil
import common
from common import Case, HERE, run

LONG = os.environ.get("EVENER_TEST_LONG")
CXX = [c for c in ("g++", "clang++") if shutil.which(c)]
WAYS = [(c, m, s) for c in CXX for m in ((), ("--preprocessed",)) for s in ("17", "20")]
TURN = {"forms.cpp": (CXX[0], (), "17"), "scopes.cpp": (CXX[-1], ("--preprocessed",), "20"), "exceptions.cpp": (CXX[-1], (), "17"),
        "kernels.cpp": (CXX[0], ("--preprocessed",), "20")}
UNITS = ("", "1:CPU:1", "3:CPU:2", "2:CPU:1,1:GPU:1")


def as_cxx():
    return os.path.join(os.path.dirname(common.COMMAND), "evener-c++")


class Cxx(Case):
    def build(self, text, *words, compiler=CXX[0], command=None, name="a.cpp"):
        """Compiles a text; the result of the command."""
        self.write(name, text)
        return run([command or as_cxx(), *words, "a.cpp" if name == "a.cpp" else name, "-o", "a"], cwd=self.folder,
                   env={"EVENER_CXX": compiler})

    def same_everywhere(self, name, *words):
        source = os.path.join(HERE, "cxx", name)
        plain = os.path.join(self.folder, "plain")
        self.fine(run([CXX[0], "-std=c++17", "-w", "-I", common.INCLUDE, source, "-o", plain]))
        expected = self.fine(run([plain])).stdout
        for compiler, mode, standard in WAYS if LONG else [TURN[name]]:
            out = os.path.join(self.folder, "out")
            made = self.fine(run([as_cxx(), *words, *mode, f"-std=c++{standard}", "-O1", "-Wall", "-Wextra", "-Wconversion", "-Werror",
                                  "-Wno-sign-conversion", source, "-o", out], env={"EVENER_CXX": compiler}))
            self.assertEqual(made.stderr, "", (compiler, mode, standard))
            for units in UNITS:
                done = self.fine(run(["timeout", "60", out], env={"EVENER_UNITS": units}))
                self.assertEqual(done.stdout, expected, (compiler, mode, standard, units))

    def test_forms(self):
        """Templates, members, lambdas, iterators, range-for, raw strings, try blocks."""
        self.same_everywhere("forms.cpp")

    def test_scopes(self):
        """Heads, bodies without braces, names of namespaces and templates in clauses."""
        self.same_everywhere("scopes.cpp")

    def test_words(self):
        """As in C (test_forms.py); and each standard of C++."""
        text = ("struct it { int *p; };\nint main() {\nint n = 4, s = 0, m = 0, l = 0, a[4] = {1, 2, 3, 4};\n"
                "#pragma omp teams distribute num_teams(2:CPU:1) dist_schedule(dynamic, 2) reduction(+ : s) reduction(max : m) lastprivate(l) weight(n)\n"
                "for (int i = 0; i < n; i++) s += i, l = i, m = i > m ? i : m;\n"
                "#pragma omp teams distribute num_teams(2:CPU:1)\nfor (int &x : a) x += 1;\n"
                "#pragma omp teams distribute num_teams(2:CPU:1)\nfor (auto x = a; x < a + 4; ++x) *x += 1;\n"
                "try {\n#pragma omp teams distribute num_teams(2:CPU:1)\nfor (int i = 0; i < n; i++) if (i == 2) throw 7;\n} catch (int x) { s += x; }\n"
                "return s * 100 + m * 10 + l + a[3] != 1339;\n}\n")
        made = self.fine(self.build(text, "--source")).stdout
        self.assertEqual(common.words_of_text(made, text), {"parallel", "firstprivate"})  # which are put aside
        words = sorted(common.words_of_headers("cu_prelude.h", "cu_cxx.h", "cu_exceptions.h") - common.KEYWORDS - set(re.findall(r"\w+", text)))
        std = {"std", "exception", "what", "exception_ptr", "current_exception", "rethrow_exception"}
        for compiler in CXX:
            for more in [f"-D{w}=@" for w in words if w not in std], ["-Dlong=int", "-Dextern=@", "-Dstatic=", "-Dtemplate=@", "-Dtypename=@", "-Dinline="]:
                if not LONG and (compiler == CXX[0]) == ("-Dlong=int" in more):
                    continue  # one of the two lists by each compiler
                defines = "".join(f"#define {w} @\n" for w in words + ["unused", "volatile"]) if "-Dlong=int" not in more else ""
                self.fine(self.build(defines + text, *more, compiler=compiler))
                self.fine(run([os.path.join(self.folder, "a")]))
            for standard in ("11", "14", "17", "20", "2b") if LONG or compiler == CXX[0] else ("11",):
                header = "#include <omp_cu.h>\n" if standard in ("11", "2b") else ""
                self.fine(self.build(header + text, "-Wall", "-Werror", "-Wno-unused-function", f"-std=c++{standard}", "-fsyntax-only", compiler=compiler))

    def test_exceptions(self):
        """They reach the caller of the directive, from loops, orphans and teams blocks."""
        self.same_everywhere("exceptions.cpp")

    def test_left_teams(self):
        """One that leaves a teams block on one unit would have the others wait: the program ends with a line."""
        self.fine(self.build('#include <stdexcept>\n#include "omp_cu.h"\nint main() {\n#pragma omp teams num_teams(2:CPU:1)\n{\n'
                             'if (omp_get_cu_num() == 1) throw std::runtime_error("no ink");\n#pragma omp distribute\n'
                             'for (int i = 0; i < 4; i++) {}\n}\n}\n'))
        done = run(["timeout", "60", os.path.join(self.folder, "a")])
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"\Aa\.cpp:\d+: an exception \(no ink\) has left a teams block on unit 1, .*\n\Z")

    def test_messages(self):
        """What is wrong, in the line of the source."""
        head = "#include <list>\n#include <vector>\nint main() {\nstd::list<int> l;\nstd::vector<double> v(3);\nint n = 4; double x = 0;\n"
        loop = "#pragma omp teams distribute num_teams(2:CPU:1)"
        for directive, text, line, said in (
                (loop, "for (int i = 0; i != n; i += 2) {}", 8, "behind != the loop's third part must be variable++ or variable--"),
                (loop, "for (auto it = l.begin(); it != l.end(); ++it) {}", 8,
                 "the loop variable \"it\" is neither an integer nor an iterator of random access"),
                (loop, "for (int i : l) (void)i;", 8, "the range has no iterators of random access"),
                (loop, "for (double y = 0; y < n; y += 1) {}", 8, "the loop variable \"y\" is neither an integer"),
                (loop, "for (int i = 0; i < n; i++) if (i == 2) break;", 8, "break leaves the loop over compute units"),
                (loop, "for (auto it = v.begin(); it != v.end(); ++it) it++;", 8, "\"it\" is the variable of the loop over compute units"),
                (loop + " reduction(+ : v)", "for (int i = 0; i < n; i++) {}", 7, "reduction: \"v\" is no number"),
                (loop + " reduction(^ : x)", "for (int i = 0; i < n; i++) {}", 7, "reduction: \"x\" is no integer"),
                ("[[omp::directive(" + loop[12:] + ")]]", "for (int i = 0; i < n; i++) {}", 7, "compute units are not read from attributes"),
                (loop.replace("2:", "x:"), "for (int i = 0; i < n; i++) {}", 7, "num_teams: the number of units is no integer"),
                (loop + " batch(main)", "for (int i = 0; i < n; i++) {}", 7, "batch: expected a function void main("),
                (loop, "for (int i = 0; i < n; i++) undeclared(i);", 8, "undeclared"),
                (loop.replace("CPU", "CPUS"), "for (int i = 0; i < n; i++) {}", 7, "unknown family \"CPUS\"")):
            for compiler in CXX if LONG else [CXX[line * len(text) % len(CXX)]]:
                made = self.build(f"{head}{directive}\n{text}\n(void)x; (void)n;\n}}\n", compiler=compiler)
                self.assertNotEqual(made.returncode, 0, text)
                self.assertIn(said, made.stderr.replace('\\"', '"'), (compiler, text))
                self.assertRegex(made.stderr, rf"a\.cpp:{line}:", (compiler, text))

    def test_kernels(self):
        """Loops that are C in C++ clothes become kernels; an assertion that does not hold ends the program."""
        self.same_everywhere("kernels.cpp", "--kernels")
        text = ('#include "omp_cu.h"\n#include <cassert>\nstatic double u[9];\nint main() {\nomp_register(u, sizeof u);\n'
                "#pragma omp teams distribute num_teams(1:CPU:1)\nfor (int z = 0; z < 1; z++) {\n"
                "#pragma omp target teams distribute parallel for\nfor (int i = 0; i < 9; i++) {\nassert(i < 7);\nu[i] = i;\n}\n}\n}\n")
        self.fine(self.build(text, "--kernels"))
        for units in "1:CPU:1", "1:GPU:1":
            done = run([os.path.join(self.folder, "a")], env={"EVENER_UNITS": units})
            self.assertLess(done.returncode, 0)
            self.assertIn("i < 7", done.stderr)

    def test_no_kernels(self):
        """What is more than clothes is refused, in the line of the source."""
        head = ('#include "omp_cu.h"\n#include <algorithm>\n#include <cmath>\n#include <cstdlib>\n#include <vector>\nstruct pair { double a, b; }; struct made { double a = 7; }; struct kept { double a; kept &operator=(const kept &); };\n'
                "static double f(double x) { return x; }\nstatic float f(float x) { return x; }\nstatic void set(double &x) { x = 1; }\n"
                "namespace n { static double x = 1; }\ntemplate <class T> T same(T x) { return x; }\n"
                "void run(double *u, float *w, pair *p, std::vector<double> &v, int *k) {\n#pragma omp target teams distribute parallel for\n")
        tail = "(void)u; (void)w; (void)p; (void)v; (void)k; (void)f(1.0F); set(*u);\n}\nint main() { return (int)same(n::x - f(1.0)); }\n"
        line = head.count("\n") + 2
        for body, said in (("double &x = u[i];\nx = 1;", "a kernel's own variables are"), ("set(u[i]);", "parameters of functions that kernels call"),
                           ("u[i] = f(u[i]);", '"f" cannot be called'), ("w[i] = sqrt(w[i]);", "sqrt in a kernel is of double"),
                           ("k[i] = (int)abs(k[i] * 1L);", "abs in a kernel is of"),
                           ("u[i] = abs(u[i]);", "abs in a kernel is of int, std::abs of double, too"),
                           ("made m;\nu[i] = m.a;", "this is a type that kernels do not have"), ("kept m;\nu[i] = m.a;", "this is a type that kernels do not have"),
                           ("auto b = u[i] < 1;\nk[i] = b;", "auto: a kernel reads"), ("auto &b = u[i];\nb = 1;", "auto: a kernel reads"),
                           ("auto [x, y] = p[i];\nu[i] = x + y;", "auto: a kernel reads"), ("u[i] = v[i];", 'no declaration of "v" is found'),
                           ("u[i] = std::lerp(u[i], 1.0, 2.0);", "of namespaces a kernel has std::min"), ("u[i] = n::x;", "of namespaces a kernel has std::min"),
                           ("u[i] = 1'000;", "this number is of a type"),
                           ("u[i] = same(u[i]);", "cannot be called in a kernel|functions that kernels call return"),
                           ("u[i] = std::min(k[i]++, 2);", "std::min in a kernel is of two numbers"), ("k[i] = static_cast<long double>(u[i]);", "a kernel can convert to"),
                           ("throw 1;", "error"), ("u[i] = [](double x) { return x; }(u[i]);", "error"), ("for (double x : {1.0, 2.0}) u[i] += x;", "error"),
                           ("u[i] = *new double(1);", "error"), ("try { u[i] = 1; } catch (...) {}", "error")):
            made = self.build(f"{head}for (int i = 0; i < 9; i++) {{\n{body}\n}}\n{tail}", "--kernels", "-std=c++17")
            self.assertEqual(made.returncode, 1, body)
            self.assertRegex(made.stderr, rf"a\.cpp:{line}:|a\.cpp:{line + 1}:|a\.cpp:9:|a\.cpp:11:", (body, made.stderr))
            self.assertRegex(made.stderr, said, body)
        made = self.build(f"{head}for (float i = 0; i < 9; i++) {{\nu[i] = 1;\n}}\n{tail}", "--kernels", "-std=c++17")
        self.assertIn("expected for (int i = from; i < to; i++), with an integer of any size", made.stderr)

    def test_refused(self):
        """C++98."""
        text = "int main() {\n#pragma omp teams distribute num_teams(1:CPU:1)\nfor (int i = 0; i < 3; i++) {}\n}\n"
        made = self.build(text, "-std=c++98")
        self.assertEqual((made.returncode, made.stderr), (1, "a.cpp:1:1: error: compute units need C++11 or later\n"))

    def test_kernel_files(self):
        """A program with kernels by one command, whose standard of C++ is not C's: nothing is said, and it is right on a device."""
        examples = os.path.join(os.path.dirname(os.path.dirname(HERE)), "examples")
        made = self.fine(run([as_cxx(), "-std=c++17", "-O1", "-ffp-contract=off", *(os.path.join(examples, f) for f in ("wave.cpp", "wave.kernel.c")),
                              "-o", "wave"], cwd=self.folder))
        self.assertEqual(made.stderr, "")
        done = self.fine(run([os.path.join(self.folder, "wave")], env={"EVENER_UNITS": "1:CPU:1,1:GPU:1"}))
        self.assertEqual(done.stdout, "1:CPU:1,1:GPU:1: 0 values are wrong\n")

    def test_commands(self):
        """evener-cc takes C++, evener-c++ takes C for C++, objects are linked; without exceptions, with -c and -S, from a list of options."""
        text = ('#include <cstdio>\n#include <vector>\nint main() {\nstd::vector<int> v(5);\n#pragma omp teams distribute num_teams(2:CPU:1)\n'
                'for (int &x : v) x = __LINE__;\nstd::printf("%d %s\\n", v[4], __FILE__);\n}\n')
        for command, name, more in ((common.COMMAND, "a.cpp", []), (as_cxx(), "b.c", []), (as_cxx(), "a.cpp", ["-fno-exceptions"]),
                                    (common.COMMAND, "a.C", ["-O2", "-g"])):
            self.fine(self.build(text, *more, command=command, name=name))
            self.assertEqual(self.fine(run([os.path.join(self.folder, "a")])).stdout, f"6 {name}\n")
        self.fine(run([as_cxx(), "-c", "-MD", "a.cpp"], cwd=self.folder))
        with open(os.path.join(self.folder, "a.d")) as file:
            self.assertRegex(file.read(), r"\Aa\.o: (\\\n )?a\.cpp ")
        self.fine(run([as_cxx(), "a.o", "-o", "c"], cwd=self.folder))
        self.assertEqual(self.fine(run([os.path.join(self.folder, "c")])).stdout, "6 a.cpp\n")
        for c, cxx in ("clang-14", "clang++-14"), ("ccache gcc", "ccache g++"), ("/opt/mpicc.mpich", "/opt/mpicxx.mpich"), ("icx", "icx"):
            shown = self.fine(run([common.COMMAND, "--show", "a.cpp"], cwd=self.folder, env={"EVENER_CC": c})).stdout
            self.assertTrue(all(line.startswith(cxx + " ") for line in shown.splitlines()), (c, shown))
        shown = self.fine(run([common.COMMAND, "--show", "a.cpp"], cwd=self.folder, env={"EVENER_CXX": "mine++ -O7"})).stdout
        self.assertEqual([line.split()[:2] for line in shown.splitlines()], [["mine++", "-O7"]] * 2)
