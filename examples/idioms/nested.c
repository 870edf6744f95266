/* Two levels, teams of threads within threads: units of several cores, whose inner regions have the
 * unit's cores. EVENER_UNITS=2:CPU:2 chooses the levels where the program is run. */
#include <stdio.h>

int main(void) {
    enum { ZONES = 12, CELLS = 3000 };
    static double cell[ZONES][CELLS];
    double sum = 0;
#ifdef BEFORE
#    pragma omp parallel for num_threads(2)
#else
#    pragma omp teams distribute num_teams(auto) weight(zone + 1)
#endif
    for (int zone = 0; zone < ZONES; zone++) {
        const int cells = CELLS / ZONES * (zone + 1);
#pragma omp parallel for
        for (int i = 0; i < cells; i++) cell[zone][i] = zone + i * 1e-3;
    }
    for (int zone = 0; zone < ZONES; zone++)
        for (int i = 0; i < CELLS; i++) sum += cell[zone][i];
    printf("%.15g\n", sum);
}
