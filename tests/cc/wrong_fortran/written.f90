! 6:17: error: "z" is the variable of the loop over compute units, and cannot be changed in its body; its iterations are counted before they run
subroutine f(v, n)
integer :: v(n), n, z, k
!$evn teams distribute num_teams(2:CPU:1) private(k)
do z = 1, n
    if (k == 3) z = 4
end do
end subroutine
