! 5:34: error: num_teams: expected COUNT:FAMILY:SIZE as in 4:CPU:4
subroutine f(v, n)
integer :: n, z, k
real :: v(n)
!$omp teams distribute num_teams(2:GPU)
do z = 1, n
end do
end subroutine
