/* 4:45: error: num_teams: of how many cores or devices? expected a number behind this */
void work(int);
void f(int n, int s, int *a, char *text) {
#pragma omp teams distribute num_teams(4:CPU:)
    for (int z = 0; z < n; z++) work(z);
}
