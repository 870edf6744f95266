/* 4:71: error: dist_schedule: the chunk must be 1 or more */
void work(int);
void f(int n, int s, int *a, char *text) {
#pragma omp teams distribute num_teams(2:CPU:1) dist_schedule(static, 0)
    for (int z = 0; z < n; z++) work(z);
}
