/* Standard descriptors. */
#pragma once

/* Opens those of descriptors 0 to 2 that are closed, so that reading or writing there fails. */
void standard_open(void);
