/* Launchers and their options of binding. */
#include "base/launched.h"
#include <stdlib.h>

const char *launched_binding(void) {
    static const struct {
        const char *variable, *words;
    } known[] = {
        {"OMPI_COMM_WORLD_SIZE", "mpirun binds its ranks unless it is told --bind-to none, or "
                                 "--map-by slot:PE=N for N cores each"},
        {"MPI_LOCALNRANKS", "mpiexec binds its ranks where it is told -bind-to; -bind-to none "
                            "binds none"},
        {"FLUX_TASK_RANK", "flux gives a task one core unless it is told --cores-per-task=N"},
        {"PALS_RANKID", "mpiexec gives a rank one core unless it is told --depth N"},
        {"JSM_NAMESPACE_RANK", "jsrun gives a set one core unless it is told --cpu_per_rs N"},
        {"SLURM_STEP_ID", "srun gives a task one core unless it is told --cpus-per-task=N"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (secure_getenv(known[i].variable)) return known[i].words;
    return "";
}
