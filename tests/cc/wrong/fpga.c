/* 4:42: error: num_teams: there are no FPGA units here; expected CPU or GPU */
void work(int);
void f(int n, int s, int *a, char *text) {
#pragma omp teams distribute num_teams(1:FPGA:1)
    for (int z = 0; z < n; z++) work(z);
}
