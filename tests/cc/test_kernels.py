#!/usr/bin/env python3
"""Kernels that evener-cc makes of loops: they compute what the loops compute, on cores, on emulated devices and by OpenCL; NVRTC
compiles them; what no kernel can be made of is refused, with its place.

Wrong loops are in tests/cc/kernels/wrong, as common.wrong() has them. With the real run-time, and libraries of the build.
Run: ctest -R cc-kernels, or tests/cc/test_kernels.py build/evener-cc BUILD [test ..]
"""
import ast
import ctypes
import ctypes.util
import glob
import os
import re
import subprocess
import sys
import unittest

import common
from common import COMPILERS, HERE, SOURCE

KERNELS = os.path.join(HERE, "kernels")
COMMAND, BUILD = common.COMMAND, os.path.abspath(sys.argv.pop(1))
PLAIN = {k: v for k, v in os.environ.items() if k == "EVENER_CLAIMS" or not k.startswith(("EVENER_", "OMP_"))}
PLAIN.update(LC_ALL="C", OMP_WAIT_POLICY="passive", OMP_NUM_THREADS="1", EVENER_CACHE=os.path.join(BUILD, "cache"))
SANITIZE = []
with open(os.path.join(BUILD, "CMakeCache.txt")) as cache:
    for found in re.findall(r"^EVENER_SANITIZE:[A-Z]*=(.+)$", cache.read(), re.M):
        SANITIZE = [f"-fsanitize={found}"]
PTX = os.path.join(BUILD, "tests/lib%s.so")
LISTS = [("2:CPU:1", "emulated"), ("1:CPU:2", "emulated"), ("1:CPU:1,1:GPU:1", "emulated"), ("1:GPU:2", "emulated")]


def run(words, **env):
    return subprocess.run(words, capture_output=True, text=True, errors="replace", timeout=300, env={**PLAIN, **env})


class Kernels(common.Case):
    def path(self, name):
        return os.path.join(self.folder, name)

    def fine(self, result):
        return super().fine(result).stdout

    def make(self, name, out, *more, compiler=COMPILERS[0]):
        words = [COMMAND, "--kernels", "-O2", "-std=c11", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror", *SANITIZE, name,
                 *more, "-o", self.path(out), "-lm"]
        result = run(words, EVENER_CC=compiler)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return self.path(out)

    def plain(self, name, *options):
        program = self.path("plain")
        self.fine(run([COMPILERS[0], "-O2", "-ffp-contract=off", "-w", *options, "-I", os.path.join(SOURCE, "include"), name, "-o",
                       program, "-lm"]))
        return self.fine(run([program]))

    def units(self, program, units, devices):
        """`devices` cuda: the executor of tests/ptx"""
        ptx = dict(EVENER_LIBCUDA=PTX % "ptxrun", EVENER_NVRTC=PTX % "clang_nvrtc", PTXRUN_CACHE=os.path.join(BUILD, "ptx-cache"))
        result = run(["timeout", "100", program], EVENER_UNITS=units, EVENER_DEVICES=devices, EVENER_OVERSUBSCRIBE="1", **ptx)
        if result.returncode and devices == "opencl" and re.search("OpenCL('s loader| has no device)", result.stderr):
            self.skipTest("no OpenCL device")
        return self.fine(result)

    def same_everywhere(self, name, other=False):
        """By one compiler, of files one after another by another one; `other`: by the rest of them."""
        expected = self.plain(name)
        self.assertTrue(expected)
        self.assertEqual(self.plain(name, "-fopenmp"), expected)
        mine = COMPILERS[0 if SANITIZE else sum(os.path.basename(name).encode()) % len(COMPILERS)]
        for compiler in [c for c in COMPILERS if c != mine] if other else [mine]:
            program = self.make(name, "program", compiler=compiler)
            # OpenCL gets the same text from any compiler
            for units, devices in LISTS + [("1:CPU:1,1:GPU:1", "opencl")] * (not other):
                with self.subTest(compiler=compiler, units=units, devices=devices):
                    self.assertEqual(self.units(program, units, devices), expected)

    @unittest.skipIf(SANITIZE, "the libraries are sanitized by one compiler")
    def test_other_compilers(self):
        self.programs(*self.QUICK, *self.MORE, "pointers", other=True)

    QUICK = "forms", "ordinary", "nested", "members", "reductions", "sections"
    MORE = "regions", "atomics"

    def programs(self, *names, **how):
        for name in names:
            with self.subTest(name=name):
                self.same_everywhere(os.path.join(KERNELS, name + ".c"), **how)

    def test_programs(self):
        self.programs(*self.QUICK)

    def test_more_programs(self):
        self.programs(*self.MORE)

    def test_parallel(self):
        """--kernels=parallel: loops of parallel for, and of parallel regions, in a program that has registered nothing."""
        text = ("#include <stdio.h>\nenum { N = 300 };\nstatic double u[N][N], v[N];\nvoid run(int n, double w[N]) {\n    int i, j;\n"
                "#pragma omp parallel for private(j)\n    for (i = 0; i < n; i++)\n        for (j = 0; j < n; j++) u[i][j] = i + j * 0.5;\n"
                "#pragma omp parallel\n    {\n#pragma omp for private(j)\n        for (i = 0; i < n; i++)\n            for (j = i; j < n; j++) w[i] += u[i][j];\n"
                "#pragma omp single\n        w[0] += w[1];\n#pragma omp for\n        for (i = 1; i < n; i++) w[i] += w[0];\n    }\n}\n"
                "int main(void) {\n#pragma omp teams distribute num_teams(1:CPU:1)\n    for (int k = 0; k < 1; k++) run(N, v);\n    double s = 0;\n"
                '    for (int i = 0; i < N; i++) s += v[i] * i;\n    printf("%.17g\\n", s);\n    return 0;\n}\n')
        name = self.write("parallel.c", text)
        self.fine(run([COMPILERS[0], "-O2", "-ffp-contract=off", "-w", name, "-o", self.path("plain")]))
        expected = self.fine(run([self.path("plain")]))
        self.assertEqual(self.fine(run([COMMAND, "--kernels=parallel", "--source", name])).count("_kernel(void) {"), 3)
        result = run([COMMAND, "--kernels=parallel", "-O2", "-ffp-contract=off", *SANITIZE, name, "-o", self.path("parallel")])
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        for units, devices in LISTS + [("1:GPU:1", "emulated")]:
            self.assertEqual(self.units(self.path("parallel"), units, devices), expected)

    def test_pointers(self):
        name = os.path.join(KERNELS, "pointers.c")
        self.same_everywhere(name)
        brought = re.findall(r'\(const void \*\)(\w+), "\1", (\d)', self.fine(run([COMMAND, "--kernels", "--source", name])))
        self.assertEqual(dict(brought), {"u": "1", "v": "1", "p": "1", "w": "1", "x": "0"})

    def test_same_math(self):
        """--kernels-math=same: the program itself compares with long double; one hash everywhere, with other options of the compiler, too."""
        name = os.path.join(KERNELS, "math.c")
        program = self.make(name, "math", "--kernels-math=same")
        expected = self.units(program, "1:CPU:1", "emulated")
        self.assertIn("\n0 faults, ", "\n" + expected)
        fast = self.make(name, "fast", "--kernels-math=same", "-O3", "-march=native", compiler=COMPILERS[-1])
        for made, units, devices in ((program, "1:GPU:1", "emulated"), (fast, "1:CPU:1", "emulated"), (fast, "1:GPU:1", "emulated"),
                                     (program, "1:GPU:1", "cuda"), (program, "1:GPU:1", "opencl")):
            if devices == "cuda" and not os.path.exists(PTX % "clang_nvrtc"):
                continue
            with self.subTest(units=units, devices=devices):
                self.assertEqual(self.units(made, units, devices), expected)
        cxx = self.write("same.cpp", "#include <cmath>\nvoid f(double *u, float *w) {\n#pragma omp target teams distribute parallel for\n"
                         "    for (int i = 0; i < 9; i++) u[i] = std::exp(u[i]) + w[i], w[i] = std::sin(w[i]);\n}\n")
        self.assertIn("u[i] = evn_cu_exp(u[i]) + w[i], w[i] = evn_cu_sinf(w[i]);", self.fine(run([COMMAND, "--kernels-math=same", "--source", cxx])))
        none = self.write("none.c", "#include <math.h>\nvoid f(double *u) {\n#pragma omp target teams distribute parallel for\n"
                          "    for (int i = 0; i < 9; i++) u[i] = tgamma(u[i]);\n}\n")
        for words, says in ((("--kernels-math=same",), r"none\.c:4:\d+: error: --kernels-math=same has no tgamma"),
                            (("--kernels-math=same", "-ffp-contract=fast"), "exclude each other"),
                            (("--kernels-math=fast",), "expected --kernels, --kernels=parallel or --kernels-math=same"),
                            (("--kernels=all",), "expected --kernels, --kernels=parallel or")):
            result = run([COMMAND, *words, "-c", none, "-o", self.path("none.o")])
            self.assertEqual(result.returncode, 1)
            self.assertRegex(result.stderr, says)

    def test_paper(self):
        """Figure 12 as it is printed, and as OpenMP has it: with a result that only the region can have made."""
        body = ("#include <omp.h>\n#include <omp_cu.h>\n#include <stdio.h>\nenum { N = 64 };\nstatic double mesh[8][N][N];\n"
                "static void stage(double (*u)[N]) {\n    if (omp_is_cpu()) {\n#pragma omp parallel %s\n"
                "        for (int k = 0; k < N; k++)\n            for (int j = 0; j < N; j++) u[k][j] += 1;\n    } else if (omp_is_gpu()) {\n"
                "        int Device = omp_get_gpu();\n        omp_set_default_device(Device);\n%s\n        for (int k = 0; k < N; k++)\n"
                "#pragma omp parallel %s\n            for (int j = 0; j < N; j++) u[k][j] += 1;\n    }\n}\n"
                "int main(void) {\n    for (int z = 0; z < 8; z++) omp_register(mesh[z], sizeof mesh[z]);\n"
                "    for (int step = 0; step < 3; step++) {\n#pragma omp teams num_teams(4:CPU:4, 2:GPU:1)\n"
                "#pragma omp distribute dist_schedule(dynamic)\n        for (int zone = 0; zone < 8; zone++) {\n            omp_migrate(mesh[zone]);\n            stage(mesh[zone]);\n        }\n    }\n"
                "    double sum = 0;\n    for (int z = 0; z < 8; z++) omp_migrate(mesh[z]), sum += mesh[z][3][3];\n"
                '    printf("%%g\\n", sum);\n    return 0;\n}\n')
        right = "for num_threads(omp_get_num_threads())"
        for cores, first, inner, notes in (
                ("num_threads(omp_get_num_threads()) for", "#pragma omp target map(tofrom: u[0:N]) teams\n#pragma distribute", "for", 2),
                (right, "#pragma omp target map(tofrom: u[0:N]) teams\n#pragma distribute", "num_threads(2) for", 1),
                (right, "#pragma omp target teams map(tofrom: u[0:N])\n#pragma omp distribute", "for", 0),
                (right, "#pragma omp target\n#pragma omp teams distribute", "for simd", 0)):
            name = self.write("paper.c", body % (cores, first, inner))
            result = run([COMMAND, "--kernels", "-O2", *SANITIZE, name, "-o", self.path("paper")])
            self.assertEqual((result.returncode, len(re.findall("note: read as (?:omp distribute|parallel for)", result.stderr))), (0, notes), result.stderr)
            for units in ("1:GPU:1", "1:CPU:2", "1:CPU:1,1:GPU:1"):
                self.assertEqual(self.units(self.path("paper"), units, "emulated"), "24\n")

    def test_private_loop_variable(self):
        """private(j) of a variable that an inner loop of the nest declares again."""
        text = ("#include <omp_cu.h>\n#include <stdio.h>\nstatic double u[9][9];\nint main(void) {\n    int j = 5;\n    double s = 1, sum = 0;\n"
                "    omp_register(u, sizeof u);\n#pragma omp teams distribute num_teams(1:CPU:1)\n    for (int z = 0; z < 1; z++)\n"
                "#pragma omp target teams distribute parallel for collapse(2) private(s, j)\n        for (int k = 0; k < 9; k++)\n"
                "            for (int j = 0; j < 9; j++) {\n                s = k - j;\n                u[k][j] = 2 * s * k;\n            }\n"
                "    omp_migrate(u);\n    for (int k = 0; k < 9; k++) sum += u[k][k / 2];\n"
                '    printf("%g %g %d\\n", sum, s, j);\n    return 0;\n}\n')
        result = run([COMMAND, "--kernels", "-O2", *SANITIZE, self.write("private.c", text), "-o", self.path("private")])
        self.assertEqual(result.returncode, 0, result.stderr)
        for units in ("1:GPU:1", "1:CPU:2"):
            self.assertEqual(self.units(self.path("private"), units, "emulated"), "220 1 5\n")

    def test_assertion(self):
        """One that does not hold ends the program, with its place; in what a kernel calls there is none."""
        text = ("#include <assert.h>\n#include <omp_cu.h>\nstatic double u[300];\n%sint main(void) {\n    omp_register(u, sizeof u);\n"
                "#pragma omp teams distribute num_teams(1:CPU:1)\n    for (int z = 0; z < 1; z++) {\n"
                "#pragma omp target teams distribute parallel for\n        for (int i = 0; i < 300; i++) {\n            %s;\n"
                "            u[i] = i;\n        }\n    }\n    return 0;\n}\n")
        program = self.make(self.write("holds.c", text % ("", "assert(i != 299 || u[0] < 0)")), "holds")
        for units in ("1:GPU:1", "1:CPU:1"):
            result = run([program], EVENER_UNITS=units, EVENER_DEVICES="emulated", EVENER_OVERSUBSCRIBE="1")
            self.assertEqual(result.returncode, -6)
            self.assertRegex(result.stderr, r"holds\.c:10: .*i != 299 \|\| u\[0\] < 0")
        program = self.make(self.write("holds.c", text % ("", "assert(i < 300)")), "holds")
        self.assertEqual(self.units(program, "1:GPU:1", "emulated"), "")
        inner = "static double g(double x) {\n    assert(x > 0);\n    return x;\n}\n"
        result = run([COMMAND, "--kernels", "-c", self.write("calls.c", text % (inner, "u[i] = g(i)")), "-o", self.path("calls.o")])
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"calls\.c:5:\d+: error: assert cannot be used in what a kernel calls")

    def test_member_on_a_device(self):
        """A member of registered memory that a device has is not read on the host."""
        text = ("#include <omp_cu.h>\nstruct z { int n; double u[9]; };\nstatic struct z zone;\nstatic void f(struct z *z) {\n"
                "#pragma omp target teams distribute parallel for\n    for (int i = 0; i < 9; i++) z->u[i] = i;\n"
                "#pragma omp target teams distribute parallel for\n    for (int i = 0; i < z->n; i++) z->u[i] += z->n;\n}\n"
                "int main(void) {\n    zone.n = 9;\n    omp_register(&zone, sizeof zone);\n#pragma omp teams distribute num_teams(1:CPU:1)\n"
                "    for (int k = 0; k < 1; k++) f(&zone);\n    omp_migrate(&zone);\n    return zone.u[8] != 17;\n}\n")
        program = self.make(self.write("member.c", text), "member")
        self.assertEqual(self.units(program, "1:CPU:1", "emulated"), "")
        result = run([program], EVENER_UNITS="1:GPU:1", EVENER_DEVICES="emulated", EVENER_OVERSUBSCRIBE="1")
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r'member\.c:7: "z->n" of this loop is in registered memory that is on a device')

    def test_stencil(self):
        name = os.path.join(SOURCE, "examples", "stencil.c")
        with open(name) as file:
            self.assertLessEqual(len(file.readlines()), 80)
        self.same_everywhere(name)

    def test_right_hand_side(self):
        """BT's, against the application's own."""
        libraries = [os.path.join(BUILD, "suite", "apps", *name) for name in (("npbmz", "libnpbmz.a"), ("libcommon.a",))]
        if not all(map(os.path.exists, libraries)) or SANITIZE:
            self.skipTest("without the application's library")
        program = self.make(os.path.join(KERNELS, "bt.c"), "bt", "-I", os.path.join(SOURCE, "suite", "apps"), *libraries)
        for units in ("1:CPU:1", "1:GPU:1"):
            self.assertRegex(self.units(program, units, "emulated"), r": same\n$")

    def test_wrong(self):
        for name, text, line, said in common.wrong("kernels/wrong"):
            with self.subTest(text=text):
                name = self.write(name, text)
                result = run([COMMAND, "--kernels", "-w", "-c", name, "-o", self.path("wrong.o")])
                self.assertEqual(re.findall(r"^\S+:\d+:\d+: .*$", result.stderr, re.M), [f"{name}:{line}{said}"])
                self.assertEqual(result.returncode, 1)
                self.assertFalse(os.path.exists(self.path("wrong.o")))

    def test_what_only_the_compiler_knows(self):
        """Arrays of pointers, and names that are of another type than it seemed."""
        head = "#pragma omp target teams distribute parallel for\n    for (int i = 0; i < n; i++) "
        for text, said in ((f"void f(int n, double **u) {{\n{head}u[i][1] = 0;\n}}\n", "is made of pointers"),
                           (f"void f(int n, double *u[4]) {{\n{head}u[i][1] = 0;\n}}\n", "is made of pointers"),
                           (f"void f(int n, double *u) {{\n    double w = 1;\n    {{\n        __typeof__(1L) w = 2;\n{head}u[i] = w;\n}}\n"
                            "    (void)w;\n}\n", None)):
            name = self.write("types.c", text)
            for compiler in COMPILERS:
                result = run([COMMAND, "--kernels", "-c", name, "-o", name + ".o"], EVENER_CC=compiler)
                self.assertEqual(result.returncode, 1)
                if said:
                    line = text[:text.index("u[i][1]")].count("\n") + 1
                    self.assertRegex(result.stderr, rf'types\.c:{line}:\d+: error: [^\n]*"?u\\?" {said}')
                else:
                    self.assertRegex(result.stderr, r'types\.c:6:\d+: error: [^\n]*w\\?" is not of the type that its nearest')

    def test_no_elements(self):
        """Of an array that is not there a loop takes nothing, also where nothing else is registered."""
        text = ("#include <omp_cu.h>\n#include <stdio.h>\nint main(void) {\n    double s = 0, *none = NULL;\n    int n = 0;\n"
                "#pragma omp teams distribute num_teams(1:CPU:1) reduction(+ : s)\n    for (int k = 0; k < 3; k++) {\n"
                "#pragma omp target teams distribute parallel for map(to : none[1:n]) reduction(+ : s)\n"
                '        for (int i = 0; i < 200; i++) s += n ? none[i] : i;\n    }\n    printf("%g\\n", s);\n    return 0;\n}\n')
        program = self.make(self.write("none.c", text), "none")
        for units in ("1:CPU:1", "1:GPU:1", "1:GPU:2", "1:CPU:1,1:GPU:1"):
            self.assertEqual(self.units(program, units, "emulated"), "59700\n")

    def test_several_sections(self):
        """Two of one array have no common element 0 on a device."""
        text = ("#include <omp_cu.h>\n#include <stdio.h>\nint main(void) {\n    double u[9] = {0}, *p = u;\n%s"
                "#pragma omp teams distribute num_teams(1:CPU:1)\n    for (int k = 0; k < 1; k++)\n"
                "#pragma omp target teams distribute parallel for %s\n        for (int i = 0; i < 9; i++) p[i] += i;\n"
                '%s    printf("%%g %%g\\n", u[2], u[7]);\n    return 0;\n}\n')
        data, two = "#pragma omp target %s data map(%s : p[0:5]) map(%s : p[5:4])\n", "map(tofrom : p[0:5], p[5:4])"
        for parts in (("", two, ""), (data % ("enter", "to", "to"), "", data % ("exit", "from", "from"))):
            program = self.make(self.write("several.c", text % parts), "several")
            self.assertEqual(self.units(program, "1:CPU:1", "emulated"), "2 7\n")
            result = run([program], EVENER_UNITS="1:GPU:1", EVENER_DEVICES="emulated", EVENER_OVERSUBSCRIBE="1")
            self.assertEqual(result.returncode, 1)
            self.assertRegex(result.stderr, r'several\.c:\d: the array "p" of this loop is mapped in several parts; expected')

    def test_not_registered(self):
        text = ("#include <omp_cu.h>\nint main(void) {\n    double v[9], *u = v;\n#pragma omp teams distribute num_teams(1:GPU:1)\n"
                "    for (int k = 0; k < 1; k++) {\n#pragma omp target teams distribute parallel for\n"
                "        for (int i = 0; i < 9; i++) u[i] = i;\n    }\n    return u[1] < 2;\n}\n")
        program = self.make(self.write("not.c", text), "not")
        result = run([program], EVENER_DEVICES="emulated", EVENER_OVERSUBSCRIBE="1")
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r'not\.c:6: the array "u" of this loop is at 0x[0-9a-f]+, in no memory that was registered; omp_register\(\) and map')

    def test_only_when_asked(self):
        """Without --kernels such loops pass untouched, and with it every other file."""
        text = "void f(int n, double *u) {\n#pragma omp target teams distribute parallel for\n    for (int i = 0; i < n; i++) u[i] = i;\n}\n"
        name = self.write("asked.c", text)
        self.assertEqual(self.fine(run([COMMAND, "--source", name])), text)
        self.assertIn("evn_1_kernel(void)", self.fine(run([COMMAND, "--kernels", "--source", name])))
        text = text.replace("target teams distribute ", "")
        name = self.write("other.c", text)
        self.assertEqual(self.fine(run([COMMAND, "--kernels", "--source", name])), text)

    def test_kernel_file(self):
        """NAME.kernel.c on the command line, with a header of its own."""
        self.write("by.h", "#define BY 3\n#define text @\n#define entries @\n")
        self.write("grow.kernel.c", '#include <evener/kernel.h>\n#include "by.h"\n\nEVN_KERNEL(grow, 64, (EVN_BUFFER(double, arena), '
                   "EVN_VALUE(evn_long, at), EVN_VALUE(int, n))) {\n    EVN_ITEMS(i) {\n        const int k = EVN_GROUP * 64 + i;\n"
                   "        if (k < n) arena[at / 8 + k] *= BY;\n    }\n}\n")
        main = self.write("main.c", "#include <omp_cu.h>\n#include <stdio.h>\nextern const evn_kernel_source grow_kernels;\n"
                          "int main(void) {\n    static double u[100];\n    int n = 100;\n    for (int i = 0; i < n; i++) u[i] = i;\n"
                          "    omp_register(u, sizeof u);\n#pragma omp teams distribute num_teams(1:GPU:1)\n"
                          "    for (int k = 0; k < 1; k++) {\n        omp_migrate(u);\n"
                          '        omp_cu_launch(&grow_kernels, "grow", 2, OMP_CU_MEMORY(u), OMP_CU_VALUE(n));\n    }\n'
                          '    omp_migrate(u);\n    printf("%g %g\\n", u[1], u[99]);\n    return 0;\n}\n')
        program = self.make(main, "main", self.path("grow.kernel.c"))
        self.assertEqual(self.units(program, "1:GPU:1", "emulated"), "3 297\n")
        self.assertEqual(self.units(program, "1:GPU:1", "opencl"), "3 297\n")
        name = self.write("none.kernel.c", "#include <evener/kernel.h>\n#include \"nowhere.h\"\n")
        result = run([COMMAND, "-c", name, "-o", name + ".o"])
        self.assertEqual(result.returncode, 1)
        self.assertIn('none.kernel.c:2:1: error: "nowhere.h" is neither beside this file nor in', result.stderr)

    def texts(self, name, *options):
        """What devices' compilers get of each loop of a file."""
        out = self.fine(run([COMMAND, "--kernels", "--source", *options, name]))
        strings = [ast.literal_eval("(" + found + ")") for found in
                   re.findall(r'(?:evn_dialect\[\] =|evn_dialect,)\s((?:\s*"(?:[^"\\]|\\.)*")+)', out)]
        self.assertGreater(len(strings), 1)
        return [strings[0] + text for text in strings[1:]]

    def test_nvrtc(self):
        found = ctypes.util.find_library("nvrtc") or next(iter(sorted(glob.glob("/usr/local/cuda*/lib64/libnvrtc.so*"))), None)
        if not found:
            self.skipTest("no NVRTC")
        nvrtc = ctypes.CDLL(found)
        texts = (self.texts(os.path.join(KERNELS, "forms.c")) +
                 self.texts(os.path.join(KERNELS, "nested.c")) + self.texts(os.path.join(KERNELS, "members.c")) +
                 self.texts(os.path.join(KERNELS, "pointers.c")) +
                 self.texts(os.path.join(KERNELS, "reductions.c")) + self.texts(os.path.join(SOURCE, "examples", "stencil.c")) +
                 self.texts(os.path.join(KERNELS, "bt.c"), "-I", os.path.join(SOURCE, "suite", "apps")))
        self.assertEqual(len(texts), 18)
        options = (ctypes.c_char_p * 3)(b"--gpu-architecture=sm_90", b"--device-as-default-execution-space", b"-DEVN_CONTRACT=0")
        for text in texts:
            program, size = ctypes.c_void_p(), ctypes.c_size_t()
            self.assertEqual(nvrtc.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"loop.cu", 0, None, None), 0)
            status = nvrtc.nvrtcCompileProgram(program, 3, options)
            nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
            log = ctypes.create_string_buffer(size.value)
            nvrtc.nvrtcGetProgramLog(program, log)
            self.assertEqual(status, 0, log.value.decode())
            nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
