/* The problem as the rooms' parts see it: what tdbem_open() makes and the march uses. */
#pragma once

#include "tdbem/boundary/boundary.h"
#include "tdbem/fast/far.h"
#include "tdbem/incident/incident.h"
#include "tdbem/layout/layout.h"
#include "tdbem/summation/radiation.h"
#include "tdbem/solve/solve.h"
#include "tdbem/layout/stream.h"
#include "tdbem/matrices/near.h"
#include "tdbem/tdbem.h"

enum { WARNINGS = 8 };

struct tdbem {
    tdbem_options options; /* with texts that may be gone: use what is below instead */
    enum solver_kind solver_kind;
    struct layout_options layout_options;
    struct mesh *mesh;
    struct pulse pulse; /* has the signal that the incident waves share */
    int columns;        /* incidences */
    struct incident **column;
    struct incident *incident; /* the first */
    struct boundary *boundary; /* NULL: rigid or soft */
    struct octree *octree;     /* fast method; NULL: plain */
    struct far *far;           /* likewise, once the matrices are made */
    struct layout *layout;
    struct radiation *radiation;
    struct solver *solver;
    int points, inside; /* rows of the layout behind the vertices: given points, inner points */
    double (*point)[3]; /* all of them */
    int asked;          /* points as they were given */
    double (*asked_point)[3];
    int *row;              /* of each of these its number among the given points; -1: in the body */
    struct slices_csr now; /* k = 0 of the points, rows 0 .. points + inside - 1 */
    double *weight;        /* weight of each task */
    tdbem_shape shape;
    double beside; /* the longest edge where facing is found */
    char warning[WARNINGS][256];
    int warnings;
    /* over ranks; alone cluster and what follows are NULL */
    evn_cluster *cluster;
    int over;              /* it was opened over ranks, be it one */
    int me, ranks;         /* alone 0 and 1 */
    int *rank;             /* rank that has each block now */
    struct near *near;     /* near values of this rank's rows, until the radiation stage has them */
    struct making *making; /* what matrices_plan() has begun */
    double told[2]; /* what of the generation was done before the part at hand, and its share */
    char *identity; /* all that the bits depend on, for checkpoints: "key=value ..." */
};

/* Rows of the sums are shared out evenly: the first of a rank's; those of the last one end where
 * rank `ranks` would begin. */
static inline int tdbem_row(const struct tdbem *p, int rank) {
    return evn_crew_begin(p->layout->rows, rank, p->ranks);
}

/* Incident waves: opened once body and step are known, warned of, and in words for a checkpoint. */
evn_status tdbem_open_waves(tdbem *p);
void tdbem_warn_of_waves(tdbem *p);
void tdbem_name_waves(const tdbem *p, char *out, size_t size);

/* Adds to what tdbem_warning() has; the same line once. */
void tdbem_warn(tdbem *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A file that cannot be read is bad input, as long as nothing has been started: EVN_USAGE for
 * EVN_SYSTEM, with the same message; others as they are. */
evn_status tdbem_as_input(evn_status status);
