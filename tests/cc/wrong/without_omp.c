/* 3:9: warning: did you mean omp distribute? */
void f(int n) {
#pragma distribute
    for (int z = 0; z < n; z++) {}
}
