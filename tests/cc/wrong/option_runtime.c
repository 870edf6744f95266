/* 4:72: error: dist_schedule: runtime takes no options */
void work(int);
void f(int n, int s, int *a, char *text) {
#pragma omp teams distribute num_teams(2:CPU:1) dist_schedule(runtime, chunk = 2)
    for (int z = 0; z < n; z++) work(z);
}
