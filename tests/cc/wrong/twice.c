/* 5:24: error: num_teams: given twice; the first one is in line 4 */
void work(int);
void f(int n, int s, int *a, char *text) {
#pragma omp teams num_teams(1:CPU:1)
#pragma omp distribute num_teams(2:CPU:1)
    for (int z = 0; z < n; z++) work(z);
}
