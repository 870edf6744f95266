/* 5:35: error: expected loop 2 of collapse(2) */
void work(int);
void f(int n, int s, int *a, char *text) {
#pragma omp teams distribute num_teams(2:CPU:1) collapse(2)
    for (int z = 0; z < n; z++) { work(z); }
}
