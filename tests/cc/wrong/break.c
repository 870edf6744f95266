/* 8:21: error: break leaves the loop over compute units; its iterations run on several units at a time, so none can end the others */
void work(int);
void f(int n, int s, int *a, char *text) {
#pragma omp teams distribute num_teams(2:CPU:1)
    for (int z = 0; z < n; z++) {
        for (;;) break;
        switch (z) { case 1: break; }
        if (z == 3) break;
    }
}
