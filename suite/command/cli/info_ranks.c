/* Ranks in `evener info`: the host of each, its cores and the reasons, its devices. */
#include "cli/info_ranks.h"
#include "cli/info_cores.h"
#include "common/cli/message.h"
#include "common/run/ranks.h"
#include "run/ranks.h"
#include <stdio.h>
#include <stdlib.h>

void info_cores(const int *core, int count, char *text, size_t size) {
    size_t at = 0;
    *text = '\0';
    for (int i = 0, from; i < count && at < size;) {
        for (from = i++; i < count && core[i] == core[i - 1] + 1;) i++;
        at += (size_t)(i - from > 1
                           ? snprintf(text + at, size - at, "%s%d-%d", from ? " " : "", core[from],
                                      core[i - 1])
                           : snprintf(text + at, size - at, "%s%d", from ? " " : "", core[from]));
    }
}

/* "cuda 2, opencl none, emulated 1" */
static void count_devices(const evn_machine *m, char *text, size_t size) {
    size_t at = 0;
    for (int b = 0; evn_backend_name(b) && at < size; b++) {
        char why[512], number[16] = "none";
        const int count = info_devices(m, evn_backend_name(b), why, sizeof why);
        if (count) snprintf(number, sizeof number, "%d", count);
        at += (size_t)snprintf(text + at, size - at, "%s%s %s", b ? ", " : "", evn_backend_name(b),
                               number);
    }
}

static void describe(struct info_rank *mine, const evn_cluster *cluster, const evn_machine *m) {
    snprintf(mine->host, sizeof mine->host, "%s",
             evn_cluster_host(cluster, evn_cluster_rank(cluster)));
    snprintf(mine->how, sizeof mine->how, "%s", evn_cluster_about(cluster).cores);
    count_devices(m, mine->devices, sizeof mine->devices);
    while (mine->cores < evn_machine_cores(m) && mine->cores < 1024) {
        mine->core[mine->cores] = evn_machine_core_number(m, mine->cores);
        mine->cores++;
    }
}

int info_ranks(evn_cluster *cluster, evn_machine **machine, struct info_rank **all) {
    static struct info_rank mine;
    int ranks;
    *all = NULL;
    evn_status status = evn_cluster_machine(cluster, machine, 0, 1);
    if (status) return give_up(status);
    describe(&mine, cluster, *machine);
    status = ranks_share(cluster, &mine, 1, sizeof mine, (void **)all, &ranks);
    return status ? give_up(status) : 0;
}

void info_print_ranks(const evn_cluster *cluster, const struct info_rank *all) {
    printf("ranks      %d, wire: %s\n", evn_cluster_size(cluster), evn_cluster_about(cluster).wire);
    for (int r = 0; r < evn_cluster_size(cluster); r++) {
        char cores[512];
        info_cores(all[r].core, all[r].cores, cores, sizeof cores);
        printf("           %d on %s: cores %s (%s); devices: %s\n", r, all[r].host, cores,
               all[r].how, all[r].devices);
    }
}

void info_record_ranks(cJSON *root, const evn_cluster *cluster, const struct info_rank *all) {
    cJSON_AddStringToObject(root, "wire", evn_cluster_about(cluster).wire);
    cJSON *list = cJSON_AddArrayToObject(root, "ranks");
    for (int r = 0; r < evn_cluster_size(cluster); r++) {
        cJSON *o = cJSON_CreateObject();
        cJSON_AddStringToObject(o, "host", all[r].host);
        cJSON_AddItemToObject(o, "cores", cJSON_CreateIntArray(all[r].core, all[r].cores));
        cJSON_AddStringToObject(o, "how", all[r].how);
        cJSON_AddStringToObject(o, "devices", all[r].devices);
        cJSON_AddItemToArray(list, o);
    }
}
