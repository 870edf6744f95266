/* Studies of NPB-MZ, for evener bench. */
#pragma once

/* bench npbmz: phase by phase against what the machine allows (phases.c). */
int npbmz_study_phases(int argc, char **argv);

/* bench exchange: the exchange of zones' faces on devices (exchange.c). */
int npbmz_study_exchange(int argc, char **argv);
