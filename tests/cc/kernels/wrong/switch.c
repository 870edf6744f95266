/* 5:9: error: switch cannot be used in a kernel */
void f(int n, double *u) {
#pragma omp target teams distribute parallel for
    for (int i = 0; i < n; i++) {
        switch (i) {
        case 1: u[i] = 1;
        }
    }
}
