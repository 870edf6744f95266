/* 5:9: error: expected loop 2 of collapse(2) */
void f(int n, double (*u)[4]) {
#pragma omp target teams distribute parallel for collapse(2)
    for (int j = 0; j < n; j++) {
        const double w = j;
        for (int i = 0; i < 4; i++) u[j][i] = w;
    }
}
