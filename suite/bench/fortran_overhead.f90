! What a loop's body in Fortran costs beside one in C: 64 empty tasks, drawn one by one, runs of both in turn, and the ratio of the
! medians. EVENER_UNITS says on which units (default: one of one core); with several cores idle.
! Run: cmake --build build --target bench-fortran && build/bench-fortran
module bodies
    use evener
    implicit none
    integer, parameter :: tasks = 64, rounds = 2001
    interface
        integer(c_int) function c_body(unit, batch, arg) bind(c) ! fortran_overhead.c
            import
            type(c_ptr), value :: unit, batch, arg
        end function
    end interface
contains
    integer(c_int) function body(unit, batch, arg) bind(c)
        type(c_ptr), value :: unit, batch, arg
        do while (evn_batch_next(batch) >= 0)
        end do
        body = merge(EVN_OK, EVN_USAGE, c_associated(unit) .and. .not. c_associated(arg))
    end function

    subroutine try(status)
        integer(c_int), intent(in) :: status
        if (status /= EVN_OK) stop evn_complain('bench-fortran'), quiet=.true.
    end subroutine

    pure real(c_double) function median(x)
        real(c_double), intent(in) :: x(:)
        integer :: i
        do i = 1, size(x)
            if (count(x < x(i)) <= size(x) / 2 .and. count(x <= x(i)) > size(x) / 2) then
                median = x(i)
                return
            end if
        end do
        median = x(1)
    end function
end module

program main
    use bodies
    implicit none
    type(c_ptr) :: session, loop
    real(c_double) :: seconds(rounds, 2), begin
    integer :: round
    call try(evn_open(session))
    call try(evn_open_loop(loop, session, 'static', evn_problem(tasks=tasks)))
    do round = 1, rounds
        begin = evn_now()
        call try(evn_loop_run(loop, c_body, c_null_ptr))
        seconds(round, 1) = evn_now() - begin
        begin = evn_now()
        call try(evn_loop_run(loop, body, c_null_ptr))
        seconds(round, 2) = evn_now() - begin
    end do
    print '(a, ": 64 empty tasks, C ", f0.3, " us, Fortran ", f0.3, " us, ratio ", f0.3)', &
        evn_units_text(evn_session_units(session)), 1e6_c_double * median(seconds(:, 1)), 1e6_c_double * median(seconds(:, 2)), &
        median(seconds(:, 2)) / median(seconds(:, 1))
    call try(evn_close(session))
end program
