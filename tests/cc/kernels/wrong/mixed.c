/* 7:9: error: "p" points to the body's own variables in one place and to arrays from outside of the loop in another */
void f(int n, double *u) {
#pragma omp target teams distribute parallel for
    for (int i = 0; i < n; i++) {
        double w = i, *p;
        p = &w;
        p = &u[i];
        *p = 1;
    }
}
