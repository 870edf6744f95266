! Functions that are known by their type alone, used in bodies and clauses only; commas behind do; labels; variables of all kinds.
program names
    implicit none
    integer :: i, k, n(8)
    integer(1) :: byte
    integer(2) :: short
    integer(8) :: long
    integer :: twice
    real(8) heavy, half, other
    double precision third
    logical even
    real(8) :: x(8), dabs
    character(len=8) :: word, words(8)
    word = 'abcdefgh'
    !$omp teams distribute num_teams(2:CPU:1) weight(heavy(i))
    do i = 1, 8
        n(i) = twice(twice(i)) + merge(1, 0, even(i))
        x(i) = half(i + 0.5d0) + third (1.5d0) * dabs(-2.0d0)
        words(i) = word(1:i)
    end do
    print '(8i4, 8f7.3, 8a9)', n, x, words
    !$omp teams num_teams(2:CPU:1)
    !$omp distribute
    do, i = 1, 8; n(i) = n(i) + int(other(i)); end do
    !$omp end distribute
    !$omp end teams
    print '(8i4)', n
    !$omp teams distribute num_teams(2:CPU:1)
    do 10, i = 1, 8
        do k = 1, 2
            n(i) = n(i) + k
        end do
10  continue
    !$omp teams distribute num_teams(2:CPU:1)
    lp: do i = 1, 8
        if (i == 5) cycle lp
        do k = 1, 3
            if (k == 2) exit
            n(i) = n(i) + 1
        enddo
    end do lp; n(2) = n(2) + 7
    print '(8i4)', n
    n = 0
    !$omp teams distribute num_teams(2:CPU:1) reduction(+: n)
    do byte = 120_1, huge(byte) - 1_1
        n(1) = n(1) + byte
    end do
    !$omp teams distribute num_teams(2:CPU:1) reduction(+: n)
    do short = huge(short) - 9_2, huge(short) - 3_2, 3_2
        n(2) = n(2) + short
    end do
    !$omp teams distribute num_teams(2:CPU:1) reduction(+: n)
    do long = -huge(long), -huge(long) + 6, 2
        n(3) = n(3) + int(mod(long, 7_8))
    end do
    print '(3i8)', n(1:3)
end program

integer function twice(i)
    integer :: i
    twice = 2 * i
end function

real(8) function heavy(i)
    integer :: i
    heavy = i
end function

real(8) function other(i)
    integer :: i
    other = i + 0.25d0
end function

real(8) function half(x)
    real(8) :: x
    half = x / 2
end function

double precision function third(x)
    double precision :: x
    third = x / 3
end function

logical function even(i)
    integer :: i
    even = mod(i, 2) == 0
end function
