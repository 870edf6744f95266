/* 5:10: error: the loop's first part must be variable = first value */
void work(int);
void f(int n, int s, int *a, char *text) {
#pragma omp teams distribute num_teams(2:CPU:1)
    for (; z < n; z++) work(z);
}
