/* 4:30: error: teams distribute parallel: write teams distribute, and parallel for in the body */
void work(int);
void f(int n, int s, int *a, char *text) {
#pragma omp teams distribute parallel for num_teams(2:CPU:1)
    for (int z = 0; z < n; z++) work(z);
}
