/* The parts that all records share. */
#include "base/argument.h"
#include "record/parts.h"
#include "record/wake.h"
#include "base/gate.h"
#include "trace/json.h"
#include <evener/record.h>
#include <math.h>

void put_key(FILE *out, const char *key) { fprintf(out, ", \"%s\": ", key); }

void put(FILE *out, const char *key, double value) {
    put_key(out, key);
    json_number(out, value);
}

void put_seconds(FILE *out, const char *key, double value) { put(out, key, fmax(0, value)); }

void put_text(FILE *out, const char *key, const char *text) {
    put_key(out, key);
    json_text(out, text);
}

/* ---- units --------------------------------------------------------------------------------- */

void put_unit_description(FILE *out, const evn_recorded_unit *u) {
    const char *between = "";
    fprintf(out, "{\"id\": %d", u->id);
    if (u->rank >= 0) put(out, "rank", u->rank);
    if (u->rank >= 0) put_text(out, "host", u->host);
    fprintf(out, ", \"kind\": \"%s\", \"cores\": [", u->gpu ? "gpu" : "cpu");
    for (int k = 0; k < u->cores; k++) {
        if (u->core[k] < 0) continue;
        fprintf(out, "%s%d", between, u->core[k]);
        between = ", ";
    }
    fputc(']', out);
    put(out, "threads", u->cores);
    put_text(out, "binding", u->binding);
    put_text(out, "device", u->device);
    if (u->speed > 0) put(out, "speed", u->speed);
    put(out, "taken", u->taken);
}

void put_unit_numbers(FILE *out, int tasks, double weight, const evn_unit_stats *stats) {
    put(out, "tasks", tasks);
    put(out, "weight", weight);
    put_seconds(out, "compute_s", stats->compute_s);
    put_seconds(out, "exchange_s", stats->exchange_s);
    put_seconds(out, "idle_s", stats->idle_s);
    put(out, "bytes_in", stats->bytes_in);
    put(out, "bytes_out", stats->bytes_out);
}

void evn_record_unit(FILE *out, const evn_recorded_unit *u) {
    NEED_OR(, out, "a file");
    NEED_OR(, u, "a unit");
    put_unit_description(out, u);
    put_unit_numbers(out, u->tasks, u->weight, &u->stats);
    fputc('}', out);
}

/* ---- sums ---------------------------------------------------------------------------------- */

void evn_record_transfers(FILE *out, const evn_loop_totals *t, int ranks) {
    NEED_OR(, out, "a file");
    NEED_OR(, t, "a loop's totals");
    fprintf(out, "{\"migrations\": %lld, \"messages\": %lld", t->migrations, t->messages);
    put(out, "bytes", t->bytes);
    fprintf(out, ", \"copies\": %lld, \"moved_regions\": %lld", t->copies, t->brought);
    put(out, "moved_bytes", t->brought_bytes);
    fprintf(out, ", \"stolen\": %lld", t->stolen);
    if (ranks > 1) {
        fprintf(out, ", \"rank_messages\": %lld", t->rank_messages);
        put(out, "rank_bytes", t->rank_bytes);
        fprintf(out, ", \"moved_between_ranks\": %lld", t->moved);
        put(out, "moved_bytes_between_ranks", t->moved_bytes);
    }
    fputc('}', out);
}

void evn_record_changes(FILE *out, const evn_changed *change, int changes) {
    NEED_OR(, out, "a file");
    NEED_OR(, change || changes <= 0, "changes");
    fputc('[', out);
    for (int i = 0; i < changes; i++) {
        fputs(i ? ",\n  {" : "{", out);
        json_change(out, &change[i]);
        fputc('}', out);
    }
    fputc(']', out);
}

void evn_record_periods(FILE *out, double compute, double communication,
                        const evn_loop_medians *m) {
    NEED_OR(, out, "a file");
    fputs("{\"compute_s\": ", out);
    json_number(out, compute);
    put(out, "communication_s", communication);
    if (m) {
        put(out, "step_s", m->step_s);
        put(out, "beside_s", m->beside_s);
        put(out, "idle_s", m->idle_s);
        put(out, "task_s", m->task_s);
    }
    fputc('}', out);
}

/* ---- devices ------------------------------------------------------------------------------- */

void put_device_counts(FILE *out, const evn_counts *c) {
    fprintf(out,
            "\"launches\": %lld, \"copies_in\": %lld, \"copies_out\": %lld, \"copies_peer\": %lld, "
            "\"bytes_in\": %lld, \"bytes_out\": %lld, \"bytes_peer\": %lld, \"waits\": %lld",
            c->launches, c->copies_in, c->copies_out, c->copies_peer, c->bytes_in, c->bytes_out,
            c->bytes_peer, c->waits);
}

void evn_record_device(FILE *out, int id, const evn_counts *c, const evn_device_phase *phase,
                       int phases) {
    NEED_OR(, out, "a file");
    NEED_OR(, c, "a device's counts");
    fprintf(out, "{\"id\": %d, ", id);
    put_device_counts(out, c);
    if (phase) fputs(", \"phases\": {", out);
    for (int i = 0; phase && i < phases; i++) {
        fputs(i ? ", " : "", out);
        json_text(out, phase[i].name);
        fputs(": {\"seconds\": ", out);
        json_number(out, phase[i].seconds);
        fprintf(out, ", \"launches\": %lld}", (long long)phase[i].launches);
    }
    fputs(phase ? "}}" : "}", out);
}

/* ---- machines ------------------------------------------------------------------------------ */

static void put_kinds(FILE *out, const evn_machine *m) {
    put_key(out, "kinds");
    for (int k = 0; k < evn_machine_about(m).kinds; k++) {
        const evn_core_kind *kind = evn_machine_kind(m, k);
        fputs(k ? ", {\"name\": " : "[{\"name\": ", out);
        json_text(out, kind->name);
        put(out, "cores", kind->cores);
        put(out, "frequency", kind->frequency);
        put(out, "speed", kind->speed);
        fputc('}', out);
    }
    fputc(']', out);
}

static void put_parts(FILE *out, const evn_machine *m) {
    put_key(out, "parts");
    for (int i = 0; i < evn_machine_about(m).parts; i++) {
        const evn_part *part = evn_machine_part(m, i);
        fputs(i ? ", {\"cores\": [" : "[{\"cores\": [", out);
        for (int c = 0; c < part->cores; c++)
            fprintf(out, "%s%d", c ? ", " : "", evn_machine_core_number(m, part->first + c));
        fputc(']', out);
        put(out, "kind", part->kind);
        put(out, "package", part->package);
        put(out, "threads", part->threads);
        put(out, "l3", (double)part->cache);
        fputc('}', out);
    }
    fputc(']', out);
}

void evn_record_machine(FILE *out, const evn_machine *m) {
    NEED_OR(, out, "a file");
    NEED_OR(, m, "a machine");
    const evn_machine_info about = evn_machine_about(m);
    fputs("{\"processor\": ", out);
    json_text(out, about.processor);
    put(out, "cores", evn_machine_cores(m));
    put(out, "packages", about.packages);
    put(out, "numa_nodes", about.numa_nodes);
    put(out, "memory", (double)about.memory);
    for (int level = 1; level <= 3; level++) {
        char key[16];
        snprintf(key, sizeof key, "l%d", level);
        put(out, key, (double)evn_machine_cache(m, level, NULL));
    }
    put(out, "node_cores", about.node);
    put(out, "allowed_cores", about.allowed);
    put(out, "quota", about.quota);
    double call; /* of the one that wakes a unit which has been idle for longer than spin_s */
    put(out, "wake_s", record_wake(m, &call));
    put(out, "wake_call_s", call);
    put(out, "spin_s", GATE_SPIN);
    put_kinds(out, m);
    put_parts(out, m);
    fputc('}', out);
}
