/* 5:40: error: "z->kind" is of a type that kernels do not have; they have integers, float and double, and structures of them */
struct z { long double kind; };
void f(int n, double *u, struct z *z) {
#pragma omp target teams distribute parallel for
    for (int i = 0; i < n; i++) u[i] = z->kind + 1;
}
