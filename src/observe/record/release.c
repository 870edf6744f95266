/* Results of a loop, given back. */
#include "record/record.h"
#include <stdlib.h>

void record_release(struct recorded_loop *r) {
    free(r->name);
    free(r->schedule);
    free(r->owner);
    free(r->task_s);
    free(r->weight);
    free(r->bytes);
    free(r->link);
    free(r->unit);
    free(r->burst);
    free(r->change);
    *r = (struct recorded_loop){0};
}
