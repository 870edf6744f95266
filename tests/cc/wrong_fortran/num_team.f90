! 4:24: error: "num_team" is no clause of teams distribute; did you mean num_teams?
subroutine f(n)
integer :: n, z
!$omp teams distribute num_team(2:CPU:1)
do z = 1, n
end do
end subroutine
