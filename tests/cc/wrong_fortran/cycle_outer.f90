! 8:23: error: cycle leaves the loop over compute units; its iterations run on several units at a time, so none can end the others
subroutine f(v, n)
integer :: n, z, k
real :: v(n)
outer: do k = 1, 3
    !$omp teams distribute num_teams(2:CPU:1)
    do z = 1, n
        if (v(z) > k) cycle outer
    end do
end do outer
end subroutine
