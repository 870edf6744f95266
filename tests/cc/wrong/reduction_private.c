/* 3:66: error: reduction: "s" is in the private of line 3, too */
void f(int n, double s) {
#pragma omp teams distribute num_teams(2:CPU:1) reduction(+ : n, s) private(s)
    for (int z = 0; z < 9; z++) s += z;
}
