/* 4:47: error: num_teams: a directive names no cores, which are a machine's; set EVENER_UNITS, as to 2:CPU:4@0-7 */
void work(int);
void f(int n, int s, int *a, char *text) {
#pragma omp teams distribute num_teams(2:CPU:4@0-7)
    for (int z = 0; z < n; z++) work(z);
}
