/* 6:1: error: teams within the teams of line 4 */
void work(int);
void f(int n, int s, int *a, char *text) {
#pragma omp teams distribute num_teams(2:CPU:1)
    for (int i = 0; i < n; i++) {
#pragma omp teams distribute num_teams(2:CPU:1)
    for (int z = 0; z < n; z++) work(z);
    }
}
