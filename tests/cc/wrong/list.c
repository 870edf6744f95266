/* 4:26: error: num_teams: a list of units belongs to teams or teams distribute; parallel has none */
void f(int n);
void f(int n) {
#pragma omp parallel for num_teams(2:CPU:1)
    for (int z = 0; z < n; z++) f(z);
}
