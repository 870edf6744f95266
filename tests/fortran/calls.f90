! What calls.c does, in Fortran: right and wrong calls of what the module has code for, and what they say; interfaces alone are test_module.py's. Both
! programs print the same.
! Run: ctest -R fortran-calls
module parts
    use evener
    implicit none
    integer, parameter :: tasks = 7
contains
    subroutine say(what, status)
        character(*), intent(in) :: what
        integer(c_int), intent(in) :: status
        character(:), allocatable :: message
        message = ''
        if (status /= EVN_OK) message = evn_message()
        print '(6a)', what, ' is: ', evn_status_text(status), ': ', message
    end subroutine

    ! A failure with its message, taken as it is.
    integer(c_int) function fails(unit, batch, arg) bind(c)
        type(c_ptr), value :: unit, batch, arg
        fails = EVN_OK
        if (c_associated(unit) .and. c_associated(batch) .and. .not. c_associated(arg)) &
            fails = evn_fail(EVN_MEMORY, 'task 3 has no room: 100 %s of it %d')
    end function

    integer(c_int) function asks(unit, batch, arg) bind(c)
        type(c_ptr), value :: unit, batch, arg
        integer(c_int), pointer :: has(:)
        integer :: me
        call c_f_pointer(arg, has, [2])
        me = evn_unit_number(unit) + 1
        has(me) = has(me) + size(evn_batch_tasks(batch))
        call evn_batch_add(batch, tasks, 1.0_c_double)
        asks = EVN_OK
    end function

    integer(c_int) function counts(unit, batch, arg) bind(c)
        type(c_ptr), value :: unit, batch, arg
        integer(c_int), pointer :: times(:), task(:)
        integer :: i
        call c_f_pointer(arg, times, [tasks])
        task => evn_batch_tasks(batch)
        do i = 1, size(task)
            times(task(i) + 1) = times(task(i) + 1) + 1
        end do
        call evn_batch_done(batch, size(task))
        counts = EVN_OK
        if (.not. c_associated(unit)) counts = EVN_USAGE
    end function

    subroutine wrong()
        type(c_ptr) :: session, loop, machine, units, schedule, cluster
        type(evn_problem) :: problem
        call say('a list', evn_open(session, '4:CPUS:4   '))
        call say('a list with blanks', evn_open(session, ' 4:CPUS:4'))
        call say('no list', evn_open(session, ''))
        call say('devices', evn_open(session, '1:GPU:1', 'emulated:0'))
        call say('flags', evn_open(session, flags=64))
        call say('no session', evn_open_loop(loop, c_null_ptr, problem=problem))
        call say('a machine', evn_machine_open_synthetic(machine, 'package:none'))
        call say('no machine', evn_units_open(units, c_null_ptr, '1:CPU:1'))
        call say('no tasks', evn_schedule_open(schedule, 'static', problem))
        problem = evn_problem(tasks=tasks, units=2)
        call say('a schedule', evn_schedule_open(schedule, 'guided', problem))
        call say('a cluster', evn_cluster_open(cluster, 'processes:none'))
        print '(5a)', evn_units_text(c_null_ptr), '.', evn_cluster_host(c_null_ptr, 0), '.', evn_message()
        print '(i0, 1x, i0)', evn_schedule_uses_speeds('static'), evn_schedule_uses_speeds('weighted')
    end subroutine

    subroutine schedules()
        type(c_ptr) :: schedule
        type(evn_problem) :: problem
        real(c_double), target :: weight(tasks)
        integer(c_int) :: i
        character(:), allocatable :: name, explanation
        i = 0
        do
            name = evn_schedule_name(i, explanation)
            if (name == '') exit
            print '(3a)', name, ': ', explanation
            i = i + 1
        end do
        weight = [(i, i=1, tasks)]
        problem = evn_problem(tasks=tasks, weight=c_loc(weight), units=2)
        call say('opening', evn_schedule_open(schedule, 'binpack', problem))
        print '(7i1)', evn_schedule_owner(schedule)
        print '(5a)', evn_schedule_export(schedule), new_line('a'), evn_schedule_explain(schedule), evn_schedule_text(schedule)
        call say('importing', evn_schedule_import(schedule, evn_schedule_export(schedule)))
        call say('importing', evn_schedule_import(schedule, 'static 3 tasks'))
        call evn_schedule_close(schedule)
    end subroutine

    subroutine loops()
        type(c_ptr) :: session, loop
        integer(c_int), target :: times(tasks), units(2)
        integer(c_int), pointer :: owner(:), next(:)
        integer :: t
        type(evn_loop_totals) :: totals
        type(evn_unit_stats) :: stats(0:2)
        times = 0
        units = 0
        call say('a session', evn_open(session, '2:CPU:1', flags=EVN_OVERSUBSCRIBE))
        call say('a loop', evn_open_loop(loop, session, 'static', evn_problem(tasks=tasks)))
        call say('a failure', evn_loop_run(loop, fails, c_null_ptr))
        call say('a mistake', evn_loop_run(loop, asks, c_loc(units)))
        print '(i0, 1x, i0)', units
        call say('a run', evn_loop_run(loop, counts, c_loc(times)))
        print '(7i1, 2(1x, i0))', times, units
        owner => evn_loop_owner(loop)
        next => evn_loop_next(loop)
        print '(14i1)', (owner(t), next(t), t=1, tasks)
        totals = evn_loop_sum(loop)
        stats(0) = evn_loop_stats(loop, 0)
        stats(1) = evn_loop_stats(loop, 1)
        print '(i0, 1x, i0, 1x, i0)', totals%instances, stats(1)%tasks, merge(1, 0, stats(0)%compute_s > 0)
        stats(2) = evn_loop_stats(loop, 5)
        print '(i0, 2a)', stats(2)%tasks, ' ', evn_message()
        call say('closing', evn_close(session))
    end subroutine
end module

program main
    use parts
    implicit none
    integer(c_int) :: i
    print '(a, 1x, i0)', evn_version(), merge(1, 0, evn_now() > 0)
    do i = -1, 8
        print '(a)', evn_status_text(i)
    end do
    call wrong()
    call schedules()
    call loops()
end program
