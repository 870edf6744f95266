/* 4:62: error: reduction: expected a variable, array sections are not supported */
void work(int);
void f(int n, int s, int *a, char *text) {
#pragma omp teams distribute num_teams(2:CPU:1) reduction(+: a[0:n])
    for (int z = 0; z < n; z++) work(z);
}
