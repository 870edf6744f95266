! 6:1: error: expected the do loop that the directive is about: do variable = from, to
subroutine f(v, n)
integer :: n, z, k
real :: v(n)
!$omp teams distribute num_teams(2:CPU:1)
do concurrent (z = 1:n)
end do
end subroutine
