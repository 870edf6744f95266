#!/usr/bin/env python3
"""A program's own CUDA or HIP: a body asks for address and stream, and puts work of its own into it, on a driver that is none.

The work is a copy, asked of the driver itself as a kernel of nvcc's would be launched. Where devices have no addresses there is NULL
and a message, and on cores the memory itself. Run: ctest -R cc-own_kernels, or tests/cc/test_own_kernels.py build/evener-cc FAKE FAKE_HIP [test ..]
"""
import os
import sys
import common
from common import Case, COMPILERS, run

PROGRAM = """#include <omp_cu.h>
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifndef __EVENER_CC__
#    define evn_message() ""
#endif
typedef int copy_in(unsigned long long to, const void *from, size_t bytes, void *stream);
static copy_in *copy;
static double value[4][6];
static const double nine[2] = {90, 91};

/* values 2 and 3 of the zone, wherever it is */
static void work(int z, int access) {
    if (access) omp_migrate_for(value[z], access);
    double *u = omp_cu_pointer(&value[z][2]);
    void *stream = omp_cu_stream();
    if (!u || (omp_is_gpu() && !stream)) {
        fprintf(stderr, "%s\\n", evn_message());
        _exit(3);
    }
    if (omp_is_gpu()) {
        if (u == &value[z][2] || copy((uintptr_t)u, nine, sizeof nine, stream)) _exit(4);
    } else {
        if (u != &value[z][2] || stream) _exit(5);
        u[0] = nine[0];
        u[1] = nine[1];
    }
}

int main(int n, char **word) {
    const int is_hip = getenv("EVENER_DEVICES") && !strcmp(getenv("EVENER_DEVICES"), "hip");
    const char *file = getenv(is_hip ? "EVENER_LIBHIP" : "EVENER_LIBCUDA");
    void *library = file ? dlopen(file, RTLD_NOW) : NULL;
    void *symbol = library ? dlsym(library, is_hip ? "hipMemcpyHtoDAsync" : "cuMemcpyHtoDAsync_v2") : NULL;
    copy = (copy_in *)(uintptr_t)symbol;
    for (int z = 0; z < 4; z++) {
        for (int i = 0; i < 6; i++) value[z][i] = 10 * z + i;
        if (n > 1 && word[1][0] == 'u' && z == 2) continue;
        if (omp_register(value[z], sizeof value[z])) return 1;
    }
    if (omp_cu_pointer(value[1]) != value[1] || omp_cu_stream()) return 2;
#pragma omp teams distribute num_teams(1:CPU:1, 1:GPU:2)
    for (int z = 0; z < 4; z++) {
        if (n > 1 && word[1][0] == 'i') { /* the team, and the leader with it */
            omp_migrate(value[z]);
#pragma omp parallel num_threads(2)
            omp_cu_pointer(value[z]);
        }
        work(z, n > 1 ? 0 : EVN_BOTH);
    }
    for (int z = 0; z < 4; z++) {
        omp_migrate(value[z]);
        for (int i = 0; i < 6; i++) printf("%g ", value[z][i]);
    }
    return 0;
}
"""
EXPECTED = "".join(" ".join(str(x) for x in (10 * z, 10 * z + 1, 90, 91, 10 * z + 4, 10 * z + 5)) + " " for z in range(4))
FAKE, FAKE_HIP = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))


class OwnKernels(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.name = os.path.join(cls.folder, "own.c")
        with open(cls.name, "w") as file:
            file.write(PROGRAM)

    def result(self, *words, units="2:GPU:1", devices="cuda", **more):
        env = {"EVENER_UNITS": units, "EVENER_DEVICES": devices, "EVENER_LIBCUDA": FAKE, "EVENER_NVRTC": FAKE, "EVENER_CACHE": "",
               "EVENER_LIBHIP": FAKE_HIP, "EVENER_HIPRTC": FAKE_HIP, "EVENER_KERNELS": ""}
        return run([self.name[:-2], *words], env=env | more)

    def test_all(self):
        for compiler in COMPILERS:
            self.fine(self.cc(compiler, "-Wall", "-Wextra", "-Werror", self.name, "-o", self.name[:-2], "-ldl"))
            for units in "1:CPU:1", "1:GPU:1", "2:GPU:1", "1:GPU:2", "1:CPU:1,1:GPU:1":
                self.assertEqual(self.fine(self.result(units=units)).stdout, EXPECTED, units)
        # work is late: what the queue has been given before comes before, and after it after
        for dice in "1", "2":
            self.assertEqual(self.fine(self.result(FAKE_CUDA_LATER=dice)).stdout, EXPECTED)
        # HIP's address and stream
        for units in "1:GPU:1", "1:CPU:1,1:GPU:1":
            self.assertEqual(self.fine(self.result(units=units, devices="hip", FAKE_CUDA_LATER="1")).stdout, EXPECTED, units)
        # devices without addresses
        result = self.result(devices="emulated", units="1:GPU:1")
        self.assertEqual((result.returncode, result.stdout), (3, ""))
        self.assertRegex(result.stderr, r"^emulated device \d: its (memory has no addresses|queues are no streams)")
        # what is not here, and who may not ask
        place = f"{self.name}:{PROGRAM[:PROGRAM.index('#pragma omp teams')].count(chr(10)) + 1}: omp_cu_pointer"
        for word, said in ("here", ": 0x[0-9a-f]+ is not here; omp_migrate\\(\\) brings it"), \
                          ("unregistered", ": 0x[0-9a-f]+ is (not here; omp_migrate|in no memory that was registered; omp_register)"), \
                          ("inner", " within a parallel region of a unit; its leader asks before"):
            result = self.result(word, units="1:GPU:1")
            self.assertEqual((result.returncode, result.stdout), (1, ""), result.stderr)
            self.assertRegex(result.stderr, "^" + place + said)

    def test_elsewhere(self):
        """Compiled by another compiler the memory is where it always is."""
        self.fine(run([COMPILERS[0], "-w", "-I" + common.INCLUDE, self.name, "-o", self.name + "-plain", "-ldl"]))
        self.assertEqual(self.fine(run([self.name + "-plain"])).stdout, EXPECTED)
