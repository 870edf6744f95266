! 7:5: error: goto leaves the loop over compute units; its iterations run on several units at a time, so none can end the others
subroutine f(v, n)
integer :: n, z, k
real :: v(n)
!$omp teams distribute num_teams(2:CPU:1)
do z = 1, n
    goto (5, 10), k
5   v(z) = 1
end do
10 continue
end subroutine
