/* 4:76: error: dist_schedule: guided has no option "memorize"; it takes none */
void work(int);
void f(int n, int s, int *a, char *text) {
#pragma omp teams distribute num_teams(2:CPU:1) dist_schedule(guided:size, memorize = 3)
    for (int z = 0; z < n; z++) work(z);
}
