! 5:57: error: dist_schedule: unknown kind "dynamics", expected static, dynamic, guided:size, guided:time, ..
subroutine f(v, n)
integer :: n, z, k
real :: v(n)
!$omp teams distribute num_teams(2:CPU:1) dist_schedule(dynamics)
do z = 1, n
end do
end subroutine
