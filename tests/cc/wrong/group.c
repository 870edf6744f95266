/* 4:49: error: num_teams: expected COUNT:FAMILY:SIZE as in 4:CPU:4 */
void work(int);
void f(int n, int s, int *a, char *text) {
#pragma omp teams distribute num_teams(4:CPU:4, 2:GPU)
    for (int z = 0; z < n; z++) work(z);
}
