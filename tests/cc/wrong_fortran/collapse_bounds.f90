! 7:15: error: expected loop 2 of collapse(2); its bounds may not use "z"
subroutine f(v, n)
integer :: n, z, k
real :: v(n)
!$omp teams distribute num_teams(2:CPU:1) collapse(2)
do z = 1, n
    do k = 1, Z
    end do
end do
end subroutine
