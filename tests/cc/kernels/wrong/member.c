/* 6:40: error: members cannot be used in a kernel; put it into a variable before the loop */
struct z { int nx; };
void f(int n, double *u, struct z z) {
    double nx = 0;
#pragma omp target teams distribute parallel for
    for (int i = 0; i < n; i++) u[i] = nx.x;
}
