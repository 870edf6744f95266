! 7:5: error: expected loop 2 of collapse(2)
subroutine f(v, n)
integer :: n, z, k
real :: v(n)
!$omp teams distribute num_teams(2:CPU:1) collapse(2)
do z = 1, n
    v(z) = 0
    do k = 1, 2
    end do
end do
end subroutine
