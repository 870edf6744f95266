! 4:7: error: $evn: expected num_teams with a list of units, as in num_teams(4:CPU:4)
subroutine f(n)
integer :: n, z
!$evn teams distribute weight(z)
do z = 1, n
end do
end subroutine
