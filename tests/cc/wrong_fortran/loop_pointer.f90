! 5:4: error: "z" is a pointer, and each iteration has a loop variable of its own; expected an integer variable
subroutine f(n)
integer, pointer :: z
!$omp teams distribute num_teams(2:CPU:1)
do z = 1, n
end do
end subroutine
