! 8:8: error: "s" has a deferred length and is declared in a BLOCK outside of the work of units, where compilers lose its length; expected its ..
subroutine f(n, v)
character(9) :: v(n)
block
character(:), allocatable :: s
!$omp teams distribute num_teams(2:CPU:1)
do z = 1, n
v(z) = s
end do
end block
end subroutine
