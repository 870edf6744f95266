/* 4:68: error: dist_schedule: map takes no chunk */
void work(int);
void f(int n, int s, int *a, char *text) {
#pragma omp teams distribute num_teams(2:CPU:1) dist_schedule(map, 4)
    for (int z = 0; z < n; z++) work(z);
}
