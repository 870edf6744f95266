#!/usr/bin/env python3
"""A program ends while its other threads are at work: with its status and its output, and nothing is taken from under them.

In each case one thread uses all the time what a destructor of the program, as of any library, takes away for good; then it crashes.
Run: ctest -R cc-ends, or tests/cc/test_ends.py build/evener-cc [test ..]
"""
import os
import shutil
import subprocess
import common
from common import Case, COMPILERS, run

PROGRAM = """#include <omp_cu.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int memory = 1;
static int *volatile used = &memory;
static volatile int at_work;
__attribute__((destructor)) static void unload(void) {
    used = NULL;
    if (at_work) sleep(100);
}
static void bye(void) { puts("bye"); }

static void use(void) {
    at_work = 1;
    for (volatile long sum = 0;;) sum += *used;
}

static void wait_for_work(void) {
    while (!at_work) usleep(100);
}

static void teams_of_ours(int bad) {
#pragma omp teams distribute num_teams(2:CPU:1)
    for (int z = 0; z < 2 * bad + 1; z += bad) ;
}

static void orphan(int step) {
#pragma omp distribute
    for (int z = 0; z < 4; z += step) ;
}

static void *second(void *arg) {
    wait_for_work();
    teams_of_ours(1);
    return arg;
}

int main(int n, char **word) {
    const char kind = n > 1 ? word[1][0] : 0;
    if (kind == 'e') atexit(bye);
    teams_of_ours(1);
    printf("begun\\n");
    if (kind == 's') { /* by another thread than the one that runs directives */
        pthread_t thread;
        pthread_create(&thread, NULL, second, NULL);
        use();
    }
    if (kind == 't') { /* in teams that are not ours */
#pragma omp teams num_teams(2) thread_limit(1)
        {
            if (omp_get_team_num()) use();
            wait_for_work();
            orphan(0);
        }
    }
#pragma omp teams distribute num_teams(2:CPU:1)
    for (int z = 0; z < 2; z++) {
        if (!z) {
            if (kind == 'i') {
                at_work = 1;
                getchar();
            }
            use();
        }
        wait_for_work();
        if (kind == 'i') usleep(100000); /* so that it waits for input, most likely; else it ends all the same */
        if (kind == 'e') exit(7);
        omp_migrate(&memory);
    }
    return 0;
}
"""


class Ends(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.name = os.path.join(cls.folder, "ends.c")
        with open(cls.name, "w") as file:
            file.write(PROGRAM)

    def test_all(self):
        for compiler in COMPILERS:
            self.fine(self.cc(compiler, "-w", self.name, "-o", self.name[:-2], "-lpthread"))
            for kind, status, out, said in (("exit", 7, "begun\nbye\n", ""), ("mistake", 1, "begun\n", "omp_migrate: 0x"),
                                            ("second", 1, "begun\n", "by a second thread")):
                with self.subTest(compiler=compiler, kind=kind):
                    result = run([self.name[:-2], kind])
                    self.assertEqual((result.returncode, result.stdout), (status, out), result.stderr)
                    self.assertIn(said, result.stderr)
            if compiler == "clang":  # gcc's teams come one after the other
                with self.subTest(compiler=compiler, kind="teams"):
                    result = run([self.name[:-2], "teams"])
                    self.assertEqual((result.returncode, result.stdout), (1, "begun\n"), result.stderr)
                    self.assertIn("the loop's step is 0", result.stderr)
            with self.subTest(compiler=compiler, kind="input"):
                program = subprocess.Popen([self.name[:-2], "input"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                           text=True, env=common.PLAIN)
                try:  # what it reads from stays open
                    self.assertEqual(program.wait(300), 1)
                finally:
                    program.kill()
                self.assertEqual(program.stdout.read(), "begun\n")
                self.assertIn("omp_migrate: 0x", program.stderr.read())
                for file in program.stdin, program.stdout, program.stderr:
                    file.close()


class Unwinding(Case):
    """A body that does not return: pthread_exit() or an exception of C++, on the unit of the program's own thread and on another one."""

    def test_all(self):
        if not shutil.which("g++"):
            self.skipTest("no g++")
        self.write("body.c", "#include <pthread.h>\n#include <stdlib.h>\nvoid throws(void);\nint of_c(int n, char **word) {\n"
                             "#pragma omp teams distribute num_teams(2:CPU:1)\nfor (int i = 0; i < 2; i++)\n"
                             "if (i == atoi(word[1])) { if (n > 2) throws(); else pthread_exit(NULL); }\nreturn 0; }\n")
        self.write("main.cpp", 'extern "C" int of_c(int, char **);\nextern "C" void throws() { throw 3; }\n'
                               "int main(int n, char **word) { try { return of_c(n, word); } catch (int x) { return x; } }\n")
        for compiler in COMPILERS:
            self.fine(self.cc(compiler, "-c", "body.c", cwd=self.folder))
            self.fine(self.cc(compiler, "body.o", "main.cpp", "-lstdc++", "-o", "unwind", cwd=self.folder))
            for unit in "0", "1":
                for more in [], ["throw"]:
                    with self.subTest(compiler=compiler, unit=unit, more=more):
                        result = run(["timeout", "60", os.path.join(self.folder, "unwind"), unit, *more])
                        self.assertIn(result.returncode, (-6, 134), result.stderr)  # abort()
                        self.assertIn("terminate called after throwing" if more and unit == "1" else
                                      f'units: the job of unit {unit} of "2:CPU:1" has ended its thread, or thrown an exception', result.stderr)
