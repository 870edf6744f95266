/* 5:32: error: the end of this loop's body cannot be found */
void work(int);
void f(int n, int s, int *a, char *text) {
#pragma omp teams distribute num_teams(2:CPU:1)
    for (int z = 0; z < n; z++) work(z)
}
