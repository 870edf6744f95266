/* 5:21: error: the loop's second part must compare its variable with <, <=, > or >= */
void work(int);
void f(int n, int s, int *a, char *text) {
#pragma omp teams distribute num_teams(2:CPU:1)
    for (int z = 0; z < n && n; z++) work(z);
}
