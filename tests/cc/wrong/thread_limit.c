/* 3:62: error: thread_limit: this must be 1 or more */
void f(int n) {
#pragma omp teams distribute num_teams(2:CPU:1) thread_limit(0)
    for (int z = 0; z < n; z++) n++;
}
