/* Choice of each rank's cores on its host, from the facts of all ranks there. */
#include "cluster/cores.h"
#include "base/bind.h"
#include "base/claim.h"
#include "base/cpus.h"
#include "base/launched.h"
#include "machine/cores.h"
#include <evener/machine.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- sets ---- */

static int has(const struct cores_set *s, int core) {
    return (int)(s->word[core / 64] >> (core % 64) & 1);
}

static void put(struct cores_set *s, int core) {
    if (core >= 0 && core < CORES_MAX) s->word[core / 64] |= (uint64_t)1 << (core % 64);
}

static void unite(struct cores_set *a, const struct cores_set *b) {
    for (int i = 0; i < CORES_MAX / 64; i++) a->word[i] |= b->word[i];
}

static int same(const struct cores_set *a, const struct cores_set *b) {
    return !memcmp(a, b, sizeof *a);
}

static int overlap(const struct cores_set *a, const struct cores_set *b) {
    for (int i = 0; i < CORES_MAX / 64; i++)
        if (a->word[i] & b->word[i]) return 1;
    return 0;
}

static void take_away(struct cores_set *a, const struct cores_set *b) {
    for (int i = 0; i < CORES_MAX / 64; i++) a->word[i] &= ~b->word[i];
}

static int count_of(const struct cores_set *s) {
    int n = 0;
    for (int i = 0; i < CORES_MAX / 64; i++) n += __builtin_popcountll(s->word[i]);
    return n;
}

/* ---- facts ---- */

static void read_line(char *out, size_t size, const char *path) {
    FILE *f = fopen(path, "r");
    *out = '\0';
    if (!f) return;
    if (!fgets(out, (int)size, f)) *out = '\0';
    out[strcspn(out, "\n")] = '\0';
    fclose(f);
}

/* 1 if the launcher has bound the rank by default, not as the user chose. */
static int may_widen(const struct cores_facts *f) { return f->bound && !f->chosen; }

/* Cores that the kernel gives this thread if it asks for all. */
static void find_given(struct cores_set *given, const evn_machine *whole) {
    struct cpus before, all;
    if (cpus_get(&before)) return;
    memset(&all, 0xff, sizeof all);
    if (cpus_set(0, &all)) return;
    if (!cpus_get(&all))
        for (int i = 0; i < CPUS_MAX; i++)
            if (cpus_have(&all, i)) put(given, machine_core_of(whole, i));
    cpus_set(0, &before);
}

/* Finds the cores that other processes have claimed and, apart, those that this one has, for units
 * opened before: its run's other ranks see these as taken. */
static void find_claims(struct cores_facts *f, const evn_machine *whole) {
    for (int i = 0; i < evn_machine_cores(whole) && i < CORES_MAX; i++) {
        if (evn_machine_core_claimed(whole, i)) put(&f->taken, i);
        if (claim_is_mine(evn_machine_core_number(whole, i))) put(&f->held, i);
    }
}

static int is_set(const char *variable) {
    const char *text = secure_getenv(variable);
    return text && *text && strcmp(text, "0") != 0;
}

evn_status cores_read(struct cores_facts *out, struct cores_host *host) {
    struct cores_facts f;
    memset(&f, 0, sizeof f);
    if (gethostname(f.host, sizeof f.host - 1)) strcpy(f.host, "unknown");
    read_line(f.boot, sizeof f.boot, "/proc/sys/kernel/random/boot_id");
    f.bound = is_set("OMPI_MCA_orte_bound_at_launch");
    f.chosen = secure_getenv("OMPI_MCA_hwloc_base_binding_policy") != NULL;
    evn_machine *whole, *mine = NULL;
    evn_status status = evn_machine_open_within(&whole, NULL, 0);
    if (!status) status = evn_machine_open(&mine);
    if (!status) {
        host->count = evn_machine_cores(whole);
        if (host->count > CORES_MAX) host->count = CORES_MAX;
        for (int i = 0; i < host->count; i++) host->number[i] = evn_machine_core_number(whole, i);
        if (may_widen(&f)) find_given(&f.given, whole);
        for (int i = 0; i < evn_machine_cores(mine); i++) {
            const int number = evn_machine_core_number(mine, i);
            const int core = machine_core_of(whole, number);
            put(&f.mask, core);
            /* a hardware thread of the core that this process may use */
            if (core >= 0 && core < host->count) host->number[core] = number;
        }
        unite(&f.given, &f.mask);
        find_claims(&f, whole);
    }
    evn_machine_close(mine);
    evn_machine_close(whole);
    *out = f;
    return status;
}

int cores_same_host(const struct cores_facts *a, const struct cores_facts *b) {
    return !strcmp(a->host, b->host) && !strcmp(a->boot, b->boot);
}

/* ---- words ---- */

/* "ranks 0 to 3", "ranks 2 and 5", "rank 1". */
static void name_ranks(char *out, size_t size, const int *rank, int count) {
    if (count == 1) {
        snprintf(out, size, "rank %d", rank[0]);
    } else if (rank[count - 1] - rank[0] == count - 1 && count > 2) {
        snprintf(out, size, "ranks %d to %d", rank[0], rank[count - 1]);
    } else {
        size_t n = (size_t)snprintf(out, size, "ranks %d", rank[0]);
        for (int i = 1; i < count && n < size; i++)
            n += (size_t)snprintf(out + n, size - n, "%s%d", i == count - 1 ? " and " : ", ",
                                  rank[i]);
    }
}

static int by_number(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

/* "cores 0-3,8", by the system's numbers. */
static void name_cores(char *out, size_t size, const struct cores_set *s,
                       const struct cores_host *host) {
    int number[CORES_MAX], count = 0;
    for (int i = 0; i < host->count; i++)
        if (has(s, i)) number[count++] = host->number[i];
    qsort(number, (size_t)count, sizeof *number, by_number);
    size_t n = (size_t)snprintf(out, size, "%s",
                                !count       ? "no core"
                                : count == 1 ? "core"
                                             : "cores");
    for (int i = 0, end; i < count && n < size; i = end) {
        for (end = i + 1; end < count && number[end] == number[end - 1] + 1;) end++;
        const char *before = i ? "," : " ";
        n += (size_t)(end - i > 1 ? snprintf(out + n, size - n, "%s%d-%d", before, number[i],
                                             number[end - 1])
                                  : snprintf(out + n, size - n, "%s%d", before, number[i]));
    }
}

/* ---- the decision ---- */

/* The ranks of one host, during the decision. */
struct here {
    int count, me;
    const struct cores_facts **facts;
    struct cores_set *mask; /* cores of each rank, as widened */
    int *rank;              /* a list of ranks, for messages */
};

/* Least number of cores for a rank. */
static int least(const struct cores_facts *f) { return f->wanted > 0 ? f->wanted : 1; }

/* Cores that the ranks with rank i's mask want together, and whether one of them wants all there
 * are. */
static int asked_with(const struct here *h, int i, int *all_there_are) {
    int sum = 0;
    *all_there_are = 0;
    for (int r = 0; r < h->count; r++)
        if (same(&h->mask[r], &h->mask[i])) {
            sum += least(h->facts[r]);
            *all_there_are |= h->facts[r]->wanted <= 0;
        }
    return sum;
}

/* Extends the masks of ranks with a default binding to all cores that the kernel allows, if one of
 * them lacks cores, or wants all cores while some are in no mask. */
static void widen(struct here *h) {
    struct cores_set used = {0}, given = {0};
    int wanted = 0;
    for (int i = 0; i < h->count; i++) unite(&used, &h->mask[i]);
    for (int i = 0; i < h->count; i++) unite(&given, &h->facts[i]->given);
    const int some_idle = count_of(&given) > count_of(&used);
    for (int i = 0; i < h->count; i++) {
        int all_there_are;
        const int sum = asked_with(h, i, &all_there_are);
        if (may_widen(h->facts[i]))
            wanted |= sum > count_of(&h->mask[i]) || (all_there_are && some_idle);
    }
    for (int i = 0; wanted && i < h->count; i++)
        if (may_widen(h->facts[i])) unite(&h->mask[i], &h->facts[i]->given);
}

static evn_status check_overlap(const struct here *h, const struct cores_host *host) {
    for (int i = 0; i < h->count; i++)
        for (int j = i + 1; j < h->count; j++) {
            if (same(&h->mask[i], &h->mask[j]) || !overlap(&h->mask[i], &h->mask[j])) continue;
            char a[200], b[200];
            name_cores(a, sizeof a, &h->mask[i], host);
            name_cores(b, sizeof b, &h->mask[j], host);
            return evn_fail(EVN_USAGE,
                            "units: ranks %d and %d on %s may use %s and %s; bind them to "
                            "different cores or to none (--bind-to none)",
                            h->facts[i]->rank, h->facts[j]->rank, h->facts[i]->host, a, b);
        }
    return EVN_OK;
}

/* The failure that the ranks with rank i's mask want more cores than it has. */
static evn_status too_much(const struct here *h, int i, int sum, const struct cores_host *host) {
    char ranks[200], cores[200];
    int count = 0, chosen = 0;
    for (int r = 0; r < h->count; r++)
        if (same(&h->mask[r], &h->mask[i])) {
            h->rank[count++] = h->facts[r]->rank;
            chosen |= h->facts[r]->bound && h->facts[r]->chosen;
        }
    name_ranks(ranks, sizeof ranks, h->rank, count);
    name_cores(cores, sizeof cores, &h->mask[i], host);
    const int one = count == 1;
    const char *launcher = !chosen && count_of(&h->mask[i]) < host->count ? launched_binding() : "";
    return evn_fail(
        EVN_USAGE,
        "units: %s on %s need%s %d cores%s, and %s %s %s%s%s%s; ask for fewer, %sor " BIND_SHARE,
        ranks, h->facts[i]->host, one ? "s" : "", sum, one ? "" : " together", one ? "it" : "they",
        chosen ? (one ? "was bound to" : "were bound to") : "may use", cores, *launcher ? " (" : "",
        launcher, *launcher ? ")" : "", chosen ? "start without a binding (--bind-to none), " : "");
}

static evn_status check_enough(const struct here *h, const struct cores_host *host) {
    for (int i = 0; i < h->count; i++) {
        int unused;
        const int sum = asked_with(h, i, &unused);
        const int cores = count_of(&h->mask[i]);
        if (!cores || (sum > cores && !h->facts[i]->oversubscribe))
            return too_much(h, i, sum, host);
    }
    return EVN_OK;
}

/* Number of cores for rank r, of `cores` that `ranks` with the same mask share, which want
 * `sum`. */
static int portion(const struct cores_facts *f, int cores, int sum, int autos, int which_auto) {
    if (f->wanted > 0) return f->wanted < cores ? f->wanted : cores;
    const int rest = cores - (sum - autos); /* cores left by ranks that ask for a number */
    if (rest < autos) return 1;
    return rest / autos + (which_auto < rest % autos);
}

/* Lists a mask's cores in the host's order, those that other programs have claimed last. */
static int in_order(int *core, const struct here *h, const struct cores_set *mask,
                    const struct cores_host *host) {
    struct cores_set taken = {0};
    int count = 0;
    for (int r = 0; r < h->count; r++) unite(&taken, &h->facts[r]->taken);
    for (int r = 0; r < h->count; r++) take_away(&taken, &h->facts[r]->held);
    for (int last = 0; last < 2; last++)
        for (int i = 0; i < host->count; i++)
            if (has(mask, i) && has(&taken, i) == last) core[count++] = host->number[i];
    return count;
}

/* Assigns the cores of this rank's mask to the ranks that have it. If they want more cores than
 * there are, assignment starts again from the first core. */
static void deal(struct cores_share *out, const struct here *h, const struct cores_host *host) {
    const struct cores_set *mask = &h->mask[h->me];
    int core[CORES_MAX], autos = 0, seen = 0, at = 0, count = 0, unused;
    const int cores = in_order(core, h, mask, host);
    const int sum = asked_with(h, h->me, &unused);
    for (int r = 0; r < h->count; r++)
        if (same(&h->mask[r], mask)) {
            autos += h->facts[r]->wanted <= 0;
            h->rank[count++] = h->facts[r]->rank;
        }
    const int alone = count == 1; /* a rank without others of its mask takes all that it may use */
    for (int r = 0; r < h->me; r++)
        if (same(&h->mask[r], mask)) {
            at += portion(h->facts[r], cores, sum, autos, seen);
            seen += h->facts[r]->wanted <= 0;
        }
    out->count = alone ? cores : portion(h->facts[h->me], cores, sum, autos, seen);
    for (int i = 0; i < out->count; i++) out->core[i] = core[(at + i) % cores];
    out->crowded = sum > cores;
    out->widened = !same(mask, &h->facts[h->me]->mask);
    char ranks[80];
    name_ranks(ranks, sizeof ranks, h->rank, count);
    if (alone)
        snprintf(out->how, sizeof out->how, "its own%s", out->widened ? ", unbound" : "");
    else
        snprintf(out->how, sizeof out->how, "%d of %d, shared by %s%s%s", out->count, cores, ranks,
                 out->widened ? ", unbound" : "", out->crowded ? ", crowded" : "");
}

evn_status cores_share(struct cores_share *out, const struct cores_facts *all, int ranks, int me,
                       const struct cores_host *host) {
    memset(out, 0, sizeof *out);
    struct here h = {0};
    h.facts = calloc((size_t)ranks, sizeof *h.facts);
    h.mask = calloc((size_t)ranks, sizeof *h.mask);
    h.rank = calloc((size_t)ranks, sizeof *h.rank);
    evn_status status = EVN_OK;
    if (!h.facts || !h.mask || !h.rank)
        status = evn_fail(EVN_MEMORY, "units: not enough memory for the cores of %d ranks", ranks);
    for (int r = 0; !status && r < ranks; r++) {
        if (!cores_same_host(&all[r], &all[me])) continue;
        if (r == me) h.me = h.count;
        h.mask[h.count] = all[r].mask;
        h.facts[h.count++] = &all[r];
    }
    if (!status) widen(&h);
    if (!status) status = check_overlap(&h, host);
    if (!status) status = check_enough(&h, host);
    if (!status) deal(out, &h, host);
    free(h.facts);
    free(h.mask);
    free(h.rank);
    return status;
}

evn_status cores_keep_to(const struct cores_share *share) {
    struct cpus mask = {0};
    enum bind_wish wish;
    evn_status status = bind_read(&wish);
    if (status || (wish == BIND_NONE && !share->widened)) return status;
    for (int i = 0; i < share->count; i++) cpus_add(&mask, share->core[i]);
    if (wish == BIND_NONE) memset(&mask, 0xff, sizeof mask); /* ignores the launcher's binding */
    const int error = cpus_set(0, &mask);
    if (!error) return EVN_OK;
    if (wish == BIND_CORES || wish == BIND_UNIT)
        return evn_fail(EVN_SYSTEM,
                        "units: this rank cannot be bound to its share of the cores: %s; "
                        "EVENER_BIND=auto goes on unbound",
                        strerror(error));
    bind_warn(error);
    return EVN_OK;
}
