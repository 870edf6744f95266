/* 4:58: error: collapse: expected a number from 1 to 8 */
void work(int);
void f(int n, int s, int *a, char *text) {
#pragma omp teams distribute num_teams(2:CPU:1) collapse(n)
    for (int z = 0; z < n; z++) work(z);
}
