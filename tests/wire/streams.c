/* Writes through C's streams, and then becomes two processes. */
#include <evener.h>
#include <evener/cluster.h>
#include <stdio.h>

int main(void) {
    evn_cluster *cluster;
    FILE *file = tmpfile();
    printf("banner\n");
    if (!file || fprintf(file, "letter") != 6) return 1;
    if (evn_cluster_open(&cluster, "processes:2")) return 1;
    evn_cluster_close(cluster, EVN_OK);
    fflush(file);
    return fseek(file, 0, SEEK_END) || ftell(file) != 6;
}
