/* Standard descriptors. */
#ifndef TOOL_STANDARD_H
#define TOOL_STANDARD_H

/* Opens those of descriptors 0 to 2 that are closed, so that reading or writing there fails. */
void standard_open(void);

#endif
