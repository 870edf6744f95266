/* 4:49: error: "collapze" is no clause of teams distribute; did you mean collapse? */
void work(int);
void f(int n, int s, int *a, char *text) {
#pragma omp teams distribute num_teams(2:CPU:1) collapze(2)
    for (int z = 0; z < n; z++) work(z);
}
