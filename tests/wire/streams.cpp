// Writes through C++'s streams, which have buffers of their own, and then becomes two processes.
#include <evener.h>
#include <evener/cluster.h>
#include <iostream>

int main() {
    std::ios::sync_with_stdio(false);
    std::cout << "banner\n";
    std::clog << "note\n";
    evn_cluster *cluster;
    if (evn_cluster_open(&cluster, "processes:2")) {
        std::cerr << evn_message() << '\n';
        return 1;
    }
    evn_cluster_close(cluster, EVN_OK);
}
