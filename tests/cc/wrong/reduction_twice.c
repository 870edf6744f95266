/* 5:38: error: reduction: "s" is in the reduction of line 4, too */
void f(int n, double s, double p) {
    p = 1;
#pragma omp teams distribute num_teams(2:CPU:1) reduction(+ : s) \
    reduction(max : p) reduction(* : s)
    for (int z = 0; z < n; z++) s += z;
}
