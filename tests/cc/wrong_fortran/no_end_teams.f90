! 5:1: error: teams: there is no end teams
subroutine f(v, n)
integer :: n, z, k
real :: v(n)
!$omp teams num_teams(2:CPU:1)
v(1) = 2
end subroutine
