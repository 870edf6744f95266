/* 4:60: error: reduction: of a kernel there are +, *, min and max of numbers, and &, | and ^ of integers, 8 at most */
void f(int n, double *u) {
    int s = 0;
#pragma omp target teams distribute parallel for reduction(|| : s)
    for (int i = 0; i < n; i++) s = s || u[i] > 0;
    u[0] = s;
}
