/* Checkpoints of a run, from its beginning to its end. */
#include "common/cli/interrupt.h"
#include "common/checkpoint/checkpoint_io.h"
#include "common/run/ranks.h"
#include "common/run/record.h"
#include "common/checkpoint/state_parts.h"
#include <stdio.h>
#include <string.h>

evn_status states_open(struct states *s) {
    if (s->cluster && evn_cluster_size(s->cluster) == 1) s->cluster = NULL;
    if (!s->files) return EVN_OK;
    evn_status status = state_begin(s);
    if (!status && s->first > s->steps)
        status = evn_fail(EVN_USAGE, "%s: this checkpoint is at step %d, beyond the %d wanted",
                          s->files->restart, s->first, s->steps);
    status = ranks_agreed(s->cluster, status);
    return status ? status : state_try(s);
}

static evn_status stopped(const struct states *s) {
    const char *path = s->files->checkpoint;
    if (s->count && s->step == s->done) return kept_stopped("go on", path);
    if (s->count) {
        evn_fail(EVN_STOPPED, "%s; the state of step %d is in %s", evn_message(), s->step, path);
        return kept_stopped("go on", path);
    }
    if (s->files->restart) return kept_stopped("begin again", s->files->restart);
    return evn_fail(EVN_STOPPED, "%s, and nothing was kept", evn_message());
}

evn_status states_steps(struct states *s, struct timed *timed) {
    const int asks = s->files && s->files->checkpoint;
    if (asks) interrupts_defer(1);
    evn_status status = timed_steps(timed, s->first, s->steps);
    if (asks) interrupts_defer(0);
    return status == EVN_STOPPED && asks ? stopped(s) : status;
}

void states_report(const struct states *s, struct run_result *r) {
    r->restarted = s->from != NULL;
    r->restarted_from = s->first;
    r->checkpoints = s->count;
    r->checkpoint_s = s->seconds;
}

void states_record(const struct state_files *files, const struct run_result *r, cJSON *root) {
    if (r->restarted) cJSON_AddNumberToObject(root, "restarted_from", r->restarted_from);
    if (!files->checkpoint) return;
    cJSON *checkpoints = cJSON_AddObjectToObject(root, "checkpoints");
    cJSON_AddNumberToObject(checkpoints, "count", r->checkpoints);
    record_number(checkpoints, "seconds", r->checkpoint_s);
}
