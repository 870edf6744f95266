! 5:56: error: reduction: expected a variable, array sections are not supported
subroutine f(v, n)
integer :: n, z, k
real :: v(n)
!$omp teams distribute num_teams(2:CPU:1) reduction(+: v(1:2))
do z = 1, n
end do
end subroutine
