! 5:43: error: "COLLAPZE" is no clause of teams distribute; did you mean collapse?
subroutine f(v, n)
integer :: n, z, k
real :: v(n)
!$OMP TEAMS DISTRIBUTE NUM_TEAMS(2:CPU:1) COLLAPZE(2)
do z = 1, n
end do
end subroutine
