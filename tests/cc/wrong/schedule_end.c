/* 4:70: error: dist_schedule: expected something behind this comma */
void work(int);
void f(int n, int s, int *a, char *text) {
#pragma omp teams distribute num_teams(2:CPU:1) dist_schedule(dynamic,)
    for (int z = 0; z < n; z++) work(z);
}
