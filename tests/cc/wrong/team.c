/* 3:13: warning: did you mean omp teams? */
void f(int n) {
#pragma omp team distribute num_teams(2:CPU:1)
    for (int z = 0; z < n; z++) ;
}
