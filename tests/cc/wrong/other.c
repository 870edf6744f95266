/* 5:21: error: the loop's second part must compare its variable "z" with a bound */
void work(int);
void f(int n, int s, int *a, char *text) {
#pragma omp teams distribute num_teams(2:CPU:1)
    for (int z = 0; y < n; z++) work(z);
}
