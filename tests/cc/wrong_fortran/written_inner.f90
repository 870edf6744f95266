! 7:8: error: "z" is the variable of the loop over compute units, and cannot be changed in its body; its iterations are counted before they run
subroutine f(v, n)
integer :: v(n), n, z
!$omp teams distribute num_teams(2:CPU:1)
do z = 1, n
    v(z) = z
    do z = 1, 3
    end do
end do
end subroutine
