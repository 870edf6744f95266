! 7:56: error: reduction: "s" is no number; expected variables or whole arrays of numbers or logical values
subroutine f(n)
type t
real :: s
end type
type(t) :: s
!$omp teams distribute num_teams(2:CPU:1) reduction(+: s)
do z = 1, n
end do
end subroutine
