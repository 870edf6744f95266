! 5:24: error: teams distribute parallel: write teams distribute, and parallel do in the body
subroutine f(v, n)
integer :: n, z, k
real :: v(n)
!$omp teams distribute parallel do num_teams(2:CPU:1)
do z = 1, n
end do
end subroutine
