! 8:21: error: exit leaves the loop over compute units; its iterations run on several units at a time, so none can end the others
subroutine f(v, n)
integer :: n, z, k
real :: v(n)
!$omp teams distribute num_teams(2:CPU:1)
outer: do z = 1, n
    do k = 1, n
        if (k == z) EXIT outer
    end do
end do outer
end subroutine
