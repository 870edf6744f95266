/* 4:40: error: num_teams: how many units? expected a number before this */
void work(int);
void f(int n, int s, int *a, char *text) {
#pragma omp teams distribute num_teams(:CPU:4)
    for (int z = 0; z < n; z++) work(z);
}
