! 5:59: error: reduction: "s" is a pointer; expected variables or whole arrays of numbers or logical values
subroutine f(n)
real :: s
pointer s
!$omp teams distribute num_teams(2:CPU:1) reduction(max : s)
do z = 1, n
end do
end subroutine
