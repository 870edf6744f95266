/* 4:60: error: reduction: of a kernel there is + of doubles only */
void f(int n, double *u) {
    double s = 0;
#pragma omp target teams distribute parallel for reduction(max : s)
    for (int i = 0; i < n; i++) s = s > u[i] ? s : u[i];
    u[0] = s;
}
