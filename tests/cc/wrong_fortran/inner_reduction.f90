! 7:18: error: reduction: of units in a teams block belongs to the teams
subroutine f(v, n)
integer :: n, z, k
real :: v(n)
!$omp teams num_teams(2:CPU:1)
v(1) = 1
!$omp distribute reduction(+: k)
do z = 1, n
end do
!$omp end teams
end subroutine
