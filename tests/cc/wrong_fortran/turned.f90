! 4:18: error: teams stands before distribute: write teams distribute
subroutine f(v)
integer :: v(9), z
!$evn distribute teams
do z = 1, 9
    v(z) = z
end do
end subroutine
