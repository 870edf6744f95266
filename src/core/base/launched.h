/* Launchers that bind the processes that they start, by the variables that they leave. */
#pragma once

/* Words for a message to a user whose process has fewer cores than the node: the launcher, and its
 * options that give more, as "mpirun binds its ranks unless it is told --bind-to none, ..". "": no
 * known launcher has started this process. */
const char *launched_binding(void);
