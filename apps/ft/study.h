/* The study of FT, for evener bench. */
#ifndef FT_STUDY_H
#define FT_STUDY_H

/* bench ft: the transform of three axes on one core, beside FFTW's. */
int ft_study(int argc, char **argv);

#endif
