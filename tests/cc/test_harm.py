#!/usr/bin/env python3
"""evener-cc does no harm: thirty small programs of standard OpenMP do the same through it as without, and the thread that runs
directives has its cores back afterwards.

Run: ctest -R cc-harm, or tests/cc/test_harm.py build/evener-cc [test ..]
"""
import os
from common import Case, COMPILERS, run

BEGIN = """#include <omp.h>
#include <stdio.h>
#include <string.h>
#define N 100
static int a[N], b[N];
static long fold(void) { long s = 0; for (int i = 0; i < N; i++) s = (s * 31 + a[i] * 7 + b[i]) % 1000003; return s; }
static int tree(int n) {
    if (n < 2) return n;
    int x, y;
#pragma omp task shared(x) if (n > 5)
    x = tree(n - 1);
#pragma omp task shared(y) firstprivate(n)
    y = tree(n - 2);
#pragma omp taskwait
    return x + y;
}
static int kept;
#pragma omp threadprivate(kept)
#pragma omp declare reduction(most : int : omp_out = omp_in > omp_out ? omp_in : omp_out) initializer(omp_priv = 0)
#pragma omp declare simd
static int square(int x) { return x * x; }
static void orphan(void) {
#pragma omp for
    for (int i = 0; i < N; i++) a[i] += i;
}
"""
LOOP = "for (int i = 0; i < n; i++) "
P = "#pragma omp "
# each is the inside of a function
PROGRAMS = {
    "static": f"{P}parallel for schedule(static)\n{LOOP}a[i] = i * i;",
    "static_chunk": f"{P}parallel for schedule(static, 3)\n{LOOP}a[i] = i * 3;",
    "dynamic": f"{P}parallel for schedule(dynamic)\n{LOOP}a[i] = i ^ 5;",
    "dynamic_chunk": f"{P}parallel for schedule(dynamic, 7)\n{LOOP}a[i] = i % 9;",
    "guided": f"{P}parallel for schedule(guided)\n{LOOP}a[i] = n - i;",
    "auto": f"{P}parallel for schedule(auto)\n{LOOP}a[i] = n / (i + 1);",
    "runtime": f"omp_set_schedule(omp_sched_dynamic, 2);\n{P}parallel for schedule(runtime)\n{LOOP}a[i] = 2 * i;",
    "nonmonotonic": f"{P}parallel for schedule(nonmonotonic : dynamic, 4)\n{LOOP}a[i] = i + 4;",
    "reduction": f"{P}parallel for reduction(+ : sum) reduction(max : last)\n{LOOP} {{ sum += i; if (i > last) last = i; }}",
    "array_reduction": f"{P}parallel for reduction(+ : b[:N])\n{LOOP} b[i % 10] += i;",
    "own_reduction": f"{P}parallel for reduction(most : last)\n{LOOP}if (i * 7 % 50 > last) last = i * 7 % 50;",
    "lastprivate": f"{P}parallel for lastprivate(last)\n{LOOP}last = a[i] = i + 1;",
    "collapse": f"{P}parallel for collapse(2)\nfor (int i = 0; i < 10; i++)\n    for (int j = 0; j < 10; j++) a[i * 10 + j] = i - j;",
    "ordered": f"{P}parallel for ordered reduction(+ : sum)\n{LOOP} {{ sum++;\n{P}ordered\n    last = last * 3 % 1009 + i; }}",
    "nowait": f"{P}parallel\n{{\n{P}for nowait\n{LOOP}a[i] = i;\n{P}for\n{LOOP}b[i] = i * 2;\n}}",
    "sections": f"{P}parallel sections\n{{\n{P}section\na[1] = 5;\n{P}section\na[2] = 6;\n{P}section\nb[3] = 7;\n}}",
    "single": f"{P}parallel firstprivate(n)\n{{\n{P}single copyprivate(n)\nn = 50;\n{P}for\n{LOOP}a[i] = n;\n}}",
    "master": f"{P}parallel\n{{\n{P}master\nsum = 4;\n{P}barrier\n{P}critical\nb[0] += 0 * sum;\n}}",
    "critical": f"{P}parallel for\n{LOOP}\n{P}critical(name)\nsum += i;",
    "atomic": f"{P}parallel for\n{LOOP} {{\n{P}atomic\nsum += i;\n{P}atomic update\nb[i % 3]++; }}",
    "tasks": f"{P}parallel\n{P}single\nsum = tree(12);",
    "taskloop": f"{P}parallel\n{P}single\n{P}taskloop grainsize(7)\n{LOOP}a[i] = i * 11;",
    "depend": f"{P}parallel\n{P}single\n{{\n{P}task depend(out : n)\nn = 60;\n{P}task depend(in : n)\nsum = n;\n}}",
    "simd": f"{P}simd reduction(+ : sum)\n{LOOP}sum += square(i);",
    "for_simd": f"{P}parallel for simd\n{LOOP}a[i] = square(i);",
    "teams": f"{P}teams num_teams(2)\n{P}distribute\n{LOOP}a[i] = i * 13;",
    "teams_for": f"{P}teams distribute parallel for num_teams(2) reduction(+ : sum)\n{LOOP}sum += i * 13;",
    "target": f"{P}target map(tofrom : a) map(tofrom : sum)\n{{ {LOOP}a[i] = i + 17; sum = 3; }}",
    "target_teams": f"{P}target teams distribute parallel for map(from : a)\n{LOOP}a[i] = i * 19;",
    "nested": f"omp_set_max_active_levels(2);\n{P}parallel num_threads(2) reduction(+ : sum)\n{P}parallel num_threads(3) reduction(+ : sum)\n"
              f"sum += omp_get_num_threads();",
    "private_copies": f"kept = 3;\n{P}parallel copyin(kept) firstprivate(n) num_threads(4) reduction(+ : sum)\nsum += kept + n;",
    "cancel": f"{P}parallel num_threads(2)\n{{\n{P}for\n{LOOP} {{ a[i] = 1;\n{P}cancel for if (0)\n }}\n{P}cancellation point parallel\n}}",
    "locks": f"omp_lock_t l; omp_init_lock(&l);\n{P}parallel for\n{LOOP} {{ omp_set_lock(&l); sum += i; omp_unset_lock(&l); }}\nomp_destroy_lock(&l);",
    "orphan": f"{P}parallel num_threads(3)\norphan();",
    "if_and_threads": f"{P}parallel if (n > 1000) reduction(+ : sum)\nsum += omp_get_num_threads();\n{P}parallel num_threads(3) reduction(+ : sum)\n"
                      f"sum += omp_get_num_threads();",
    "many": "int " + ", ".join(f"v{i} = {i}" for i in range(40)) + f";\n{P}parallel num_threads(2) reduction(+ : sum)\nsum += "
            + " + ".join(f"v{i}" for i in range(40)) + ";",
}

DIRECTIVE = f"{P}teams distribute num_teams(2:CPU:1) reduction(+ : last)\nfor (int z = 0; z < 9; z++) last += z;\nlast = 0;\n"

CORES = """#define _GNU_SOURCE
#include <omp.h>
#include <sched.h>
#include <stdio.h>
static int cores(void) { cpu_set_t s; CPU_ZERO(&s); sched_getaffinity(0, sizeof s, &s); return CPU_COUNT(&s); }
int main(void) {
    const int before = cores();
    int sum = 0, least = 1 << 20;
    for (int round = 0; round < 3; round++) {
#pragma omp teams distribute num_teams(1:CPU:1, 1:CPU:1) reduction(+ : sum)
        for (int z = 0; z < 8; z++) sum += z;
#pragma omp parallel num_threads(2) reduction(min : least)
        { int mine = cores(); if (mine < least) least = mine; }
    }
    printf("%d %d %d\\n", sum, before, least);
    return 0;
}
"""


class Harm(Case):
    def text(self, before):
        """All of them as one program that says a line of each."""
        functions = "".join(f"static void {what}_(void) {{\nint sum = 0, last = 0, n = N;\n(void)n;\nmemset(a, 0, sizeof a);\n"
                            f"memset(b, 0, sizeof b);\n{before}{inside}\nprintf(\"{what} %d %d %ld\\n\", sum, last, fold());\n}}\n"
                            for what, inside in PROGRAMS.items())
        return BEGIN + functions + "int main(void) {\n" + "".join(f"{what}_();\n" for what in PROGRAMS) + "return 0;\n}\n"

    def test_standard(self):
        """Alone, and each behind a directive of ours."""
        self.assertGreaterEqual(len(PROGRAMS), 30)
        alone, behind = self.write("alone.c", self.text("")), self.write("behind.c", self.text(DIRECTIVE))
        # a user may say where target regions run; here there is no other place than the host
        env = {"OMP_NUM_THREADS": "3", "OMP_TARGET_OFFLOAD": "disabled"}
        for compiler in COMPILERS:
            self.fine(run([compiler, "-O1", "-fopenmp", alone, "-o", alone[:-2]]))
            expected = self.fine(run([alone[:-2]], env=env)).stdout.splitlines()
            self.assertEqual(len(expected), len(PROGRAMS))
            for file in alone, behind:
                with self.subTest(file=file, compiler=compiler):
                    self.fine(self.cc(compiler, "-O1", "-fopenmp", file, "-o", file[:-2]))
                    done = self.fine(run(["timeout", "60", file[:-2]], env=env))
                    self.assertEqual((done.stdout.splitlines(), done.stderr), (expected, ""))

    def test_cores(self):
        """Threads of an ordinary region after a directive may run on all cores, as before."""
        name = self.write("cores.c", CORES)
        for compiler in COMPILERS:
            self.fine(self.cc(compiler, name, "-o", name[:-2]))
            for oversubscribe in "1", "":
                if not oversubscribe and os.cpu_count() < 2:
                    continue
                done = self.fine(run([name[:-2]], env={"EVENER_OVERSUBSCRIBE": oversubscribe}))
                sum_, before, least = map(int, done.stdout.split())
                self.assertEqual((sum_, least), (84, before), compiler)
