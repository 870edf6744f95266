/* 5:28: error: the loop's third part must be variable++, variable-- or variable += step */
void work(int);
void f(int n, int s, int *a, char *text) {
#pragma omp teams distribute num_teams(2:CPU:1)
    for (int z = n; z > 0; z = z - 1 + 2) work(z);
}
