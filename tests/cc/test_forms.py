#!/usr/bin/env python3
"""Programs with directives compute what plain C computes: tests/cc/forms, both compilers, both ways of rewriting.

Run: ctest -R cc-forms, or tests/cc/test_forms.py build/evener-cc [test ..]     EVENER_TEST_LONG=1: each file by each compiler in each mode
"""
import glob
import os
import re
import unittest
import common
from common import Case, COMPILERS, HERE, SOURCE, run

STRICT = ["-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Wpedantic", "-Wshadow", "-Wredundant-decls",
          "-Wnested-externs", "-Werror"]


LONG = os.environ.get("EVENER_TEST_LONG")
UNITS = ("", "1:CPU:1", "3:CPU:2", "2:CPU:1,1:GPU:2")  # "": what the program says


class Forms(Case):
    def outputs(self, name, options, compilers=COMPILERS, turn=0):
        """Two files one after the other have both modes of each compiler."""
        base = os.path.join(self.folder, os.path.basename(name)[:-2])
        for at, compiler in enumerate(compilers):
            self.fine(run([compiler, "-Wno-unknown-pragmas", "-w", name, "-o", base + "_plain"]))
            expected = self.fine(run([base + "_plain"])).stdout
            self.assertTrue(expected)
            modes = [], ["--preprocessed"]
            for mode in modes if LONG else [modes[(at + turn) % 2]]:
                self.fine(self.cc(compiler, *mode, *options, name, "-o", base))
                for units in UNITS:
                    got = self.fine(run([base], env={"EVENER_UNITS": units})).stdout
                    self.assertEqual(got, expected, (name, compiler, mode, units))

    def test_all(self):
        """With warnings as errors: what is generated has none."""
        files = sorted(glob.glob(os.path.join(HERE, "forms", "*.c")))
        self.assertEqual(len(files), 9)
        for turn, name in enumerate(files):
            with self.subTest(file=os.path.basename(name)):
                self.outputs(name, STRICT, turn=turn)

    @unittest.skipUnless(LONG, "in cc-forms-long")
    def test_optimised(self):
        self.outputs(os.path.join(HERE, "forms", "loops.c"), ["-O3", "-std=gnu17"])
        self.outputs(os.path.join(HERE, "forms", "teams.c"), ["-O2", "-flto"], compilers=["gcc"])

    def test_weights_that_run_directives(self):
        """The memory of weights is the directive's own while their expression runs others: seen by the sanitizer of the compiler."""
        name = os.path.join(self.folder, "weights")
        source = os.path.join(HERE, "forms", "bounds.c")
        if run([COMPILERS[0], "-w", "-fsanitize=address", source, "-o", name]).returncode:
            self.skipTest("no address sanitizer")
        self.fine(self.cc(COMPILERS[0], "-g", "-fsanitize=address", source, "-o", name))
        self.fine(run([name], env={"EVENER_UNITS": "1:CPU:1", "ASAN_OPTIONS": "detect_leaks=0"}))

    def test_fpgas(self):
        """Units of FPGAs, the third class of the paper, behind those of cores: emulated devices."""
        name = self.write("fpga.c", '#include <omp_cu.h>\n#include <stdio.h>\nint main(void) {\n    int on = 0;\n'
                                    "#pragma omp teams distribute num_teams(1:FPGA:1, 1:CPU:1) dist_schedule(static, 1) reduction(+ : on)\n"
                                    '    for (int i = 0; i < 6; i++) on += omp_is_gpu() && omp_get_cu_num() == 1;\n    printf("%d\\n", on);\n}\n')
        for compiler in COMPILERS:
            self.fine(self.cc(compiler, name, "-o", name[:-2]))
            self.assertEqual(self.fine(run([name[:-2]])).stdout, "3\n")
            self.assertEqual(self.fine(run([name[:-2]], env={"EVENER_UNITS": "2:CPU:1"})).stdout, "0\n")

    def test_spellings(self):
        """What C allows and few write: digraphs, names in any script, a zero byte in a comment, a literal of a type as the body's end."""
        name = os.path.join(self.folder, "spelt.c")
        text = ("\ufeff%:include <stdio.h>\nstruct s <% int a; %>;\nstatic int x<:20:>; /* nul: \0 <% here */\n"
                "int main(void) <%\n  int \u00e9t\u00e9 = 3, \u03b2 = 0;\n"
                "%:pragma omp teams distribute num_teams(2:CPU:1) firstprivate(\u00e9t\u00e9) lastprivate(\u03b2)\n"
                "  for (int \u03b1 = 0; \u03b1 < 10; \u03b1++) <% x<:\u03b1:> = \u03b1 + \u00e9t\u00e9; \u03b2 = \u03b1; %>\n"
                "%:pragma omp teams distribute num_teams(2:CPU:1)\n  for (int i = 0; i < 10; i++)\n    x[i] += (struct s){i}.a;\n"
                "%:pragma omp teams distribute num_teams(2:CPU:1)\n  for (int i = 0; i < 10; i++)\n    x[i] += *(int[]){1};\n"
                '  for (int i = 0; i < 10; i++) printf("%d <%%%d ", x[i], \u03b2);\n  return 0;\n%>\n')
        self.write(name, text)
        expected = "".join(f"{2 * i + 4} <%9 " for i in range(10))
        for compiler in COMPILERS:
            for mode in ([], ["--preprocessed"]):
                with self.subTest(compiler=compiler, mode=mode):
                    self.fine(self.cc(compiler, *mode, "-w", name, "-o", name[:-2]))
                    self.assertEqual(self.fine(run([name[:-2]])).stdout, expected)

    def test_words(self):
        """Each word of generated text is reserved or a keyword; each of the header's may be the program's macro, on the command line and
        in the file; keywords may be, where the program's own text is right with them."""
        name = os.path.join(self.folder, "words.c")
        directives = ("#pragma omp teams distribute num_teams(2:CPU:1, n:CPU:1) dist_schedule(dynamic, 2) reduction(+ : s) reduction(max : m)"
                      " lastprivate(l) weight(w) collapse(2) thread_limit(n) speed(CPU: w)\nfor (int i = 0; i < n; i++)\n"
                      "for (int k = n; k > 0; k -= 2) s += k, l = i, m = i > m ? i : m;\n"
                      "#pragma omp teams num_teams(1:CPU:1) reduction(+ : s, a[1 : 2])\n{\n#pragma omp distribute\nfor (int i = 0; i < n; i++) ;\ns += 1, a[1]++;\n}\n"
                      "#pragma omp teams distribute num_teams(1:CPU:1) key(k)\nfor (int k = 0; k < n; k++) ;\n"
                      "#pragma omp teams distribute num_teams(1:CPU:1) affinity(n, k)\nfor (int k = 0; k < n; k++) ;\n")
        text = "int evn_shared_is_here(int a, int i) { return a > i; }\nint main(void) {\nint n = 4, s = 0, m = 0, l = 0, a[3] = {0};\ndouble w = 1;\n" + directives + "return s * 100 + m * 10 + l != 2533;\n}\n"
        self.write(name, text)
        made = self.fine(self.cc(COMPILERS[0], "--source", name)).stdout
        self.assertEqual(common.words_of_text(made, text), {"parallel", "firstprivate"})  # which are put aside
        words = sorted(common.words_of_headers("cu_prelude.h") - common.KEYWORDS - set(re.findall(r"\w+", text)))
        self.assertGreater(len(words), 30)
        self.write(name, "".join(f"#define {w} @\n" for w in words + ["unused", "volatile", "type", "is"]) + text)
        for compiler in COMPILERS:
            for more in [f"-D{w}=@" for w in words], ["-Dlong=int", "-Dextern=@", "-Dstatic=", "-Dtypedef=@", "-Dstruct=@", "-Denum=@", "-Dchar=@"], \
                    ["-Dfor=for", "-Dprivate=@", "-Dfirstprivate=@", "-Dgoto=@", "-Dunsigned=@", "-Dsizeof=@", "-Dconst=@", "-Dif=@"]:
                with self.subTest(compiler=compiler, more=more):
                    self.fine(self.cc(compiler, *more, name, "-o", name[:-2]))
                    self.fine(run([name[:-2]]))
        self.write("header.h", "#define static\n#define private public\n#define firstprivate @\n#define parallel @\n#define double float\n")
        self.write(name, '#include "header.h"\n' + text)
        for compiler in COMPILERS:
            self.fine(self.cc(compiler, name, "-o", name[:-2]))
            self.fine(run([name[:-2]]))

    def test_hidden(self):
        """Bodies whose ends macros and branches hide: what is behind the loop stays there. Each is a file, as one has all preprocessed."""
        head = ("#include <stdio.h>\n#define IF if (x[0] < 5)\n#define FOREVER for (;;)\n#define LOCKED\nint main(void) {\nint x[9] = {0}, y = 0;\n"
                "#pragma omp teams distribute num_teams(2:CPU:1)\nfor (int i = 0; i < 9; i++) ")
        tail = '\nfor (int i = 0; i < 9; i++) printf("%d ", x[i]);\nprintf("%d\\n", y);\nreturn 0;\n}\n'
        name = os.path.join(self.folder, "hidden.c")
        for number, body in enumerate(("IF { x[i] += i; }\ny += 1;", "FOREVER { x[i] += i; if (x[i] > 3) break; x[i]++; }\n++y;",
                                       "if (i > 3) LOCKED { x[i] += i; } else x[i] = 2;\ny = 7;", "IF x[i] += i; else x[i] = 4;\ny++;",
                                       "if (i > 3) x[i] = 2;\n#ifndef NONE\nelse x[i] = 3;\n#endif\ny += 4;",
                                       "if (i > 3) x[i] = 2;\n#ifdef NONE\n{\n#else\nelse x[i] = 3;\n#endif\ny += 4;")):
            self.write(name, head + body + tail)
            self.fine(run([COMPILERS[0], "-w", name, "-o", name[:-2]]))
            expected = self.fine(run([name[:-2]])).stdout
            self.fine(self.cc(COMPILERS[number % len(COMPILERS)], "-w", name, "-o", name[:-2]))
            self.assertEqual(self.fine(run([name[:-2]])).stdout, expected, body)

    def test_heads_of_macros(self):
        """A macro of a system header in the head of a file that has to be preprocessed."""
        name = self.write("heads.c", "#include <stdint.h>\n#include <limits.h>\n#define UNITS 2:CPU:1\nint main(void) {\nint c = 0;\n"
                                     "#pragma omp teams distribute num_teams(UNITS) reduction(+ : c) weight(UCHAR_MAX)\n"
                                     "for (uint64_t i = SIZE_MAX / 2 - 5; i < SIZE_MAX / 2; i += UINT8_MAX / UINT8_MAX) c += UCHAR_MAX;\n"
                                     "return c != 5 * 255;\n}\n")
        for compiler in COMPILERS:
            self.fine(self.cc(compiler, name, "-o", name[:-2]))
            self.fine(run([name[:-2]]))

    def test_weights_without_schedule(self):
        """They mean auto, and so does runtime where the user says nothing; without weights it is static."""
        name = os.path.join(self.folder, "said.c")
        clauses = "weight(i + 1)", "dist_schedule(runtime)", "", "dist_schedule(static) weight(i + 1)"
        self.write(name, "#include <omp_cu.h>\n#include <stdio.h>\nint main(void) {\n" + "".join(
                  f"#pragma omp teams distribute num_teams(2:CPU:1) {clause}\nfor (int i = 0; i < 9; i++) ;\n"
                  f"puts(evn_schedule_text(evn_loop_schedule(evn_cu_loop(__FILE__, {4 + 3 * k}))));\n"
                  for k, clause in enumerate(clauses)) + "return 0; }\n")
        self.fine(self.cc(COMPILERS[0], name, "-o", name[:-2]))
        kinds = [line.split(":")[0] for line in self.fine(run([name[:-2]])).stdout.split()]
        self.assertEqual(kinds, ["auto", "auto", "static", "static"])
        kinds = self.fine(run([name[:-2]], env={"EVENER_SCHEDULE": "dynamic"})).stdout.split()
        self.assertTrue(kinds[1].startswith("dynamic"), kinds)

    def test_units_of_a_core(self):
        """num_teams(auto): a core each where the file has no inner region, and then for all of the program; else as the machine is."""
        ask = 'puts(evn_units_text(evn_cu_units()));\n'
        loop = "#pragma omp teams distribute num_teams(auto)\nfor (int i = 0; i < 9; i++) "
        flat = os.path.join(self.folder, "flat.c")
        inner = os.path.join(self.folder, "inner.c")
        self.write(flat, "#include <omp_cu.h>\n#include <stdio.h>\nvoid other(void);\nint main(int n, char **word) {\n(void)word;\n"
                         "if (n > 1) other();\n" + loop + ";\n" + ask + "other();\nreturn 0; }\n")
        self.write(inner, "#include <omp_cu.h>\n#include <stdio.h>\nvoid other(void) {\nint sum = 0;\n" + loop + "{\n#pragma omp parallel\n"
                          "{\n#pragma omp atomic\nsum++;\n}\n}\n" + ask + "}\n")
        for compiler in COMPILERS:
            for mode in ([], ["--preprocessed"]):
                self.fine(self.cc(compiler, *mode, flat, inner, "-o", flat[:-2]))
                env = {"EVENER_DEVICES": "", "EVENER_OVERSUBSCRIBE": ""}
                first = self.fine(run([flat[:-2]], env=env)).stdout.split()
                self.assertRegex(first[0], r"^\d+:CPU:1(,\d+:GPU:1)?$")
                self.assertEqual(first, [first[0]] * 2)
                then = self.fine(run([flat[:-2], "then"], env=env)).stdout.split()
                self.assertEqual(then[1:], first)
                self.assertEqual(sum(int(g.split(":")[0]) * int(g.split(":")[2]) for g in then[0].split(",") if "CPU" in g),
                                 int(first[0].split(":")[0]), then)
        for line in ("#pragma omp taskloop", "int n = omp_get_max_threads();", "#pragma omp target teams distribute parallel for"):
            self.write(inner, "#include <omp.h>\nvoid f(int *x) {\n" + line + "\nfor (int k = 0; k < 3; k++) x[k] = k;\n" + loop + "x[i] = 0;\n}\n")
            for mode in ([], ["--preprocessed"]):
                self.assertNotIn("0, EVN_CU_AUTO_CORES", self.fine(self.cc(COMPILERS[0], *mode, "--source", inner)).stdout)

    def test_last_values(self):
        """A variable that cannot hold its last value: in C the loop would not end, here it is refused."""
        name = os.path.join(self.folder, "last.c")
        for head, said in (("unsigned char i = 0; i < n + 299; i++", "from 0 to 300 by 1 has a variable whose type cannot hold"),
                           ("signed char i = 0; i > n - 300; i--", "from 0 to -299 by -1 has a variable whose type cannot hold"),
                           ("unsigned long long i = 1ull << 63; i > 0; i--", "from 9223372036854775808 to 0 by -1 has more than")):
            self.write(name, "int main(int n, char **word) {\n(void)word;\n#pragma omp teams distribute num_teams(1:CPU:1)\n"
                             f"for ({head}) ;\n}}\n")
            self.fine(self.cc(COMPILERS[0], name, "-o", name[:-2]))
            result = run([name[:-2]])
            self.assertEqual(result.returncode, 1)
            self.assertIn(f"{name}:3: the loop {said}", result.stderr)

    def test_what_is_told(self):
        """Units, CPU first; limit, options and speeds, as the run-time gets them."""
        name = os.path.join(self.folder, "told.c")
        tell = ('printf("%s %s", evn_units_text(evn_cu_units()), evn_schedule_text(evn_loop_schedule(evn_cu_loop(__FILE__, LINE))));\n'
                'for (int i = 0; i < 34; i++) printf("%c%d", i ? \',\' : \' \', evn_loop_owner(evn_cu_loop(__FILE__, LINE))[i]);\n'
                'puts("");\n')
        self.write(name, "#include <omp_cu.h>\n#include <stdio.h>\nint main(void) { int n = 3;\n"
                         "#pragma omp teams distribute num_teams(n > 2 ? 2 : 1 : GPU : 1, 2::CPU::n+1) "
                         "thread_limit(n - 1) dist_schedule(weighted : size) speed(CPU: 1, GPU: 2.5 * n)\n"
                         "for (int i = 0; i < 34; i++) ;\n" + tell.replace("LINE", "4") +
                         "#pragma omp teams loop num_teams(1:CPU:2, 1:GPU:1) dist_schedule(dynamic, 4, memorize = n * 2)\n"
                         "for (int i = 0; i < n * 11 + 1; i++) ;\n" + tell.replace("LINE", "9") +
                         "#pragma omp teams distribute num_teams(1:CPU:2, 1:GPU:1) dist_schedule(auto) weight(i + 1)\n"
                         "for (int i = 0; i < 34; i++) ;\n" + tell.replace("LINE", "14") + "return 0; }\n")
        self.fine(self.cc(COMPILERS[0], name, "-o", name[:-2]))
        lines = self.fine(run([name[:-2]])).stdout.splitlines()
        self.assertEqual(lines[0], "2:CPU:2,2:GPU:1 weighted:size " + ",".join("0011" + "2" * 15 + "3" * 15))
        self.assertTrue(lines[1].startswith("1:CPU:2,1:GPU:1 dynamic:chunk=4,memorize=6 "), lines)
        self.assertTrue(lines[2].startswith("1:CPU:2,1:GPU:1 auto "), lines)

    def test_hidden_ends(self):
        """What leaves the loop in a macro of a header: the compiler sees it, with and without optimisation, in the loop's line."""
        name = os.path.join(self.folder, "stop.c")
        for word, what in ("break", "break leaves the loop over compute units; "), ("return 0", ""), ("goto out", ""):
            self.write("stop.h", f"#define STOP {word}\n#define STOP_IF(x) do {{ if (x) break; }} while (0)\n")
            self.write(name, '#include "stop.h"\nint main(int n, char **word) { (void)word;\n'
                             "#pragma omp teams distribute num_teams(1:CPU:1) default(none) shared(n)\n"
                             "for (int i = 0; i < 3; i++) { STOP_IF(i); if (i == n) STOP; }\n"
                             "goto out;\nout: return 0; }\n")
            for compiler in COMPILERS:
                for option in "-O0", "-O3":
                    with self.subTest(word=word, compiler=compiler, option=option):
                        result = self.cc(compiler, option, "-c", name, "-o", name + ".o")
                        self.assertEqual(result.returncode, 1)
                        said = [line for line in result.stderr.splitlines() if ": error: " in line]
                        self.assertEqual(len(said), 1, result.stderr)
                        self.assertIn(what, said[0])
                        self.assertIn("\n" + name + ":4:", "\n" + result.stderr)
            if word == "break":
                result = self.cc(COMPILERS[0], "--preprocessed", "-c", name, "-o", name + ".o")
                self.assertEqual(result.returncode, 1)
                self.assertRegex(result.stderr, r"stop.c:4:\d+: error: break leaves")
                # a compiler without the attribute: when it is met
                self.fine(self.cc(COMPILERS[0], "-w", "-D__has_attribute(word)=0", name, "-o", name[:-2]))
                result = run([name[:-2]])
                self.assertEqual((result.returncode, result.stderr), (1, name + ":3: break leaves the loop over compute units\n"))

    def test_variant(self):
        """declare variant: the other function on GPU units, and nowhere else."""
        name = self.write("variant.c", "#include <stdio.h>\nstatic int pick_gpu(const int *x, int (*u)[3]) { return 100 + *x + u[0][1]; }\n"
                                       "#pragma omp declare variant(pick_gpu) match(device={kind(gpu)})\n"
                                       "static int pick(const int *x, int (*u)[3]) { return *x + u[0][1]; }\n"
                                       "int main(void) { int sum = 0, u[1][3] = {{0, 1, 0}};\n"
                                       "#pragma omp teams distribute num_teams(1:CPU:1) reduction(+: sum)\n"
                                       "for (int i = 0; i < 10; i++) sum += pick(&i, u);\n"
                                       'printf("%d %d\\n", sum, pick(&sum, u)); return 0; }\n')
        for compiler in COMPILERS:
            for mode in ([], ["--preprocessed"]):
                self.fine(self.cc(compiler, *mode, name, "-o", name[:-2]))
                for units, sum_ in ("1:CPU:1", 55), ("1:GPU:1", 1055), ("1:CPU:1,1:GPU:1", 555):
                    got = self.fine(run([name[:-2]], env={"EVENER_UNITS": units})).stdout
                    self.assertEqual(got, f"{sum_} {sum_ + 1}\n", (compiler, mode, units))

    def test_limit(self):
        """A limit that is known only when the program runs."""
        name = self.write("limit.c", "int main(int n, char **word) {\n(void)word;\n"
                                     "#pragma omp teams distribute num_teams(1:CPU:2) thread_limit(n - 1)\n"
                                     "for (int i = 0; i < 3; i++) ;\n}\n")
        self.fine(self.cc(COMPILERS[0], name, "-o", name[:-2]))
        self.fine(run([name[:-2], "1"]))
        result = run([name[:-2]])
        self.assertEqual((result.returncode, result.stderr), (1, f"{name}:3: thread_limit: expected 1 thread or more\n"))

    def test_list_elsewhere(self):
        """A list of units that is a macro of this file, of a header or of the command line."""
        name, header = os.path.join(self.folder, "list.c"), os.path.join(self.folder, "list.h")
        text = ("{}int main(void) {{ int n = 0;\n#pragma omp teams distribute num_teams(ALL_UNITS) reduction(+: n)\n"
                "for (int i = 0; i < 20; i++) n++;\nreturn n != 20; }}\n")
        self.write(header, "#define ALL_UNITS 2:CPU:1, 1:CPU:2\n")
        for compiler in COMPILERS:
            for first, option, units in (('#include "list.h"\n', "-DNONE", 3), ("#define ALL_UNITS 1:CPU:1\n", "-DNONE", 1),
                                         ("\n", "-DALL_UNITS=2:CPU:1", 2), ("\n", "-DALL_UNITS=4", 0)):
                with self.subTest(compiler=compiler, first=first, option=option):
                    self.write(name, text.format(first))
                    self.fine(self.cc(compiler, option, "-c", name, "-o", name + ".o"))
                    self.fine(self.cc(compiler, name + ".o", "-o", name[:-2]))
                    said = self.fine(run([name[:-2]], env={"EVENER_REPORT": "1"})).stderr
                    self.assertRegex(said, r"list\.c:3: 1 instances, \S+ s; units( \S+){%d} s, " % units if units else "^$")

    def test_not_ours(self):
        """Directives of others, and those near ours, pass untouched."""
        name = os.path.join(self.folder, "not_ours.c")
        text = ("void f(int n) {\n#pragma omp teams num_teams(4)\n{\n#pragma omp distribute\n  for (int i = 0; i < n; i++) ;\n}\n"
                "#pragma omp teams distribute num_teams(2:4)\nfor (int i = 0; i < n; i++) ;\n"
                "#pragma omp teams distribute num_teams(n > 1 ? 2 : 3)\nfor (int i = 0; i < n; i++) ;\n"
                "#pragma omp target teams\n#pragma omp distribute parallel for\nfor (int i = 0; i < n; i++) ;\n"
                "#pragma omp parallel for\nfor (int i = 0; i < n; i++) ;\n#pragma omp loop bind(parallel)\n"
                "for (int i = 0; i < n; i++) ;\n}\n#pragma omp declare target\nvoid g(int n) {\n#pragma omp distribute\n"
                "for (int i = 0; i < n; i++) ;\n}\n#pragma omp end declare target\n"
                "#pragma omp declare variant(g) match(construct={parallel})\nvoid h(int n);\n")
        self.write(name, text)
        self.assertEqual(self.fine(self.cc(COMPILERS[0], "--source", name)).stdout, text)

    def test_unchanged(self):
        """Every C file of this project."""
        names = [os.path.join(folder, name) for top in ("src", "cc", "suite", "examples", "tests", "include")
                 for folder, _, files in os.walk(os.path.join(SOURCE, top)) for name in files
                 if name.endswith((".c", ".h")) and os.path.join("tests", "cc") not in folder and name != "mpi.c"]
        self.assertGreater(len(names), 300)
        for name in names:
            result = self.fine(self.cc(COMPILERS[0], "-x", "c", "--source", name))
            self.assertEqual(result.stderr, "")
            with open(name) as file:
                text = file.read()
            if not re.search(r"#\s*pragma omp (teams|distribute)", text):
                self.assertEqual(result.stdout, text, name)
