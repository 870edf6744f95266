/* evener-cc: a C compiler for programs with directives for compute units. */
#include "driver.h"
#include "tools.h"

int main(int argc, char **argv) {
    struct options options;
    const int tool = argc ? run_tool(argv[0], argv) : -1;
    if (tool >= 0) return tool;
    const int ok = options_read(&options, argc, argv);
    const int status = ok > 0 ? drive(&options) : ok == 0;
    options_free(&options);
    return status;
}
