/* Verification: the published values of all classes, nominal operations, and NPB's way to print
 * them. */
#include "npbmz/host/verify.h"

#include "npbmz/mesh/mesh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* NAS-03-010, section 4, and the values published with the benchmarks: residual norms, error norms
 * and, for LU, the surface integral. Class F has a second official run, a short one; it comes after
 * the full one. */
static const struct official {
    enum npbmz_benchmark benchmark;
    char class_;
    int steps;
    double value[FIGURES];
} official[] = {
    /* clang-format off */
    {NPBMZ_BT, 'S', 60,
     {1.047687395830e3, 9.419911314792e1, 2.124737403068e2, 1.422173591794e2, 1.135441572375e3,
      1.775416062982e2, 1.875540250835e1, 3.863334844506e1, 2.634713890362e1, 1.965566269675e2}},
    {NPBMZ_BT, 'W', 200,
     {5.562611195402e4, 5.151404119932e3, 1.080453907954e4, 6.576058591929e3, 4.528609293561e4,
      7.185154786403e3, 7.040472738068e2, 1.437035074443e3, 8.570666307849e2, 5.991235147368e3}},
    {NPBMZ_BT, 'A', 200,
     {5.536703889522e4, 5.077835038405e3, 1.067391361067e4, 6.441179694972e3, 4.371926324069e4,
      6.716797714343e3, 6.512687902160e2, 1.332930740128e3, 7.848302089180e2, 5.429053878818e3}},
    {NPBMZ_BT, 'B', 200,
     {4.461388343844e5, 3.799759138035e4, 8.383296623970e4, 5.301970201273e4, 3.618106851311e5,
      4.496733567600e4, 3.892068540524e3, 8.763825844217e3, 5.599040091792e3, 4.082652045598e4}},
    {NPBMZ_BT, 'C', 200,
     {3.457703287806e6, 3.213621375929e5, 7.002579656870e5, 4.517459627471e5, 2.818715870791e6,
      2.059106993570e5, 1.680761129461e4, 4.080731640795e4, 2.836541076778e4, 2.136807610771e5}},
    {NPBMZ_BT, 'D', 250,
     {4.250417034981e7, 4.293882192175e6, 9.121841878270e6, 6.201357771439e6, 3.474801891304e7,
      9.462418484583e5, 7.884728947105e4, 1.902874461259e5, 1.361858029909e5, 9.816489456253e5}},
    {NPBMZ_BT, 'E', 250,
     {5.744815962469e8, 6.088696479719e7, 1.276325224438e8, 8.947040105616e7, 4.726115284807e8,
      4.114447054461e6, 3.570776728190e5, 8.465106191458e5, 6.147182273817e5, 4.238908025163e6}},
    {NPBMZ_BT, 'F', 250,
     {6.524078317845e9, 7.020439279514e8, 1.467588422194e9, 1.042973064137e9, 5.411102201141e9,
      1.708795375347e7, 1.514359936802e6, 3.552878359250e6, 2.594549582184e6, 1.749809607845e7}},
    {NPBMZ_BT, 'F', 25,
     {3.565049484400e10, 3.752029586145e9, 7.805935552197e9, 5.685995438056e9, 2.908811276266e10,
      1.805995755490e7, 1.632306899424e6, 3.778610439036e6, 2.749319818549e6, 1.814401049296e7}},
    {NPBMZ_SP, 'S', 100,
     {7.698876173566e0, 1.517766790280e0, 2.686805141546e0, 1.893688083690e0, 1.369739859738e1,
      9.566808043467e0, 3.894109553741e0, 4.516022447464e0, 4.099103995615e0, 7.776038881521e0}},
    {NPBMZ_SP, 'W', 400,
     {1.887636218359e2, 1.489637963542e1, 4.851711701400e1, 3.384633608154e1, 4.036632495857e2,
      2.975895149929e1, 1.341508175806e1, 1.585310846491e1, 1.450916426713e1, 5.854137431023e1}},
    {NPBMZ_SP, 'A', 400,
     {2.800097900548e2, 2.268349014438e1, 7.000852739901e1, 5.000771004061e1, 5.552068537578e2,
      3.112046666578e1, 1.172197785348e1, 1.486616708032e1, 1.313680576292e1, 7.365834058154e1}},
    {NPBMZ_SP, 'B', 400,
     {5.190422977921e3, 3.655458539065e2, 1.261126592633e3, 1.002038338842e3, 1.075902511165e4,
      5.469182054223e2, 4.983658028989e1, 1.418301776602e2, 1.097717156175e2, 1.260195162174e3}},
    {NPBMZ_SP, 'C', 400,
     {5.886814493676e4, 3.967324375474e3, 1.444126529019e4, 1.210582211196e4, 1.278941567976e5,
      6.414069213021e3, 4.069468353404e2, 1.585311908719e3, 1.270243185759e3, 1.441398372869e4}},
    {NPBMZ_SP, 'D', 500,
     {7.650595424723e5, 5.111519817683e4, 1.857213937602e5, 1.624096784059e5, 1.642416844328e6,
      8.169589578340e4, 5.252150843148e3, 1.984739188642e4, 1.662852404547e4, 1.761381855235e5}},
    {NPBMZ_SP, 'E', 500,
     {5.058298119039e6, 3.576837494299e5, 1.230856227329e6, 1.093895671677e6, 1.073671658903e7,
      5.288293042051e5, 3.471875724140e4, 1.282998930808e5, 1.095483394612e5, 1.129716454231e6}},
    {NPBMZ_SP, 'F', 500,
     {3.974469160412e7, 3.260760921834e6, 9.756215393494e6, 8.278472138497e6, 7.547269314441e7,
      3.475757666334e6, 2.386799228183e5, 8.436705443034e5, 7.339112115118e5, 7.327832757877e6}},
    {NPBMZ_SP, 'F', 50,
     {3.198801286787e8, 3.435698123358e7, 8.489831174901e7, 6.940707552477e7, 4.478684103255e8,
      6.761099692230e6, 5.361561494769e5, 1.662878706114e6, 1.443852092060e6, 1.260678700480e7}},
    {NPBMZ_LU, 'S', 50,
     {3.778579699366e0, 3.120418698065e-1, 8.386213407018e-1, 4.452165980488e-1, 7.808656756434e0,
      2.429480066305e1, 9.072817470024e0, 1.032621825644e1, 9.256791727838e0, 1.639045777714e1,
      4.964435445706e1}},
    {NPBMZ_LU, 'W', 300,
     {8.285060230339e2, 5.753415004693e1, 2.023477570531e2, 1.586275182502e2, 1.733925947816e3,
      7.514670702651e1, 9.776687033238e0, 2.141754291209e1, 1.685405918675e1, 1.856944519722e2,
      3.781055348911e2}},
    {NPBMZ_LU, 'A', 250,
     {1.131574877175e3, 7.965206944742e1, 2.705587159526e2, 2.129567530746e2, 2.260584655432e3,
      1.115694885382e2, 1.089257673798e1, 2.905379922066e1, 2.216126755530e1, 2.501762341026e2,
      5.904992211511e2}},
    {NPBMZ_LU, 'B', 250,
     {1.734656959567e4, 1.238977748533e3, 4.123885357100e3, 3.613705834056e3, 3.531187871586e4,
      1.781612313296e3, 1.177971120769e2, 4.233792871440e2, 3.577260438230e2, 3.659958544012e3,
      6.107041476456e3}},
    {NPBMZ_LU, 'C', 250,
     {4.108743427233e4, 3.439004802235e3, 9.961331392486e3, 8.321426758084e3, 7.463792419218e4,
      3.429276307955e3, 2.336680861825e2, 8.216363109621e2, 7.143809828225e2, 7.057470798773e3,
      1.125826349653e4}},
    {NPBMZ_LU, 'D', 300,
     {3.282253166388e5, 3.490781637713e4, 8.610311978292e4, 7.004896022603e4, 4.546838584391e5,
      6.620775619126e3, 5.229798207352e2, 1.620218261697e3, 1.404783445006e3, 1.222629805121e4,
      2.059421629621e4}},
    {NPBMZ_LU, 'E', 300,
     {1.539988626779e6, 1.742224758490e5, 4.153598861059e5, 3.468381400447e5, 2.054406022038e6,
      8.021145134635e3, 6.932079823791e2, 1.998959591111e3, 1.725962639357e3, 1.389447024442e4,
      2.334131124791e4}},
    {NPBMZ_LU, 'F', 300,
     {7.116424271317e6, 8.159357680842e5, 1.930561069782e6, 1.633447037519e6, 9.417323380798e6,
      8.648720989200e3, 7.774221260694e2, 2.175462599498e3, 1.875280641999e3, 1.457903413233e4,
      2.448986519022e4}},
    {NPBMZ_LU, 'F', 30,
     {3.814950058736e7, 4.280439009977e6, 1.016353864923e7, 8.627208852987e6, 5.024448179760e7,
      8.903253221139e3, 8.129462858441e2, 2.248648703838e3, 1.937258920446e3, 1.485251162647e4,
      2.792087395236e4}},
    /* clang-format on */
};
enum { OFFICIAL = sizeof official / sizeof official[0] };

static const double tolerance = 1e-8; /* relative tolerance of each figure, and of the time step */

int verify(const struct problem *p, int steps, int perturbed, const struct norms *n,
           struct verification *v) {
    memset(v, 0, sizeof *v);
    v->verdict = -1;
    v->figures = p->benchmark == NPBMZ_LU ? FIGURES : FIGURES - 1;
    memcpy(v->value, n->residual, sizeof n->residual);
    memcpy(v->value + NC, n->error, sizeof n->error);
    v->value[2 * NC] = n->surface;

    struct problem own; /* the problem as its class has it */
    if (perturbed || problem_class(&own, p->benchmark, p->class_)) return v->verdict;
    const struct official *o = NULL;
    for (int r = 0; r < OFFICIAL; r++)
        if (official[r].benchmark == p->benchmark && official[r].class_ == p->class_ &&
            (!o || official[r].steps == steps))
            o = &official[r];
    if (!o) return v->verdict;

    v->compared = 1;
    v->steps_reference = o->steps;
    v->steps_match = steps == o->steps;
    v->dt_reference = own.dt;
    v->dt_matches = fabs(p->dt - own.dt) <= tolerance;
    int all = 1;
    for (int f = 0; f < v->figures; f++) {
        v->reference[f] = o->value[f];
        v->difference[f] = fabs((v->value[f] - o->value[f]) / o->value[f]);
        v->within[f] = isfinite(v->difference[f]) && v->difference[f] <= tolerance;
        all = all && v->within[f];
    }
    if (v->steps_match && v->dt_matches) v->verdict = all;
    return v->verdict;
}

int verify_run(const struct problem *p, int steps, const struct norms *n) {
    struct verification v;
    return verify(p, steps, 0, n, &v);
}

double problem_mop(const struct problem *p) {
    double sum = 0;
    for (int n = 0; n < p->zones; n++) {
        double x = p->zone[n].nx, y = p->zone[n].ny, z = p->zone[n].nz;
        double volume = x * y * z, face = (x * y + x * z + y * z) / 3, edge = (x + y + z) / 3;
        switch (p->benchmark) {
        case NPBMZ_BT: sum += 3478.8 * volume - 17655.7 * face + 28023.7 * edge; break;
        case NPBMZ_SP: sum += 881.174 * volume - 4683.91 * face + 11484.5 * edge - 19272.4; break;
        case NPBMZ_LU: sum += 1984.77 * volume - 10923.3 * face + 27770.9 * edge - 144010.0; break;
        }
    }
    return 1e-6 * sum;
}

/* The name that NPB prints. */
static const char *title(const struct problem *p) {
    static const char *const name[] = {"BT", "SP", "LU"};
    return name[p->benchmark];
}

/* A number as Fortran's E edit descriptor writes it: 0.ddddE+dd, `digits` digits, `width` wide. */
static void print_e(FILE *out, double a, int width, int digits) {
    char plain[64], text[64];
    if (!isfinite(a)) {
        fprintf(out, "%*s", width, isnan(a) ? "NaN" : a < 0 ? "-Infinity" : "Infinity");
        return;
    }
    snprintf(plain, sizeof plain, "%.*e", digits - 1, fabs(a)); /* "d.ddde+dd" */
    char *e = strchr(plain, 'e');
    int exponent = a == 0 ? 0 : atoi(e + 1) + 1;
    *e = 0;
    snprintf(text, sizeof text, abs(exponent) < 100 ? "%s0.%c%sE%+03d" : "%s0.%c%s%+04d",
             signbit(a) ? "-" : "", plain[0], plain + 2, exponent);
    fprintf(out, "%*s", width, text);
}

/* figures first .. last-1 */
static void print_figures(const struct problem *p, const struct verification *v, int first,
                          int last, FILE *out) {
    int lu = p->benchmark == NPBMZ_LU;
    for (int f = first; f < last; f++) {
        fputs(v->compared && !v->within[f] ? " FAILURE: " : "          ", out);
        if (f < 2 * NC)
            fprintf(out, "%2d%s", f % NC + 1, lu ? "  " : "");
        else
            fputs("    ", out); /* there is but one surface integral */
        print_e(out, v->value[f], 20, 13);
        if (v->compared) {
            print_e(out, v->reference[f], 20, 13);
            print_e(out, v->difference[f], 20, 13);
        }
        fputc('\n', out);
    }
}

void verification_print(const struct problem *p, const struct verification *v, FILE *out) {
    int lu = p->benchmark == NPBMZ_LU;
    const char *heading = v->compared ? " Comparison of " : " ";
    if (lu) fputc('\n', out);
    if (v->compared) {
        fprintf(out, " Verification being performed for class %c\n", p->class_);
        fprintf(out, " %sccuracy setting for epsilon = ", lu ? "A" : "a");
        print_e(out, tolerance, 20, 13);
        fputc('\n', out);
        if (!v->dt_matches) {
            fputs(" DT does not match the reference value of ", out);
            print_e(out, v->dt_reference, 15, 8);
            fputc('\n', out);
        } else if (!v->steps_match) {
            fprintf(out, " %s does not match the reference value of %5d\n", lu ? "ITMAX" : "NITER",
                    v->steps_reference);
        }
    }
    fprintf(out, "%sRMS-norms of residual\n", heading);
    print_figures(p, v, 0, NC, out);
    fprintf(out, "%sRMS-norms of solution error\n", heading);
    print_figures(p, v, NC, 2 * NC, out);
    if (lu) {
        fprintf(out, "%ssurface integral\n", heading);
        print_figures(p, v, 2 * NC, FIGURES, out);
    }
    if (!v->compared)
        fputs(" No reference values provided\n No verification performed\n", out);
    else
        fprintf(out, " Verification %s\n", v->verdict == 1 ? "Successful" : "failed");
}

void heading_print(const struct problem *p, const char *version, int steps, FILE *out) {
    fprintf(out, "\n\n NAS Parallel Benchmarks (%s) - %s-MZ Benchmark\n\n", version, title(p));
    fprintf(out, " Number of zones: %3d x %3d\n", p->xzones, p->yzones);
    fprintf(out, " Total mesh size: %5d x %5d x %3d\n", p->gx, p->gy, p->gz);
    fprintf(out, " Iterations: %3d    dt: %10.6f\n\n", steps, p->dt);
}

static void line(FILE *out, const char *label, const char *text) {
    fprintf(out, " %-16s= %24s\n", label, text);
}

void report_print(const struct problem *p, const struct report *r, FILE *out) {
    char text[64];
    double mops = r->seconds > 0 ? (r->steps - r->before) * problem_mop(p) / r->seconds : 0;
    fprintf(out, "\n\n %s-MZ Benchmark Completed.\n", title(p));
    snprintf(text, sizeof text, "%c", p->class_);
    line(out, "Class", text);
    snprintf(text, sizeof text, "%5dx%5dx%3d", p->gx, p->gy, p->gz);
    line(out, "Size", text);
    snprintf(text, sizeof text, "%d", r->steps);
    line(out, "Iterations", text);
    snprintf(text, sizeof text, "%.2f", r->seconds);
    line(out, "Time in seconds", text);
    snprintf(text, sizeof text, "%d", r->threads);
    line(out, "Total threads", text);
    snprintf(text, sizeof text, "%.2f", mops);
    line(out, "Mop/s total", text);
    snprintf(text, sizeof text, "%.2f", mops / r->threads);
    line(out, "Mop/s/thread", text);
    line(out, "Operation type", "floating point");
    line(out, "Verification", r->verdict == 1 ? "SUCCESSFUL" : "UNSUCCESSFUL");
    line(out, "Version", r->version ? r->version : "(none)");
    line(out, "Compile date", r->date ? r->date : "(none)");
    fputs("\n Compile options:\n", out);
    const char *const option[][2] = {
        {"CC", r->compiler},    {"CLINK", r->linker},         {"C_LIB", r->libraries},
        {"C_INC", r->includes}, {"CFLAGS", r->compile_flags}, {"CLINKFLAGS", r->link_flags},
        {"RAND", NULL},
    };
    for (size_t o = 0; o < sizeof option / sizeof option[0]; o++)
        fprintf(out, "    %-13s= %s\n", option[o][0], option[o][1] ? option[o][1] : "(none)");
}
