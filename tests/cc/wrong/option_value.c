/* 4:83: error: dist_schedule: memorize must be 0 or more */
void work(int);
void f(int n, int s, int *a, char *text) {
#pragma omp teams distribute num_teams(2:CPU:1) dist_schedule(dynamic, memorize = -1)
    for (int z = 0; z < n; z++) work(z);
}
