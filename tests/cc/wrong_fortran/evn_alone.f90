! 4:7: error: $evn: expected teams or distribute, or clauses behind the line of such a directive
subroutine f(n)
integer :: n, z
!$evn team distribute num_teams(2:CPU:1)
do z = 1, n
end do
end subroutine
