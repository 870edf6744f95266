/* 3:30: error: "num_team" is no clause of teams distribute; did you mean num_teams? */
void f(int n) {
#pragma omp teams distribute num_team(2:CPU:1)
    for (int z = 0; z < n; z++) ;
}
