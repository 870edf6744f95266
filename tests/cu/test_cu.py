"""Directives at run time: tests/cu/cases.c, written as evener-cc writes it, by every compiler there is.

    ctest -R '^cu$'        or: python3 test_cu.py SOURCE BUILD        EVENER_TEST_LONG=1: every list and schedule by each compiler

The library is installed into a folder of its own, and what pkg-config says is all that a program is made with. What a
case prints must be the same for all lists of units, schedules and compilers; what is wrong must say so in one line.
"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE, BUILD = sys.argv[1:3]
CASES = os.path.join(SOURCE, "tests", "cu", "cases.c")
LONG = os.environ.get("EVENER_TEST_LONG")
COMPILERS = list({os.path.realpath(shutil.which(c)): c for c in ("clang-19", "clang-16", "clang-14", "clang", "gcc")
                  if shutil.which(c)}.values())[::-1]
PLAIN = {k: v for k, v in os.environ.items() if k == "EVENER_CLAIMS" or not k.startswith(("EVENER_", "OMP_"))}
# threads that wait do not take the cores of others: there are more of them than cores
PLAIN.update(LC_ALL="C", OMP_WAIT_POLICY="passive", EVENER_CACHE=os.path.join(BUILD, "cache"))


def cached(name):
    with open(os.path.join(BUILD, "CMakeCache.txt")) as file:
        text = file.read()
    found = re.search(rf"^{name}:[A-Z]*=(.*)$", text, re.M)
    return found.group(1) if found else ""


class Programs:
    """The cases as each compiler makes them."""

    def __init__(self, folder):
        self.folder, self.path = folder, {}
        subprocess.run(["cmake", "--install", BUILD, "--prefix", folder + "/usr", "--component", "library"], check=True,
                       stdout=subprocess.DEVNULL)
        where = glob.glob(folder + "/usr/**/evener.pc", recursive=True)[0]
        for name in glob.glob(os.path.dirname(where) + "/*.pc"):
            with open(name) as file:
                text = re.sub(r"^prefix=.*$", f"prefix={folder}/usr", file.read(), flags=re.M)
            with open(name, "w") as file:
                file.write(text)
        self.env = dict(PLAIN, PKG_CONFIG_PATH=os.path.dirname(where))
        sanitize = cached("EVENER_SANITIZE")
        self.sanitize = [f"-fsanitize={sanitize}"] if sanitize else []
        for compiler in COMPILERS[:1] if sanitize else COMPILERS:
            if self.has_openmp(compiler):
                self.path[compiler] = self.make(compiler, compiler)

    def has_openmp(self, compiler):
        made = subprocess.run([compiler, "-fopenmp", "-x", "c", "-", "-o", self.folder + "/try"], text=True,
                              input="#include <omp.h>\nint main(void) { return omp_get_max_threads() < 1; }\n",
                              capture_output=True)
        return made.returncode == 0

    def flags(self, *words):
        return subprocess.run(["pkg-config", *words], env=self.env, check=True, capture_output=True, text=True).stdout.split()

    def make(self, compiler, name, libraries=None, extra=()):
        out = f"{self.folder}/{name}"
        kernels = out + "_kernels.o"
        subprocess.run([compiler, "-O2", "-std=c11", "-ffp-contract=off", "-fopenmp-simd", "-DEVN_CONTRACT=0",
                        "-Wno-overlength-strings", "-fPIC", *self.sanitize, *self.flags("--cflags", "evener"), "-c",
                        f"{BUILD}/tests/cu_kernels.c", "-o", kernels], check=True)
        libraries = libraries or self.flags("--libs", "evener-cu")
        subprocess.run([compiler, "-O2", "-std=c99", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-pedantic", "-Werror",
                        "-Wstrict-prototypes", "-ffp-contract=off", *extra, *self.sanitize, "-D__EVENER_CC__",
                        *self.flags("--cflags", "evener-cu"), CASES, kernels, "-o", out, *libraries, "-lm"], check=True)
        return out


def run(program, case, units=None, schedule=None, **more):
    env = dict(PLAIN, EVENER_OVERSUBSCRIBE="1", EVENER_DEVICES="emulated")
    if units:
        env["EVENER_UNITS"] = units
    if schedule:
        env["EVENER_SCHEDULE"] = schedule
    env.update(more)
    env = {k: v for k, v in env.items() if v is not None}
    return subprocess.run(["timeout", "60", program, case], env=env, capture_output=True, text=True)


class Same(unittest.TestCase):
    """One answer, whatever runs it."""

    def same(self, case, lists, schedules=(None,)):
        answers = {}
        for at, (compiler, program) in enumerate(programs.path.items()):
            for i, units in enumerate(lists):
                for j, schedule in enumerate(schedules):
                    # of several schedules each pair of list and schedule is run by one compiler, in turn
                    if len(schedules) > 1 and not LONG and (at + i + j) % len(programs.path):
                        continue
                    done = run(program, case, units, schedule)
                    self.assertEqual((done.returncode, [x for x in done.stderr.splitlines() if "on devices" not in x]),
                                     (0, []), (compiler, units, schedule, done.stdout))
                    answers.setdefault(done.stdout, []).append((compiler, units, schedule))
        self.assertEqual(len(answers), 1, answers)
        return next(iter(answers))

    LISTS = (None, "1:CPU:1", "2:CPU:1", "5:CPU:2", "1:CPU:2,1:GPU:2")
    SCHEDULES = (None, "dynamic:chunk=3", "guided:time", "map", "binpack")

    def test_reductions(self):
        self.same("reduce", self.LISTS, self.SCHEDULES)

    def test_variables(self):
        self.same("variables", self.LISTS)

    def test_inner_and_other_regions(self):
        """Six rounds: inner regions of 3 and 2 threads, others of 4 as the program has set."""
        self.assertEqual(self.same("regions", (None,)),
                         "inner 9 6 asked 9 6 here 60 63 after 12 wide 12 of 4\n")

    def test_in_a_shared_library(self):
        """The directives are in a library, and the program has regions of its own before."""
        for compiler in programs.path:
            library = programs.make(compiler, f"lib{compiler}.so", extra=["-fPIC", "-shared", "-Dmain=all_cases"])
            out = f"{programs.folder}/{compiler}-shared"
            subprocess.run([compiler, "-fopenmp", *programs.sanitize, "-x", "c", "-", "-x", "none", library, "-o", out], check=True, text=True,
                           input="int all_cases(int, char **); int main(int n, char **a) { int k = 0;\n"
                                 "#pragma omp parallel num_threads(2) reduction(+ : k)\nk++;\n"
                                 "return k != 2 || all_cases(n, a); }\n")
            for case in "reduce", "teams":
                self.assertEqual(run(out, case).stdout, run(programs.path[compiler], case).stdout)

    def test_teams(self):
        self.assertEqual(self.same("teams", self.LISTS), "0 wrong, 296, teams 1\n")

    def test_kept_loops(self):
        self.assertEqual(self.same("kept", (None,)), "3 cores, loops 0 0 0 3 4 0\n")

    def test_weights_that_change(self):
        """A loop a directive, also in the record, which is no longer for more steps."""
        self.assertEqual(self.same("weights", (None, "1:CPU:1", "3:CPU:1")), "0 wrong, 2 loops\n")
        record = programs.folder + "/weights.json"
        run(next(iter(programs.path.values())), "weights", EVENER_RECORD=record)
        with open(record) as file:
            loops = json.load(file)["loops"]
        self.assertEqual([loop["steps"] for loop in loops], [60, 60])

    def test_keys(self):
        """One loop for iterations that come and go, in any order; no change where all are as before."""
        said = self.same("keys", (None, "1:CPU:1", "3:CPU:1"))
        self.assertEqual(said, "0 wrong, 1 loops, 9 changes: 354 kept, 36 born, 30 gone\n")

    def test_data(self):
        lists = (None, "1:CPU:1", "1:GPU:1", "1:CPU:1,2:GPU:1", "1:GPU:2")
        for case in "moves", "batches":
            self.same(case, lists, ("static", "dynamic", "guided:time"))
        done = run(next(iter(programs.path.values())), "moves", "1:GPU:1", "static")
        self.assertIn("60 times on devices", done.stderr)

    def test_own_loops(self):
        """Figure 13: each task once, on any units, and with a compiler that has none."""
        self.assertRegex(self.same("own_tasks", self.LISTS + ("1:CPU:1,2:GPU:1",), self.SCHEDULES), r"\A0 wrong, 0x1\.[0-9a-f]+p\+\d+\n\Z")
        plain = programs.folder + "/plain"
        subprocess.run([COMPILERS[0], "-x", "c", "-", f"-I{SOURCE}/include", "-Wall", "-Wextra", "-Werror", "-o", plain], check=True, text=True,
                       input='#include <omp_cu.h>\n#include <stdio.h>\nstatic void body(void *n) {\n'
                             'for (long long t; (t = omp_get_task()) >= 0; *(int *)n += (int)t) { omp_execute_task(t); omp_commit_task(t); } }\n'
                             'int main(void) { int n = 0; omp_cu_run("dynamic", 37, body, &n); printf("%d\\n", n); return 0; }\n')
        self.assertEqual(subprocess.run([plain], capture_output=True, text=True).stdout, f"{sum(range(37))}\n")

    def test_copies(self):
        """Between the host and devices, each way, and within one."""
        self.same("copied", (None, "1:CPU:1", "1:GPU:1", "1:GPU:2", "3:CPU:1"), ("static", "dynamic"))

    def test_registers(self):
        self.same("registers", ["1:CPU:1"])

    def test_lists_change(self):
        self.same("lists", (None, "1:CPU:1", "2:GPU:1"))

    def test_a_small_device(self):
        for program in programs.path.values():
            done = run(program, "crowd", EVENER_DEVICES="emulated:1,memory=1MiB")
            self.assertEqual((done.stdout, done.returncode), ("36\n", 0), done.stderr)


# what a program asks and says, with the directive that other compilers accept
PLAIN_PROGRAM = r"""
#include "omp_cu.h"
#include <stdio.h>
struct evn_kernel_source;
extern const struct evn_kernel_source step_kernels; /* not linked: there is no GPU */
int main(void) {
    static double u[40];
    int n = 40, sum = 0;
    if (omp_register(u, sizeof u)) return 1;
#pragma omp teams distribute OMP_CU(num_teams(4:CPU:4, 2:GPU:1) dist_schedule(dynamic) weight(z)) reduction(+ : sum)
    for (int z = 0; z < 40; z++) {
        omp_migrate_for(&u[z], EVN_BOTH);
        if (omp_is_gpu()) omp_cu_launch(&step_kernels, "step", 1, OMP_CU_MEMORY(u), OMP_CU_VALUE(n));
        if (omp_is_cpu() && omp_get_cu_num() < omp_get_num_cus()) u[z] = z + (omp_get_num_threads() < 1);
        omp_synchronize();
        sum += (int)u[z];
    }
    omp_migrate(u);
    printf("%d %d\n", sum, omp_is_host(omp_get_data_placement(u)) && !omp_get_num_gpus());
    omp_unregister(u);
    return 0;
}
"""


class Elsewhere(unittest.TestCase):
    def test_other_compilers(self):
        """omp_cu.h alone, copied beside a program, with and without OpenMP: right, and not a warning."""
        folder = programs.folder + "/copied"
        os.mkdir(folder)
        shutil.copy(os.path.join(SOURCE, "include", "omp_cu.h"), folder)
        with open(folder + "/plain.c", "w") as file:
            file.write(PLAIN_PROGRAM)
        for compiler in programs.path:
            for flags in ["-Wno-unknown-pragmas"], ["-fopenmp"]:
                subprocess.run([compiler, "-std=c99", "-O1", "-Wall", "-Wextra", "-pedantic", "-Werror", *flags, "plain.c",
                                "-o", "plain"], cwd=folder, check=True)
                self.assertEqual(run(folder + "/plain", "").stdout, "780 1\n", (compiler, flags))


class Environment(unittest.TestCase):
    def test_report(self):
        program = next(iter(programs.path.values()))
        done = run(program, "moves", "1:CPU:1,1:GPU:1", "static", EVENER_REPORT="1")
        self.assertRegex(done.stderr, r"cases\.c:\d+: 5 instances, \d+\.\d{6} s; units \d+\.\d{6} \d+\.\d{6} s, "
                                      r"imbalance [\d.]+; \d+ migrations, [1-9]\d* bytes moved\n")
        done = run(program, "reduce", EVENER_REPORT="1")
        self.assertRegex(done.stderr, r"cases\.c:\d+: 19 instances, ")

    def test_trace_and_record(self):
        program = next(iter(programs.path.values()))
        trace, record = programs.folder + "/trace.json", programs.folder + "/record.json"
        done = run(program, "teams", EVENER_TRACE=trace, EVENER_RECORD=record)
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in trace, record:
            with open(name) as file:
                self.assertTrue(json.load(file))


    def test_moved(self):
        """The record has a name for the loops of a directive and the bytes that its bodies have brought, which EVENER_REPORT says."""
        program = next(iter(programs.path.values()))
        path = programs.folder + "/moved.json"
        done = run(program, "moves", "1:CPU:1,1:GPU:1", "static", EVENER_REPORT="1", EVENER_RECORD=path)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(path) as file:
            record = json.load(file)
        said = re.search(r"(cases\.c:\d+): 5 instances.* (\d+) bytes moved\n", done.stderr)
        [loop] = [o for o in record["loops"] if o["steps"] == 5]
        self.assertTrue(loop["name"].endswith(said.group(1)), loop["name"])
        self.assertEqual(loop["transfers"]["moved_bytes"], int(said.group(2)))
        self.assertGreater(loop["transfers"]["moved_regions"], 0)
        self.assertEqual(record["transfers"]["moved_bytes"], sum(o["transfers"]["moved_bytes"] for o in record["loops"]))

    def test_rank(self):
        """Of a launcher's processes each says which it is."""
        program = next(iter(programs.path.values()))
        done = run(program, "moves", "1:CPU:1,1:GPU:1", "static", EVENER_REPORT="1", OMPI_COMM_WORLD_RANK="3")
        self.assertRegex(done.stderr, r"(?m)^rank 3: .*cases\.c:\d+: 5 instances")


class Wrong(unittest.TestCase):
    """One line, status 1."""

    def test_mistakes(self):
        small = {"EVENER_DEVICES": "emulated:1,memory=512KiB"}
        for case, line, env in (
                ("no_count", r"wrong\.c:12: num_teams: 0 units in 0:CPU:1; expected 1 or more", {}),
                ("no_size", r"wrong\.c:12: num_teams: units of -2 devices in 1:GPU:-2; expected 1 or more", {}),
                ("cores", r"wrong\.c:12: .*4000 cores.*; set EVENER_UNITS to .*", {"EVENER_OVERSUBSCRIBE": None}),
                ("step0", r"wrong\.c:12: the loop's step is 0, and it would not end", {}),
                ("away", r"wrong\.c:12: the loop's step -2 leads from 0 away from the bound 9", {}),
                ("endless", r"wrong\.c:12: the loop .* has more than 2147483647 iterations.*", {}),
                ("schedule", r'wrong\.c:12: schedule: static has no option "size", expected chunk=C', {}),
                ("thread", r"wrong\.c:13: teams with compute units by a second thread; .*", {}),
                ("nested", r"wrong\.c:13: teams within the work of compute units, of wrong\.c:12; .*", {}),
                ("parallel", r"wrong\.c:12: teams with compute units within a parallel region; .*", {}),
                ("within", r".*cases\.c:\d+: distribute within a loop over compute units; .*", {}),
                ("stranger", r"wrong\.c:12: omp_migrate: 0x\w+ is in no memory that was registered; .*", {}),
                ("large", r"wrong\.c:12: omp_migrate of 0x\w+: place: .*", small),
                # by the wait that comes first: the unit's own, or that of the next block's move
                ("moves", r".*cases\.c:\d+: (unit 2|omp_migrate of 0x\w+): .* on purpose \(fail=kernel@9\)",
                 {"EVENER_DEVICES": "emulated:2,fail=kernel@9"}),
                ("moves", r".*cases\.c:\d+: omp_migrate of 0x\w+: .* on purpose \(fail=lost@6\)",
                 {"EVENER_DEVICES": "emulated:2,fail=lost@6"}),
                ("both", r"wrong\.c:12: omp_migrate of 0x\w+: place: .* is held .*", {}),
                ("team", r"wrong\.c:12: omp_migrate within a parallel region of a unit; .*", {}),
                ("copy_stranger", r"wrong\.c:12: omp_cu_copy: 8 bytes at 0x\w+ are in no memory that was registered", {}),
                ("copy_beyond", r"wrong\.c:12: omp_cu_copy: 24 bytes at 0x\w+ are in no memory that was registered", {}),
                ("copy_within", r"wrong\.c:12: omp_cu_copy within units' work; .*", {}),
                ("own_twice", r".*cases\.c:\d+: omp_get_task: before omp_commit_task\(\d\)", {}),
                ("own_early", r".*cases\.c:\d+: omp_cu_run: the body returned before omp_commit_task\(\d\)", {}),
                ("own_one", r".*cases\.c:\d+: omp_cu_run: the body returned before omp_get_task\(\) gave -1; .*", {"EVENER_UNITS": "1:CPU:1"}),
                ("own_other", r".*cases\.c:\d+: omp_commit_task\(\d\): it is not the task of .*", {}),
                ("own_outside", r"wrong\.c:12: omp_get_task: outside of a body of omp_cu_run\(\), .*", {}),
                ("own_negative", r".*cases\.c:\d+: omp_cu_run: -1 tasks; .*", {}),
                ("same_key", r"wrong\.c:12: key: iterations 3 and 7, counted from 0, both have the key 3; .*", {}),
                ("launch", r'wrong\.c:12: omp_cu_launch of "grow" where there is no device; .*', {}),
                ("untaken", r"wrong\.c:12: the parallel region of this directive was not taken over: .*", {}),
                ("teams", r".*cases\.c:\d+: EVENER_UNITS: .*", {"EVENER_UNITS": "4:CPUS:4"}),
                ("reduce", r".*cases\.c:\d+: EVENER_SCHEDULE: .*", {"EVENER_SCHEDULE": "dynamics"})):
            for compiler, program in programs.path.items():
                with self.subTest(case=case, compiler=compiler):
                    done = run(program, case, **env)
                    self.assertEqual(done.returncode, 1, done)
                    self.assertRegex(done.stderr, rf"\A{line}\n\Z")

    def test_answers_that_are_no_end(self):
        for program in programs.path.values():
            done = run(program, "twice")
            self.assertRegex(done.stdout, r"\A0 -1 -1 omp_register: 8 bytes at ")
            self.assertEqual(run(program, "ends").returncode, 5)

    def test_linked_without(self):
        """Without the flags of evener-cu the first directive says what is missing."""
        for compiler in programs.path:
            libraries = [x for x in programs.flags("--libs", "evener-cu") if "--wrap" not in x]
            program = programs.make(compiler, compiler + "-plain", libraries)
            done = run(program, "teams")
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, r"\A.*cases\.c:\d+: this program was linked without evener-cc; link with it, "
                                          r"or add the flags of `pkg-config --libs evener-cu`\n\Z")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        programs = Programs(folder)
        if not programs.path:
            print("no compiler with OpenMP")
            sys.exit(77)
        result = unittest.main(argv=sys.argv[:1] + sys.argv[3:], exit=False).result
    sys.exit(not result.wasSuccessful())
