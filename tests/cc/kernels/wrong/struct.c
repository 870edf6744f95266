/* 5:40: error: "z" is of a type that kernels do not have; they have int, long, float and double */
struct z { int nx; };
void f(int n, double *u, struct z *z) {
#pragma omp target teams distribute parallel for
    for (int i = 0; i < n; i++) u[i] = z->nx;
}
