! 5:33: error: this parenthesis is not closed
subroutine f(v, n)
integer :: n, z, k
real :: v(n)
!$omp teams distribute num_teams(2:CPU:1
do z = 1, n
end do
end subroutine
