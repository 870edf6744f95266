! 9:5: error: nothing may stand between the loops of collapse(2)
subroutine f(v, n)
integer :: n, z, k
real :: v(n)
!$omp teams distribute num_teams(2:CPU:1) collapse(2)
do z = 1, n
    do k = 1, 2
    end do
    v(z) = 0
end do
end subroutine
