/* The ranks of a run of the command. */
#include "run/ranks.h"
#include "common/cli/interrupt.h"
#include "common/simd/isa.h"
#include "common/cli/message.h"
#include "common/run/ranks.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

static char complaint[1024];

int ranks_speak(const evn_cluster *cluster) { return !cluster || !evn_cluster_rank(cluster); }
int ranks_speak_alone(void) {
    int speaks;
    evn_cluster_launched(&speaks);
    return speaks;
}

/* Whether it is known with whom this process runs; or that another one says what is wrong. */
static int settled, silent;

void ranks_begin(void) {
    if (evn_cluster_launched(NULL) < 0) return;
    complain_into(complaint, sizeof complaint, !evn_cluster_launched(NULL));
    interrupts_hush(evn_cluster_launched(NULL) > 0);
}

/* Settles messages and interrupts once the ranks are open. */
static void settle(evn_cluster *cluster) {
    settled = 1;
    interrupts_begin(); /* some MPI has put its own handlers in place of ours */
    interrupts_hush(!ranks_speak(cluster));
    /* forked ranks are all told, and end at once, as one process does */
    if (evn_cluster_launched(NULL) >= 0) interrupts_defer_all();
    evn_cluster_stop_on(cluster, &interrupted);
}

int ranks_end(int code) {
    evn_cluster *cluster;
    if (silent) return 0;
    if (settled || evn_cluster_launched(NULL) < 0) return code;
    if (code && *complaint && !evn_cluster_open(&cluster, "auto")) {
        settle(cluster);
        return ranks_leave(cluster, ranks_agree(cluster, code));
    }
    complain_into(NULL, 0, 1);
    if (!code || !*complaint) return code;
    if (!ranks_speak_alone()) return 0;
    char text[sizeof complaint];
    snprintf(text, sizeof text, "%s", complaint);
    complain("%s", text);
    return code;
}

/* There are no ranks: what is wrong is said at once. */
static void speak_alone(void) {
    settled = 1;
    complain_into(NULL, 0, 1);
}

/* MPIs keep what ranks of one host tell each other in /dev/shm. Where that is too small one of them
 * ends with a page that does not say so. */
static void check_shared_memory(void) {
    static const double each = 16 << 20;
    struct statvfs is;
    const char *local = secure_getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
    if (!local) local = secure_getenv("MPI_LOCALNRANKS");
    const double ranks = local ? atof(local) : 1;
    if (evn_cluster_launched(NULL) != 0 || secure_getenv("OMPI_MCA_btl_vader_backing_directory") ||
        statvfs("/dev/shm", &is))
        return;
    const double there = (double)is.f_bavail * (double)is.f_frsize;
    if (there < ranks * each)
        complain("warning: /dev/shm has %.3g MB left and MPI may want %g for %g ranks of this "
                 "host; a larger one (docker run --shm-size=1g), or --processes, which needs none",
                 1e-6 * there, 1e-6 * ranks * each, ranks);
}

static int restarts;
int ranks_restarts(void) { return restarts; }

static int goes_on(const struct rank_words *words) {
    return words->on_loss && strcmp(words->on_loss, "end") != 0;
}

int ranks_check(const struct rank_words *words) {
    const char *what = words->on_loss;
    if (strcmp(what, "end") != 0 && strcmp(what, "restart") != 0 &&
        strcmp(what, "restart:same") != 0)
        complain("--on-rank-loss %s: expected end, restart or restart:same", what);
    else if (goes_on(words) && evn_cluster_launched(NULL) >= 0)
        complain("--on-rank-loss %s: a launcher (mpirun, srun) has started this process, and ends "
                 "the run when a rank is lost; go on with --restart then",
                 what);
    else if (goes_on(words) && !words->processes &&
             (!words->wire || strncmp(words->wire, "processes:", 10) != 0))
        complain("--on-rank-loss %s: only processes that are forked here can be begun anew; "
                 "expected --processes N beside it",
                 what);
    else
        return 0;
    return EXIT_USAGE;
}

/* evn_cluster_open()'s text; to be freed, NULL without memory. */
static char *how(const struct rank_words *words) {
    char *text, number[32];
    snprintf(number, sizeof number, "processes:%ld", words->processes);
    const char *wire = words->processes ? number : words->wire ? words->wire : "auto";
    const char *then = !goes_on(words)                     ? ""
                       : strcmp(words->on_loss, "restart") ? ",restart=same"
                                                           : ",restart=fewer";
    return asprintf(&text, "%s%s", wire, then) < 0 ? NULL : text;
}

int ranks_join(evn_cluster **out, const struct rank_words *words) {
    evn_cluster *cluster;
    char *text = how(words);
    *out = NULL;
    check_shared_memory();
    if (words->processes) interrupts_hold(1);
    evn_status status =
        text ? evn_cluster_open(&cluster, text) : evn_fail(EVN_MEMORY, "not enough memory");
    if (!status) interrupts_hush(evn_cluster_rank(cluster) > 0);
    if (words->processes) interrupts_hold(0);
    free(text);
    if (status == EVN_MISSING) {
        speak_alone();
        silent = !ranks_speak_alone();
        if (silent) return EXIT_USAGE;
    }
    if (status) return give_up(status);
    restarts = evn_cluster_about(cluster).restarts;
    if (evn_cluster_size(cluster) == 1) {
        evn_cluster_close(cluster, EVN_OK);
        speak_alone();
        interrupts_hush(0);
        return 0;
    }
    *out = cluster;
    settle(cluster);
    complain_into(complaint, sizeof complaint, ranks_speak(cluster));
    return ranks_speak(cluster) || freopen("/dev/null", "w", stdout) ? 0 : EXIT_FAILED;
}

static evn_status status_of(int code) {
    switch (code) {
    case 0:
    case EXIT_UNVERIFIED: return EVN_OK;
    case EXIT_USAGE: return EVN_USAGE;
    case EXIT_INTERRUPTED: return EVN_STOPPED;
    default: return EVN_BODY;
    }
}

/* Rank 0 says what all have come to; an interrupt once, which is no failure to know of. */
static int say(const evn_cluster *cluster, int code) {
    static int is_said;
    char text[sizeof complaint];
    snprintf(text, sizeof text, "%s", complaint);
    complain_into(NULL, 0, 1);
    if (ranks_speak(cluster) && *text && !is_said) complain("%s", text);
    is_said |= code == EXIT_INTERRUPTED;
    complain_into(complaint, sizeof complaint, ranks_speak(cluster));
    return code;
}

int ranks_agree(evn_cluster *cluster, int code) {
    if (!cluster) return code;
    /* where all have failed together, all know already */
    if (code > EXIT_UNVERIFIED && evn_cluster_about(cluster).failed) return say(cluster, code);
    evn_status mine = status_of(code);
    if (mine) evn_fail(mine, "%s", *complaint ? complaint : evn_status_text(mine));
    *complaint = 0;
    evn_status status = evn_cluster_agree(cluster, mine);
    if (!status && evn_cluster_about(cluster).stopping)
        status = evn_fail(EVN_STOPPED, "interrupted before the first step");
    if (!status) return code;
    /* the words are a complaint's already */
    snprintf(complaint, sizeof complaint, "%s", evn_message());
    const int worst = status == EVN_BODY      ? EXIT_FAILED
                      : status == EVN_STOPPED ? EXIT_INTERRUPTED
                      : status == EVN_USAGE   ? EXIT_USAGE
                                              : EXIT_FAILED;
    return say(cluster, worst);
}

/* ---- options ---- */

/* Options that each rank has for itself, with their values: 1, 2 where the value is the next word.
 */
static int is_own(const char *word) {
    static const char *const own[] = {"--units", "--devices", "--memory", "--scratch", NULL};
    if (!strcmp(word, "--oversubscribe")) return 1;
    for (const char *const *o = own; *o; o++) {
        const size_t length = strlen(*o);
        if (!strncmp(word, *o, length) && (!word[length] || word[length] == '='))
            return word[length] ? 1 : 2;
    }
    return 0;
}

/* The arguments that are to be the same, one behind the other, with the version in front. */
static void same_words(char *text, size_t size, int argc, char **argv) {
    size_t at = (size_t)snprintf(text, size, "evener %s", EVN_VERSION);
    for (int i = 1; i < argc && at < size; i++) {
        const int own = is_own(argv[i]);
        i += own == 2;
        if (!own) at += (size_t)snprintf(text + at, size - at, " %s", argv[i]);
    }
}

int ranks_compare(evn_cluster *cluster, int argc, char **argv) {
    struct {
        char isa[16], words[2048];
    } mine = {0}, *all = NULL;
    int count;
    if (!cluster) return 0;
    snprintf(mine.isa, sizeof mine.isa, "%s", isa_name());
    same_words(mine.words, sizeof mine.words, argc, argv);
    evn_status status = ranks_share(cluster, &mine, 1, sizeof mine, (void **)&all, &count);
    if (status) return ranks_agree(cluster, give_up(status));
    int code = EXIT_USAGE;
    if (strcmp(mine.words, all->words) != 0)
        complain("this rank was given \"%s\", and rank 0 \"%s\"; all but --units, --devices, "
                 "--memory and --scratch is to be the same",
                 mine.words, all->words);
    else if (strcmp(mine.isa, all->isa) != 0)
        complain("this rank's code is for %s, and rank 0's for %s; set EVENER_ISA to the lower on "
                 "all ranks",
                 mine.isa, all->isa);
    else
        code = 0;
    free(all);
    return ranks_agree(cluster, code);
}

/* Launchers end all ranks as soon as one returns something else than 0, so that rank 0 alone does;
 * all do after an interrupt, since some launchers look at others. */
int ranks_leave(evn_cluster *cluster, int code) {
    if (!cluster) return code;
    const int speaks = ranks_speak(cluster);
    evn_cluster_close(cluster, status_of(code));
    complain_into(NULL, 0, 1);
    return speaks || code == EXIT_INTERRUPTED ? code : 0;
}
