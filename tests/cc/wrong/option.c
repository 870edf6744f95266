/* 4:75: error: dist_schedule: dynamic has no option "memory"; expected one of: chunk memorize */
void work(int);
void f(int n, int s, int *a, char *text) {
#pragma omp teams distribute num_teams(2:CPU:1) dist_schedule(dynamic, 2, memory = n)
    for (int z = 0; z < n; z++) work(z);
}
