! 6:39: error: reduction: "s" is in the reduction of line 4, too
subroutine f(n, s, p)
integer :: n, z, s, p
!$omp teams distribute reduction(+: s) &
!$omp reduction(max: p)
!$evn num_teams(2:CPU:1) reduction(*: s)
do z = 1, n
end do
end subroutine
