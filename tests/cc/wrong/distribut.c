/* 4:19: error: "distribut" is no clause of teams; did you mean distribute? */
void work(int);
void f(int n, int s, int *a, char *text) {
#pragma omp teams distribut num_teams(2:CPU:1)
    for (int z = 0; z < n; z++) work(z);
}
