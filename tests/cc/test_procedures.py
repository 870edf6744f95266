#!/usr/bin/env python3
"""Procedures in Fortran that a program with directives calls: they bring data, ask where they are, and copy what tasks exchange.

Run: ctest -R cc-procedures, or tests/cc/test_procedures.py build/evener-cc [test ..]     skipped without gfortran
"""
import os
import shutil
import unittest
import common
from common import Case, INCLUDE, run

MAIN = """#include <omp_cu.h>
#include <stdio.h>
void bring(double *zone), exchange(double *left, double *right, int n);
int main(void) {
    double zone[2][6];
    for (int z = 0; z < 2; z++) {
        for (int i = 0; i < 6; i++) zone[z][i] = 10 * z + i;
        if (omp_register(zone[z], sizeof zone[z])) return 1;
    }
#pragma omp teams distribute num_teams(1:CPU:1, 1:GPU:1)
    for (int z = 0; z < 2; z++) bring(zone[z]);
    printf("%d\\n", omp_is_device(omp_get_data_placement(zone[0])) + omp_is_device(omp_get_data_placement(zone[1])));
    exchange(zone[0], zone[1], 6);
    for (int z = 0; z < 2; z++) {
        omp_migrate(zone[z]);
        for (int i = 0; i < 6; i++) printf("%g ", zone[z][i]);
        omp_unregister(zone[z]);
    }
    return 0;
}
"""
PART = """subroutine bring(zone) bind(c)
    use, intrinsic :: iso_c_binding
    use omp_cu
    implicit none
    real(c_double), target :: zone(*)
    call omp_migrate(c_loc(zone))
end subroutine

! the last value but one of each becomes the other's first or last
subroutine exchange(left, right, n) bind(c)
    use, intrinsic :: iso_c_binding
    use omp_cu
    implicit none
    integer(c_int), value :: n
    real(c_double), target :: left(n), right(n)
    call omp_cu_copy(c_loc(right(1)), c_loc(left(n - 1)), 8_c_size_t)
    call omp_cu_copy(c_loc(left(n)), c_loc(right(2)), 8_c_size_t)
end subroutine
"""


@unittest.skipUnless(shutil.which("gfortran") and shutil.which("gcc"), "no gfortran, or another compiler for C")
class Procedures(Case):
    def test_copy(self):
        """The exchange is the same with both zones on the host, one on a device, and both on devices."""
        for name, text in ("main.c", MAIN), ("part.f90", PART):
            with open(os.path.join(self.folder, name), "w") as file:
                file.write(text)
        module = os.path.join(INCLUDE, "evener", "fortran", "omp_cu.f90")
        for source in module, "part.f90":
            self.fine(run(["gfortran", "-Wall", "-Wextra", "-fopenmp", "-c", source], cwd=self.folder))
        self.fine(self.cc("gcc", "main.c", "omp_cu.o", "part.o", "-o", "main", cwd=self.folder))
        for units, on_devices in ("1:CPU:1", 0), ("1:CPU:1,1:GPU:1", 1), ("2:GPU:1", 2), ("1:GPU:1", 2):
            got = self.fine(run([os.path.join(self.folder, "main")], env={"EVENER_UNITS": units})).stdout
            self.assertEqual(got, f"{on_devices}\n0 1 2 3 4 11 4 11 12 13 14 15 ", units)


if __name__ == "__main__":
    common.main()
