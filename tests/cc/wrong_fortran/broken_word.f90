! 4:15: error: "schedule" is no clause of teams distribute; did you mean dist_schedule?
subroutine f(n)
!$omp teams distri&
  !$omp &bute sche&
!$OMP &dule(dynamic) num_teams(2:CPU:1)
do z = 1, n
end do
end subroutine
