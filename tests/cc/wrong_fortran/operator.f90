! 5:53: error: reduction: unknown operator ".xor.", expected + - * .and. .or. .eqv. .neqv. iand ior ieor min or max
subroutine f(v, n)
integer :: n, z, k
real :: v(n)
!$omp teams distribute num_teams(2:CPU:1) reduction(.xor.: k)
do z = 1, n
end do
end subroutine
