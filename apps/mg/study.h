/* bench mg: passes level by level, against memory's bandwidth. */
#ifndef MG_STUDY_H
#define MG_STUDY_H

int mg_study(int argc, char **argv);

#endif
