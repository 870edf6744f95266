/* 6:57: error: key: tasks cannot come and go within a teams block; write teams distribute as one directive */
void work(int);
void f(int n, int *a) {
#pragma omp teams num_teams(2 : CPU : 1)
    {
#pragma omp distribute dist_schedule(dynamic) weight(1) key(a[z])
        for (int z = 0; z < n; z++) work(z);
        work(n);
    }
}
