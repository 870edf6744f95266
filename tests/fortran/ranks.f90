! examples/ranks.c in Fortran: a loop on the units of all ranks without a session, whose blocks go to another rank with their memory,
! by procedures of the program. Run: ctest -R fortran-programs
module blocks
    use evener
    implicit none
    integer, parameter :: many = 32, steps = 60
    type :: block
        real(c_double), allocatable :: u(:) ! two fields of cells + 2, one behind the other; not allocated: elsewhere
    end type
    type(block), target, save :: mine(0:many - 1)
contains
    pure integer function cells(t)
        integer, intent(in) :: t
        cells = 50 + 10 * t
    end function

    subroutine move(u, v, cells)
        integer, intent(in) :: cells
        real(c_double), intent(in) :: u(0:cells + 1)
        real(c_double), intent(inout) :: v(0:cells + 1)
        v(1:cells) = 0.25_c_double * u(0:cells - 1) + 0.5_c_double * u(1:cells) + 0.25_c_double * u(2:cells + 1)
    end subroutine

    integer(c_int) function body(unit, batch, arg) bind(c)
        type(c_ptr), value :: unit, batch, arg
        integer(c_int), pointer :: from
        integer(c_int) :: t
        integer :: u, v
        call c_f_pointer(arg, from)
        do
            t = evn_batch_next(batch)
            if (t < 0) exit
            u = 1 + from * (cells(t) + 2)
            v = 1 + (1 - from) * (cells(t) + 2)
            call move(mine(t)%u(u:u + cells(t) + 1), mine(t)%u(v:v + cells(t) + 1), cells(t))
        end do
        body = merge(EVN_OK, EVN_USAGE, c_associated(unit))
    end function

    integer(c_int) function make(arg, task) bind(c)
        type(c_ptr), value :: arg
        integer(c_int), value :: task
        integer :: failed
        make = EVN_OK
        allocate (mine(task)%u(2 * (cells(task) + 2)), source=0.0_c_double, stat=failed)
        if (failed /= 0 .or. c_associated(arg)) make = evn_fail(EVN_MEMORY, 'no memory for a block')
    end function
    type(c_ptr) function memory(arg, task, number, bytes) bind(c)
        type(c_ptr), value :: arg
        integer(c_int), value :: task, number
        integer(c_size_t), intent(out) :: bytes
        memory = c_null_ptr
        bytes = 0
        if (number > 0 .or. c_associated(arg)) return
        bytes = 8_c_size_t * size(mine(task)%u)
        memory = c_loc(mine(task)%u)
    end function
    subroutine drop(arg, task) bind(c)
        type(c_ptr), value :: arg
        integer(c_int), value :: task
        if (.not. c_associated(arg)) deallocate (mine(task)%u)
    end subroutine
end module

program main
    use blocks
    implicit none
    type(c_ptr) :: cluster = c_null_ptr, machine = c_null_ptr, units = c_null_ptr, schedule = c_null_ptr, loop = c_null_ptr
    type(c_ptr) :: exchange(0:1) = c_null_ptr, host(0:many - 1) = c_null_ptr
    type(evn_face) :: face(2 * many - 2)
    integer(c_int) :: status, at, rank = 0
    integer(c_int), target :: from = 0, wrong = 0, moved = 0, all_wrong(0:1023) = 0, all_moved(0:1023) = 0
    integer :: t, f, step, top(0:many), here, next, i
    real(c_double), target :: weight(0:many - 1)
    real(c_double), pointer :: speed(:)
    type(evn_loop_totals) :: totals
    real(c_double), allocatable :: whole(:, :)
    character(40) :: how = 'auto'
    if (command_argument_count() > 0) call get_command_argument(1, how)

    status = evn_cluster_open(cluster, how) ! first of all
    if (status == EVN_OK) call run(status)
    if (status /= EVN_OK) print '(a)', evn_message()
    do f = 0, 1
        call evn_exchange_close(exchange(f))
    end do
    call evn_loop_close(loop)
    call evn_schedule_close(schedule)
    call evn_units_close(units)
    call evn_machine_close(machine)
    call evn_cluster_close(cluster, status)
    if (rank == 0 .and. (status /= EVN_OK .or. wrong > 0)) stop 1, quiet=.true.
contains
    subroutine run(status)
        integer(c_int), intent(inout) :: status
        rank = evn_cluster_rank(cluster)
        status = evn_cluster_machine(cluster, machine, 1, 1)
        if (status == EVN_OK) status = evn_units_open(units, machine, '1:CPU:1', flags=EVN_OVERSUBSCRIBE)
        if (status == EVN_OK) status = evn_cluster_units(cluster, units)
        if (status /= EVN_OK) return
        if (rank == 1) call evn_unit_slow(evn_units_get(units, 0), 3.0_c_double) ! so that blocks go elsewhere
        top(0) = 0
        do t = 0, many - 1
            weight(t) = cells(t)
            top(t + 1) = top(t) + cells(t)
        end do
        allocate (whole(0:top(many) + 1, 0:1), source=0.0_c_double)
        whole(1:top(many), 0) = [(mod(i, 13), i=1, top(many))]
        speed => evn_cluster_speeds(cluster)
        if (size(speed) /= evn_cluster_unit_count(cluster)) error stop
        status = evn_schedule_open(schedule, 'guided:time', &
            evn_problem(tasks=many, weight=c_loc(weight), units=size(speed), speed=c_loc(speed)))
        if (status == EVN_OK) status = evn_loop_open_on(loop, units, schedule, cluster)
        if (status == EVN_OK) status = evn_loop_homes(loop, &
            evn_home(blocks=1, make=c_funloc(make), memory=c_funloc(memory), drop=c_funloc(drop)), c_null_ptr)
        if (status /= EVN_OK) return
        do t = 0, many - 1
            if (evn_loop_has(loop, t) == 0) cycle
            if (make(c_null_ptr, t) /= EVN_OK) error stop
            mine(t)%u(1:cells(t) + 2) = whole(top(t):top(t + 1) + 1, 0)
            host(t) = c_loc(mine(t)%u)
        end do
        do f = 0, 1 ! the last cell to the next block, its first one back
            do t = 0, many - 2
                here = f * (cells(t) + 2)
                next = f * (cells(t + 1) + 2)
                face(2 * t + 1) = evn_face(t, t + 1, here + cells(t), next, [1, 1, 1], [1, 1, 1], [1, 1, 1], 0, 0)
                face(2 * t + 2) = evn_face(t + 1, t, next + 1, here + cells(t) + 1, [1, 1, 1], [1, 1, 1], [1, 1, 1], 0, 0)
            end do
            status = evn_exchange_open(exchange(f), loop, 8_c_size_t, size(face), face, host)
            if (status /= EVN_OK) return
        end do
        do step = 1, steps
            status = evn_loop_run(loop, body, c_loc(from))
            if (status == EVN_OK) status = evn_exchange_run(exchange(1 - from))
            if (status /= EVN_OK) return
            call move(whole(:, from), whole(:, 1 - from), top(many))
            from = 1 - from
        end do
        status = evn_cluster_agree(cluster, EVN_OK) ! an exchange that has failed says so here
        if (status /= EVN_OK) return
        do t = 0, many - 1
            if (.not. allocated(mine(t)%u)) cycle
            at = from * (cells(t) + 2)
            if (any(transfer(mine(t)%u(at + 2:at + 1 + cells(t)), [0_c_int64_t]) /= &
                transfer(whole(top(t) + 1:top(t + 1), from), [0_c_int64_t]))) wrong = wrong + 1
        end do
        status = evn_cluster_gather(cluster, c_loc(wrong), c_sizeof(wrong), c_loc(all_wrong))
        if (status /= EVN_OK) return
        totals = evn_loop_sum(loop)
        moved = int(totals%moved, c_int)
        status = evn_cluster_gather(cluster, c_loc(moved), c_sizeof(moved), c_loc(all_moved))
        if (rank /= 0) return
        i = evn_cluster_size(cluster)
        wrong = sum(all_wrong(:i - 1))
        print '(i0, 3a, i0, a, i0, a)', i, ' ranks, ', evn_cluster_wire(cluster), ': ', wrong, ' blocks are wrong, ', &
            sum(all_moved(:i - 1)), ' have moved'
    end subroutine
end program
