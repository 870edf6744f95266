#!/usr/bin/env python3
"""What evener-cc says of wrong directives, and whose line the compiler names for wrong C.

Wrong programs are in tests/cc/wrong, as common.wrong() has them.
Run: ctest -R cc-messages, or tests/cc/test_messages.py build/evener-cc [test ..]
"""
import os
import common
from common import Case, COMPILERS, run

TEAMS = "#pragma omp teams distribute num_teams(2:CPU:1)"
# the @ is where the compiler's message belongs
WRONG_C = [
    f"{TEAMS} private(@nothing)\nfor (int z = 0; z < n; z++) n2 += z;",
    f"{TEAMS} reduction(+: @nothing)\nfor (int z = 0; z < n; z++) n2 += z;",
    f"#pragma omp teams distribute num_teams(@many:CPU:1)\nfor (int z = 0; z < n; z++) n2 += z;",
    f"{TEAMS}\nfor (int z = @start; z < n; z++) n2 += z;",
    f"{TEAMS}\nfor (int z = 0; z < @end; z++) n2 += z;",
    f"{TEAMS}\nfor (int z = 0; z < n; z += @by) n2 += z;",
    f"{TEAMS}\nfor (@thing z = 0; z < n; z++) n2 += z;",
    f"{TEAMS}\nfor (int z = 0; z < n; z++) {{\n    n2 += z;\n    @more(z) += 1;\n}}",
    f"{TEAMS} dist_schedule(dynamic, @piece)\nfor (int z = 0; z < n; z++) n2 += z;",
    f"{TEAMS} weight(@heavy[z])\nfor (int z = 0; z < n; z++) n2 += z;",
    f"{TEAMS}\nfor (int z = 0; z < n; z++) n2 += z;\nn2 = @behind;",
    f"{TEAMS}\nfor (@real = 0; real < n; real++) n2 += 1;",
    f"{TEAMS}\nfor (int z = @2.5; z < n; z++) n2 += 1;",
    f"{TEAMS}\nfor (int *z = &n2; z < @n; z++) n2 += 1;",
    f"{TEAMS}\nfor (int z = @&n2; z < n; z++) n2 += 1;",
    f"{TEAMS}\nfor (int z = 0; z < n; z++) {{\n    if (z == 3) @return;\n}}",
]
# and this is what it says first, of the clause's own place
WRONG_TYPES = [
    ("num_teams(@2.5:CPU:1)", "num_teams: the number of units is no integer"),
    ("num_teams(1:CPU:1) key(@0.5 * z)", "key: this is no integer"),
    ("num_teams(1:CPU:1) reduction(+: @list)", 'reduction: "list" is no number; arrays, structures and pointers'),
    ("num_teams(1:CPU:1) reduction(max: @both)", 'reduction: "both" is no number; arrays, structures and pointers'),
    ("num_teams(1:CPU:1) reduction(-: n, @at)", 'reduction: "at" is no number; arrays, structures and pointers'),
    ("num_teams(1:CPU:1) reduction(|: @real)", 'reduction: "real" is no integer'),
    ("num_teams(1:CPU:1) batch(@n)", "batch: expected a function void n(const long long *iteration, int count)"),
    ("num_teams(1:CPU:1) batch(@other)", "batch: expected a function void other(const long long *iteration, int count)"),
]


class Messages(Case):
    def test_each(self):
        self.told("wrong")

    def test_all_at_once(self):
        """All errors of a file, in the order of its lines, and no object."""
        name = self.write("many.c", "void f(int n) {\n#pragma omp teams distribute num_teams(2:CPUS:1) dist_schedule(none)\n"
                                    "    for (int z = 0; z < n; z++) break;\n"
                                    "#pragma omp teams num_teams(:CPU:1) privat(n)\n    {}\n}\n")
        result = self.cc(COMPILERS[0], "-c", name, "-o", name + ".o")
        self.assertEqual([int(line.split(":")[1]) for line in self.said(result)], [2, 2, 3, 4, 4])
        self.assertEqual(result.returncode, 1)
        self.assertFalse(os.path.exists(name + ".o"))

    def test_compilers(self):
        """What is C's business has the user's line."""
        for number, text in enumerate(WRONG_C):
            at = text.index("@")
            line = text.count("\n", 0, at) + 3
            name = self.write(f"c{number}.c", "int n2;\nvoid f(int n, double real) {\n" + text.replace("@", "") + "\n(void)real;\n}\n")
            for compiler in COMPILERS:
                for mode in ([], ["--preprocessed"]):
                    with self.subTest(text=text, compiler=compiler, mode=mode):
                        result = self.cc(compiler, *mode, "-std=c99", "-c", name, "-o", name + ".o")
                        self.assertEqual(result.returncode, 1)
                        errors = [s for s in self.said(result) if ": error: " in s]
                        self.assertTrue(errors, result.stderr)
                        self.assertEqual(errors[0].rsplit(": error: ")[0].split(":")[1], str(line), result.stderr)

    def test_no_compiler(self):
        """One line that says what to do."""
        for ending, text in ((".c", "int a;\n"), (".cpp", "int a;\n"), (".f90", "end\n")):
            name = os.path.join(self.folder, "plain" + ending)
            self.write(name, text)
            lines = self.cc("/nowhere/x", "-c", name, "-o", name + ".o", env={"EVENER_FC": "/nowhere/x"}).stderr.splitlines()
            self.assertEqual(len(lines), 1, lines)
            self.assertIn("/nowhere/x: No such file or directory; install it, or name another compiler", lines[0])

    def test_types(self):
        """What is of another type than it should be."""
        name = os.path.join(self.folder, "types.c")
        for clauses, words in WRONG_TYPES:
            text = "#pragma omp teams distribute " + clauses
            self.write(name, "void right(const long long *iteration, int count);\nvoid other(const int *iteration, int count);\n"
                             "void f(int n, double real, int *at) {\nint list[3] = {0};\nstruct { int x; } both = {0};\n" +
                             text.replace("@", "") + "\nfor (int z = 0; z < n; z++) ;\n(void)list, (void)both;\n}\n")
            for compiler in COMPILERS:
                for mode in ([], ["--preprocessed"]):
                    with self.subTest(clauses=clauses, compiler=compiler, mode=mode):
                        result = self.cc(compiler, *mode, "-w", "-std=c99", "-c", name, "-o", name + ".o")
                        errors = [s for s in self.said(result) if ": error: " in s]
                        self.assertTrue(errors, result.stderr)
                        self.assertTrue(errors[0].startswith(f"{name}:6:{text.index('@') + 1}: error: static"), errors[0])
                        self.assertIn(words, errors[0].replace('\\"', '"'))
        self.write(name, "void right(const long long *iteration, int count);\nvoid f(int n) {\n"
                         "#pragma omp teams distribute num_teams(1:CPU:1) batch(right)\nfor (int z = 0; z < n; z++) ;\n}\n")
        for compiler in COMPILERS:
            self.fine(self.cc(compiler, "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-c", name, "-o", name + ".o"))

    def test_late(self):
        """Options whose value is known only when the program runs: one line then."""
        name = self.write("late.c", "int main(int n, char **word) {\n(void)word;\n#pragma omp teams distribute num_teams(1:CPU:1) "
                                    "dist_schedule(dynamic, 2, memorize = n - 3)\nfor (int z = 0; z < 3; z++) ;\n}\n")
        self.fine(self.cc(COMPILERS[0], name, "-o", name[:-2]))
        result = run([name[:-2]])
        self.assertEqual((result.returncode, result.stderr), (1, f'{name}:3: schedule: "dynamic": memorize must be a whole number '
                                                              'from 0 to 1000000000, not "-2"\n'))

    def test_old(self):
        name = self.write("old.c", f"void f(int n) {{\nint z;\n{TEAMS}\nfor (z = 0; z < n; z++) ;\n}}\n")
        for word in ("-ansi", "-std=c90", "-std=gnu89", "-std=iso9899:1990"):
            result = self.cc(COMPILERS[0], word, "-c", name, "-o", name + ".o")
            self.assertEqual((result.returncode, self.said(result)),
                             (1, [f"{name}:1:1: error: compute units need C99 or later"]))
        self.fine(self.cc(COMPILERS[0], "-std=c99", "-c", name, "-o", name + ".o"))
