! 7:1: error: teams within the teams of line 5
subroutine f(v, n)
integer :: n, z, k
real :: v(n)
!$omp teams distribute num_teams(2:CPU:1)
do z = 1, n
!$omp teams distribute num_teams(1:CPU:1)
    do k = 1, 2
    end do
end do
end subroutine
