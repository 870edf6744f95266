/* 5:19: error: one loop variable, please */
void work(int);
void f(int n, int s, int *a, char *text) {
#pragma omp teams distribute num_teams(2:CPU:1)
    for (int z = 0, y = 0; z < n; z++) work(z + y);
}
