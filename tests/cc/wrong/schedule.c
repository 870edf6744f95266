/* 4:63: error: dist_schedule: unknown kind "dynamics", expected static, dynamic, guided:size, guided:time, .. */
void work(int);
void f(int n, int s, int *a, char *text) {
#pragma omp teams distribute num_teams(2:CPU:1) dist_schedule(dynamics)
    for (int z = 0; z < n; z++) work(z);
}
