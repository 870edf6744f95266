/* 5:23: error: goto cannot be used in a kernel */
void f(int n, double *u) {
#pragma omp target teams distribute parallel for
    for (int i = 0; i < n; i++) {
        if (u[i] > 0) goto end;
        u[i] = 1;
    }
end:;
}
