/* 3:37: note: read as parallel for, which has its clauses behind it */
void f(int n) {
#pragma omp parallel num_threads(4) for
    for (int z = 0; z < n; z++) {}
}
