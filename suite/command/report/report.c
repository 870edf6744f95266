/* evener report: one page with pictures from one or more records. */
#include "report/report.h"
#include "cli/command.h"
#include "common/cli/options.h"
#include "common/cli/output.h"
#include <stdlib.h>
#include <string.h>

static int write_page(int records, cJSON **record, const char **file, const char *path) {
    evn_output *output;
    int code = output_open(&output, path);
    if (!code) {
        report_page(evn_output_stream(output), records, (const cJSON *const *)record, file);
        code = output_commit(output, NULL);
    }
    evn_output_close(output);
    if (!code && strcmp(path, "-") != 0)
        printf("%s: a page from %d record%s\n", path, records, records == 1 ? "" : "s");
    return code;
}

struct request {
    const char *output;
};

#define OPTIONS_OF struct request
static const struct option table[] = {
    {"output", "FILE", "the page (default report.html); - is standard output",
     OPTION_OUTPUT(output)},
    {0},
};

int command_report(int argc, char **argv) {
    struct request request = {.output = "report.html"};
    const struct option_set sets[] = {{table, &request, NULL}, {0}};
    const char **file = calloc((size_t)argc, sizeof *file);
    cJSON **record = calloc((size_t)argc, sizeof *record);
    int files = 0, read = 0, code = EXIT_FAILED;
    if (file && record)
        code = options_read("report", sets, argc, argv, file, argc, &files);
    else
        complain("not enough memory for %d words", argc);
    const char *path = request.output;
    if (code < 0) {
        printf(
            "usage: evener report FILE.json .. [options]\n\n"
            "Makes one page with pictures from the records of evener run APP --json FILE (and of\n"
            "evener plan): a step of each unit in time, the zones by unit, and where there are\n"
            "several records of one application and class, times, speedups and transfers by\n"
            "schedule and number of units; of evener model what it predicts and measures.\n"
            "Tables of td-bem (.csv) are drawn, too: far fields, transfer functions, signals.\n"
            "The page needs no network.\n\n");
        options_help("report", sets, 0);
        code = EXIT_DONE;
    } else if (!code && !files) {
        code =
            complain("report: no records; expected FILE.json .., as of evener run APP --json FILE");
    } else if (!code) {
        for (; !code && read < files; read++)
            if (!(record[read] = report_read(file[read]))) code = EXIT_USAGE;
        for (int i = 0; !code && i < files; i++)
            if (strcmp(path, "-") && evn_output_same(path, file[i]))
                code = complain(
                    "--output %s would replace a record it is made from; name another file", path);
        if (!code) code = write_page(files, record, file, path);
    }
    for (int i = 0; i < read; i++) cJSON_Delete(record[i]);
    free(record);
    free(file);
    return code;
}
