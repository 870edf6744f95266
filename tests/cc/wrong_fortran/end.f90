! 6:1: error: the end of this loop is not found
subroutine f(v, n)
integer :: n, z, k
real :: v(n)
!$omp teams distribute num_teams(2:CPU:1)
do z = 1, n
if (z > 2) then
end if
end subroutine
