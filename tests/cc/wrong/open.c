/* 4:56: error: this parenthesis is not closed */
void work(int);
void f(int n, int s, int *a, char *text) {
#pragma omp teams distribute num_teams(2:CPU:1) private(n
    for (int z = 0; z < n; z++) work(z);
}
