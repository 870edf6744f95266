/* Counts of one-sided puts. */
#include "common/run/put_counts.h"
#include "common/run/ranks.h"
#include "common/run/record.h"
#include <stdlib.h>

static evn_shared_counts add(const evn_shared_counts *a, const evn_shared_counts *b, int sign) {
    return (evn_shared_counts){.puts = a->puts + sign * b->puts,
                               .near_puts = a->near_puts + sign * b->near_puts,
                               .far_puts = a->far_puts + sign * b->far_puts,
                               .bytes = a->bytes + sign * b->bytes,
                               .near_bytes = a->near_bytes + sign * b->near_bytes,
                               .far_bytes = a->far_bytes + sign * b->far_bytes,
                               .signals = a->signals + sign * b->signals};
}

evn_shared_counts puts_between(const evn_shared_counts *before, const evn_shared_counts *after) {
    return add(after, before, -1);
}

evn_shared_counts puts_sum(const evn_shared_counts *a, const evn_shared_counts *b) {
    return add(a, b, 1);
}

evn_status puts_of_ranks(evn_cluster *cluster, const evn_shared_counts *mine,
                         evn_shared_counts *sum) {
    evn_shared_counts *all;
    int ranks;
    evn_status status = ranks_share(cluster, mine, 1, sizeof *mine, (void **)&all, &ranks);
    *sum = (evn_shared_counts){0};
    for (int r = 0; !status && r < ranks; r++) *sum = puts_sum(sum, &all[r]);
    free(all);
    return status;
}

void puts_record(cJSON *root, const evn_shared_counts *puts) {
    cJSON *o = cJSON_AddObjectToObject(root, "puts");
    cJSON_AddNumberToObject(o, "count", (double)puts->puts);
    record_number(o, "bytes", puts->bytes);
    cJSON_AddNumberToObject(o, "same_node", (double)puts->near_puts);
    cJSON_AddNumberToObject(o, "remote", (double)puts->far_puts);
}
