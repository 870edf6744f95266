! 6:10: error: num_teams: unknown family "CPUS", expected CPU, GPU or FPGA
subroutine f(v, n)
integer :: n, z, k
real :: v(n)
!$omp teams distribute num_teams(2:CPU:1, &
!$omp& 4:CPUS:4)
do z = 1, n
end do
end subroutine
