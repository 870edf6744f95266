! Reductions of min and max that find nothing, or infinities, leave what was there.
program extremes
    use ieee_arithmetic
    implicit none
    integer :: z
    integer(1) :: small
    real :: most
    real(8) :: least, list(3)
    most = ieee_value(most, ieee_negative_inf)
    least = ieee_value(least, ieee_positive_inf)
    list = least
    small = 100
    !$evn teams distribute num_teams(3:CPU:1) reduction(max: most) reduction(min: least, small, list)
    do z = 1, 12
        if (z > 20) most = 1
        least = min(least, list(2))
        list(3) = min(list(3), real(z, 8))
        small = min(small, int(z, 1))
    end do
    print *, most, least, list, small
    !$evn teams num_teams(2:CPU:1) reduction(max: most)
    !$evn distribute
    do z = 1, 12
        if (z > 20) most = 1
    end do
    !$evn end distribute
    !$evn end teams
    print *, most
end program
