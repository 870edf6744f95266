! 8:9: error: cycle leaves the loop over compute units; its iterations run on several units at a time, so none can end the others
subroutine f(v, n)
integer :: n, z, k
real :: v(n)
!$omp teams distribute num_teams(2:CPU:1) collapse(2)
a: do z = 1, n
    do k = 1, 2
        cycle a
    end do
end do a
end subroutine
