/* Common parts of `evener report`: records as read, groups of comparable records, and the
 * primitives of pages and pictures. Pictures have no fixed width: x is in per cent, so text keeps
 * its size on any screen and on paper, and no script is needed. */
#ifndef TOOL_REPORT_H
#define TOOL_REPORT_H

#include <cjson/cJSON.h>
#include <stdio.h>

/* -- records (report_record.c) -- */

struct report_unit {
    int rank;    /* that has it */
    int gpu;     /* 1: devices with the core that manages them */
    int cores;   /* 0: not bound, the record does not say */
    int devices; /* of a GPU unit */
    int tasks;   /* it owns at the end */
    double weight;
    double compute_s, exchange_s, idle_s; /* over the whole run */
};

struct report_burst {
    double begin, end; /* s */
    int unit, kind;    /* kind: index into report_kind() */
    int task, count, step;
};

/* A rank of a run over several, over the whole of it. */
struct report_rank {
    const char *host;
    double messages, bytes, moved, moved_bytes, wait_s; /* bytes sent; its units' waiting */
};

/* A message between ranks in the last steps. */
struct report_message {
    const char *kind; /* "faces", "parcel", "task" */
    int from, to;
    int task; /* that changes its rank; -1 */
    double bytes, sent, received;
};

/* A stage or phase of a program and its time. */
struct report_part {
    const char *name;
    double seconds;
};

/* Times of a phase's launches on a device. */
struct report_launches {
    int device;
    const char *name;
    double seconds, launches;
};

/* A place in a program, mostly a directive, and all loops that it has opened (evn_name_loop()). */
struct report_site {
    const char *name, *schedule;    /* of the last loop */
    double loops, instances, tasks; /* tasks: of the last loop */
    double seconds, migrations, moved_bytes;
    struct report_unit *unit; /* of the record's units; compute_s, exchange_s and idle_s alone */
};

/* Assignment in one iteration; units entries each, NULL if the record has none. */
struct report_iteration {
    int *tasks;
    double *load;
};

/* A change of a loop's tasks, and of all of them with the name of the loop; "" where there is one.
 */
struct report_change {
    double instance; /* runs of the loop before it */
    double tasks, kept, born, gone, moved, moved_bytes, faces_added, faces_gone, seconds, imbalance;
};
struct report_changes {
    char name[96];
    double instances;
    int count;
    struct report_change *change;
};

/* Processes by threads, of a record of evener model; speedups over one core, 0: not known. */
enum report_speedup {
    SPEEDUP_PREDICTED,
    SPEEDUP_MAP,
    SPEEDUP_EQUATION,
    SPEEDUP_MEASURED,
    SPEEDUPS
};
struct report_choice {
    int cores, processes, threads;
    double speedup[SPEEDUPS];
};

/* A row of a record of evener model in virtual time: a variant on so many nodes, and what a thread
 * does or waits for, in the mean. */
enum { POINT_GROUPS = 4 };
struct report_point {
    const char *variant;
    int gpu, nodes, threads;
    double step_s, speedup, group_s[POINT_GROUPS];
};

/* A record. Strings belong to `json`; missing values are NULL, 0 entries or NaN, as said. */
struct report_record {
    const char *file;
    cJSON *json;
    const char *app, *schedule;
    const char *class_, *noun, *hash, *processor, *command; /* may be NULL */
    int plan;                                               /* of evener plan: no times */
    int verified;                                           /* 1, 0, -1: does not apply */
    double steps, seconds, mops, imbalance;                 /* the last two NaN */
    double compute_s, communication_s;  /* wall time of the periods; NaN: a plan without times */
    double migrations, messages, bytes; /* over the whole run, or NaN */
    double triangles;                   /* of a mesh; NaN */
    char units_text[96];                /* "4:CPU:2,1:GPU:1" */
    int units;
    struct report_unit *unit; /* in a plan tasks and weight alone; NULL: it does not say */
    int ranks;                /* 0: one process; else each has some of the units, in order */
    struct report_rank *rank;
    int messages_shown; /* between ranks, in the last steps */
    struct report_message *message;
    double uncertainty; /* of times of other hosts; 0: all are on one, or it is not known */
    int tasks;
    int *owner;
    int zones[2]; /* 0: not in the record */
    double *width[2];
    int bursts;
    struct report_burst *burst;
    int parts;
    struct report_part *part;
    const char *parts_name; /* "stage" or "phase" */
    int timed;              /* phases of devices, device by device; 0: launches were not timed */
    struct report_launches *launches;
    int iterations;
    struct report_iteration *iteration;
    int sites; /* then there are instances of these, and no steps: `steps` is NaN */
    struct report_site *site;
    int changing; /* loops whose tasks come and go */
    struct report_changes *changes;
    int load_is_weight; /* of iterations; otherwise it is s */
    int choices;        /* of evener model; then there is nothing else but app, class and alpha */
    struct report_choice *choice;
    struct report_point *point; /* choices of these, and no others, in virtual time; else NULL */
    double alpha;
};

/* Reads a record; 0, or an exit status after a message. Free it in any case. */
int report_read(struct report_record *r, const char *file);
/* The same for a record that is not in a file; `name` is for messages. r owns `json` from then on.
 */
int report_take(struct report_record *r, const char *name, cJSON *json);
void report_free(struct report_record *r);

/* The kinds of bursts, `name` as records have it; NULL beyond the last. */
struct report_kind {
    const char *name, *word; /* "compute", "computing" */
    int queue;               /* 1: drawn below its unit, on a line of its own */
};
const struct report_kind *report_kind(int i);

/* Noun of a task of the program: "zone", "slice", "slab". */
const char *report_noun(const struct report_record *r);
/* 1 if there are times of periods; 0 for plans without predicted times. */
int report_timed(const struct report_record *r);
/* Seconds of a step, NaN where there are none. */
double report_step(const struct report_record *r);

/* -- groups (report_group.c) -- */

/* A record and its name among the others of its group. */
struct report_row {
    const struct report_record *record;
    char label[64]; /* the schedule, as short as is unambiguous in the group */
    int alike; /* k > 0: the k-th of several with the same schedule and units; 0: the only one */
};

/* Records of one application and class, fewest units first, then fastest first. */
struct report_group {
    char title[96]; /* "BT-MZ, class W" */
    int rows;
    struct report_row *row;
};

/* All groups, in the order of the records; NULL if there is no memory. */
struct report_group *report_group(const struct report_record *record, int records, int *groups);
void report_group_free(struct report_group *group, int groups);

/* -- text (report_text.c) -- */

/* A page under way. */
struct page {
    FILE *out;
    int figures; /* so far, for unique names */
};

/* printf, but what comes by %s is escaped, so that no text of a record can be markup. */
void put(struct page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A number as a reader wants it, three or four digits and a unit; a dash for NaN. */
struct quantity {
    char text[32];
};
struct quantity seconds_text(double seconds);
struct quantity bytes_text(double bytes);
struct quantity count_text(double count); /* 12,345 */
struct quantity ratio_text(double ratio); /* 1.05x */
struct quantity share_text(double part, double of);

/* The scale of an axis from 0: ticks 0, step, .. that cover `max`. */
double tick_step(double max, int about);

/* -- pictures (report_svg.c) -- */

/* A picture of the width of its place and `height` pixels; `title` is its accessible name,
 * `description` its content. */
void svg_begin(struct page *page, double height, const char *title, const char *description);
void svg_end(struct page *page);
/* The same for pictures whose two directions have one scale: `width` x `height` of its own units,
 * stretched to the width of its place. Close it with svg_end(). */
void svg_begin_scaled(struct page *page, double width, double height, const char *title,
                      const char *description);

/* Places along x in per cent (plus dx pixels), along y in pixels. `tip` may be NULL. */
void svg_box(struct page *page, const char *class_, double x, double y, double width, double height,
             const char *tip);
void svg_line(struct page *page, const char *class_, double x0, double y0, double x1, double y1);
/* An arrow with a head at its end. */
void svg_arrow(struct page *page, const char *class_, double x0, double y0, double x1, double y1,
               const char *tip);
enum anchor { START, MIDDLE, END };
void svg_text(struct page *page, const char *class_, enum anchor anchor, double x, double dx,
              double y, const char *text);

/* The colour of unit, schedule or part i, as classes: "c3 h0"; "c3 h1" and "c3 h2" are hatched,
 * where colours repeat. */
struct quantity colour_class(int i);
enum { COLOURS = 8, HATCHES = 3 };

/* A figure with its caption, and the same numbers as a table that can be opened. */
void figure_begin(struct page *page, const char *caption);
void figure_end(struct page *page);
void figure_table(struct page *page, const char *const *head); /* NULL ends the head */
void figure_table_end(struct page *page);
/* A key to colours: pairs of class and word; NULL ends it. */
void figure_key(struct page *page, const char *const *pair);

/* Bars, one below another, each of several parts (report_bars.c). */
struct bar {
    const char *head;   /* a heading above it; NULL: none */
    const char *label;  /* its name */
    const char *note;   /* at its right end; may be NULL */
    const double *part; /* as many as there are classes */
    const char *tip;    /* may be NULL */
};
/* Draws them, the longest as wide as the picture. `class_` are the colours of the parts; `word`,
 * written into parts that are wide enough, may be NULL. */
void draw_bars(struct page *page, const char *title, const char *description, int bars,
               const struct bar *bar, int parts, const char *const *class_,
               const char *const *word);

/* A line of points (report_plot.c); of x that are alike the last one counts. */
struct line {
    char label[40];
    int dots; /* 1: measured: dots and no line */
    int points;
    double *x, *y;
    double label_y; /* the picture's own */
};
/* A point whose y is above 0. */
void line_add(struct line *line, double x, double y);
/* Lines without points are left out. x, logarithmic, is `along`. */
void draw_plot(struct page *page, const char *caption, const char *description, const char *along,
               struct line *line, int lines);

/* "guided:time on 4:CPU:1", with the file where there are several alike. */
struct sentence {
    char text[320];
};
struct sentence row_name(const struct report_row *row);
/* The schedule alone, with a number where there are several alike. */
struct sentence row_label(const struct report_row *row);
/* "4 units (4:CPU:1)" for the first row of those units; NULL for others. */
const char *row_head(const struct report_group *group, int i, struct sentence *text);

/* Lines of units, one below another, where x is time; over ranks in lanes with heads
 * (report_lanes.c). */
struct lanes {
    const struct report_record *record;
    int units; /* drawn */
    double pitch;
};
double lanes_height(const struct lanes *lanes);
double lane_unit(const struct lanes *lanes, int unit); /* where its line begins */
/* The heads; `busy` are the seconds of each unit, of `length`. */
void lanes_heads(struct page *page, const struct lanes *lanes, double length, const double *busy);
/* The messages that came in a span of time, as arrows; `left` and `scale` make x of it. Returns
 * how many there are, and *drawn of them, which are the first. */
struct span {
    double begin, end, left, scale;
};
int lanes_arrows(struct page *page, const struct lanes *lanes, const struct span *span, int *drawn);

/* -- the pictures, a file each; each is replaced by a sentence if records lack its data -- */
void report_periods(struct page *page, const struct report_group *group);   /* report_periods.c */
void report_parts(struct page *page, const struct report_group *group);     /* report_parts.c */
void report_phases(struct page *page, const struct report_group *group);    /* report_phases.c */
void report_units(struct page *page, const struct report_group *group);     /* report_units.c */
void report_sites(struct page *page, const struct report_group *group);     /* report_sites.c */
void report_ranks(struct page *page, const struct report_group *group);     /* report_ranks.c */
void report_transfers(struct page *page, const struct report_group *group); /* report_transfers.c */
void report_speedups(struct page *page, const struct report_group *group);  /* report_speedup.c */
void report_timelines(struct page *page, const struct report_group *group); /* report_timeline.c */
void report_maps(struct page *page, const struct report_group *group);      /* report_map.c */
void report_changes(struct page *page, const struct report_group *group);   /* report_changes.c */
void report_iterations(struct page *page,
                       const struct report_group *group); /* report_iterations.c */

/* A section of a record of evener model (report_model.c), and of one in virtual time
 * (report_in_time.c). */
void report_model(struct page *page, const struct report_record *record, int number);
void report_in_time(struct page *page, const struct report_record *record, int number);

/* The begin of a page up to its header, which stays open: title and the sentence below it. */
void report_head(struct page *page, const char *title, const char *lead);

/* The whole page (report_page.c); `model`: records of evener model, which are in no group. */
void report_page(FILE *out, const struct report_group *group, int groups,
                 const struct report_record *model, int models);

#endif
