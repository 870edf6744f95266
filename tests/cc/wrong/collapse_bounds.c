/* 6:29: error: expected loop 2 of collapse(2); its bounds may not use "i" */
void work(int);
void f(int n, int s, int *a, char *text) {
#pragma omp teams distribute num_teams(2:CPU:1) collapse(2)
    for (int i = 0; i < n; i++)
        for (int z = 0; z < i; z++) work(z);
}
