/* Other variables that have the name of the loop's variable, and may be written. */
#include <stdio.h>
#pragma GCC diagnostic ignored "-Wshadow"

struct pair {
    int i, j;
};

int main(void) {
    int seen[6][12] = {{0}}, i, j;
#pragma omp teams distribute num_teams(2 : CPU : 1)
    for (int i = 0; i < 12; i++) {
        seen[0][i]++;
        {
            int j = 1, i;
            for (i = 0; i < 3; i++) j++;
            i = j;
        }
    }
#pragma omp teams distribute num_teams(2 : CPU : 1)
    for (i = 0; i < 12; i++) {
        struct pair p = {.i = 1, .j = i};
        p.i = i, p.j++;
        seen[1][i] = p.i * p.j;
        seen[2][i]++;
    }
#pragma omp teams distribute num_teams(2 : CPU : 1)
    for (j = 0; j < 12; j++) {
        int *i = &seen[4][j], k = -j == j;
        *i = j * !k;
        (void)i;
    }
    for (i = 0; i < 6; i++)
        for (j = 0; j < 12; j++) printf("%d ", seen[i][j]);
    printf("\n");
    return 0;
}
