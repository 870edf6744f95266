/* Constants of the gas and of the scheme, the same for all three benchmarks ("NAS Parallel
 * Benchmarks, Multi-Zone Versions", NAS-03-010, sections 2 and 3), for host and device code. */
#pragma once

enum { NC = 5 }; /* components: density, three momenta, energy */

#define C1       1.4
#define C2       0.4
#define C34      0.1                     /* c3 c4 */
#define C15      1.96                    /* c1 c5 */
#define C1345    0.196                   /* c1 c5 c3 c4 */
#define EPS4     0.25                    /* fourth-order dissipation */
#define DELTA(d) ((d) == 2 ? 1.0 : 0.75) /* second-order dissipation in x, y, z */
#define OMEGA    1.2                     /* LU: over-relaxation */
