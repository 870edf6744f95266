/* 4:42: error: num_teams: unknown family "CPUS", expected CPU, GPU or FPGA */
void work(int);
void f(int n, int s, int *a, char *text) {
#pragma omp teams distribute num_teams(4:CPUS:4)
    for (int z = 0; z < n; z++) work(z);
}
