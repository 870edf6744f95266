! 6:26: error: "wait" is no clause of teams distribute
subroutine f(v, n)
integer :: n, z, k
real :: v(n)
!$omp teams distribute ! standard
!$evn num_teams(2:CPU:1) wait(z)
do z = 1, n
end do
end subroutine
