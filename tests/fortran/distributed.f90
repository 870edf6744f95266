! Tasks that no rank knows all of, in Fortran: heat in a pipe of blocks, whose first ones take longer. Ranks divide blocks, and blocks
! go to other ranks; cells are compared with a plain array. Run: ctest -R fortran-programs
module pipe
    use evener
    implicit none
    integer, parameter :: cells = 24, blocks = 18, steps = 12, own = cells * blocks ! blocks: at first, of a rank, and their cells
    type(c_ptr), save :: tasks = c_null_ptr
contains
    ! A block's values: its first cell's number and its number of cells, two ghosts, cells.
    function values(batch, t) result(u)
        type(c_ptr), intent(in) :: batch
        integer(c_int), intent(in) :: t
        real(c_double), pointer :: u(:)
        call c_f_pointer(evn_batch_host(batch, t, 0), u, [cells + 4])
    end function

    integer(c_int) function start(unit, batch, arg) bind(c)
        type(c_ptr), value :: unit, batch, arg
        real(c_double), pointer :: u(:)
        integer(c_int), pointer :: first
        integer(c_int) :: t
        integer :: i
        call c_f_pointer(arg, first)
        do
            t = evn_batch_next(batch)
            if (t < 0) exit
            u => values(batch, t)
            u(:4) = [real(c_double) :: (first + t) * cells, cells, 0, 0]
            u(5:) = [(mod((first + t) * cells + i, 13), i=0, cells - 1)]
        end do
        start = merge(EVN_OK, EVN_USAGE, c_associated(unit))
    end function

    integer(c_int) function step(unit, batch, arg) bind(c)
        type(c_ptr), value :: unit, batch, arg
        real(c_double), pointer :: u(:)
        real(c_double) :: last, here
        integer(c_int) :: t
        integer :: i, n
        do
            t = evn_batch_next(batch)
            if (t < 0) exit
            u => values(batch, t)
            n = int(u(2))
            last = u(3)
            do i = 5, n + 4
                here = u(i)
                u(i) = 0.25_c_double * last + 0.5_c_double * here + 0.25_c_double * merge(u(min(i + 1, cells + 4)), u(4), i < n + 4)
                last = here
            end do
            call evn_batch_add(batch, t, merge(1e-2_c_double, 1e-3_c_double, u(1) < own / 4))
        end do
        step = merge(EVN_OK, EVN_USAGE, c_associated(unit) .and. .not. c_associated(arg))
    end function

    ! Half of a block; arg: 0 for first halves, 1 for second ones, of each task.
    integer(c_int) function halve(unit, batch, arg) bind(c)
        type(c_ptr), value :: unit, batch, arg
        real(c_double), pointer :: u(:), whole(:)
        integer(c_int), pointer :: half(:)
        integer(c_int) :: t
        integer :: n
        call c_f_pointer(arg, half, [2 * blocks])
        do
            t = evn_batch_next(batch)
            if (t < 0) exit
            call c_f_pointer(evn_batch_origin_host(batch, t, 0, 0), whole, [cells + 4])
            u => values(batch, t)
            n = int(whole(2)) / 2
            u = 0
            u(1:2) = [whole(1) + half(t + 1) * n, real(n, c_double)]
            u(5:n + 4) = whole(5 + half(t + 1) * n:4 + half(t + 1) * n + n)
        end do
        halve = merge(EVN_OK, EVN_USAGE, c_associated(unit))
    end function
end module

program main
    use pipe
    implicit none
    type(c_ptr) :: cluster = c_null_ptr, machine = c_null_ptr, units = c_null_ptr, place = c_null_ptr
    integer(c_int) :: status, rank = 0, ranks = 1, moved = 0
    integer(c_int), target :: wrong = 0, all_wrong(0:1023) = 0
    character(40) :: how = 'auto'
    if (command_argument_count() > 0) call get_command_argument(1, how)

    status = evn_cluster_open(cluster, how) ! first of all
    if (status == EVN_OK) call run(status)
    if (status /= EVN_OK) print '(a)', evn_message()
    call evn_distributed_close(tasks)
    call evn_place_close(place)
    call evn_units_close(units)
    call evn_machine_close(machine)
    call evn_cluster_close(cluster, status)
    if (rank == 0 .and. (status /= EVN_OK .or. wrong > 0)) stop 1, quiet=.true.
contains
    subroutine run(status)
        integer(c_int), intent(inout) :: status
        integer(c_int), target :: first, access(1) = [EVN_BOTH]
        type(evn_rank_part) :: part
        integer(c_size_t), target :: bytes(blocks) = 8_c_size_t * (cells + 4)
        real(c_double), pointer :: speed(:)
        type(evn_cluster_info) :: about
        integer(c_long_long), pointer :: sums(:)
        integer :: i
        rank = evn_cluster_rank(cluster)
        ranks = evn_cluster_size(cluster)
        status = evn_cluster_machine(cluster, machine, 1, 1)
        if (status == EVN_OK) status = evn_units_open(units, machine, '1:CPU:1', flags=EVN_OVERSUBSCRIBE)
        if (status == EVN_OK) status = evn_cluster_units(cluster, units)
        if (status == EVN_OK) status = evn_place_open(place, units, 0.5_c_double)
        if (status == EVN_OK) status = evn_distributed_open(tasks, evn_distribution(cluster=cluster, units=units, place=place, &
            tasks=blocks, regions=1, bytes=c_loc(bytes), access=c_loc(access), element=8))
        if (status /= EVN_OK) return
        about = evn_cluster_about(cluster)
        call c_f_pointer(about%speed, speed, [about%units])
        if (size(speed) /= ranks .or. any(speed <= 0)) status = evn_fail(EVN_SYSTEM, 'no speed of each unit')
        first = rank * blocks
        part = evn_distributed_part(tasks)
        status = evn_loop_visit_host(part%loop, start, c_loc(first), EVN_WRITE)
        if (status == EVN_OK) status = connect([(cells, i=1, blocks)], [(.true., i=1, blocks)])
        do i = 1, steps
            if (status == EVN_OK) status = evn_distributed_run(tasks, step, c_null_ptr)
        end do
        if (status == EVN_OK) status = divide()
        if (status == EVN_OK) status = evn_distributed_balance(tasks, moved)
        do i = 1, steps
            if (status == EVN_OK) status = evn_distributed_run(tasks, step, c_null_ptr)
        end do
        if (status == EVN_OK) status = compare()
        if (rank /= 0 .or. status /= EVN_OK) return
        part = evn_distributed_part(tasks)
        call c_f_pointer(part%sum, sums, [ranks + 1])
        print '(i0, a, i0, a, i0, 2a)', ranks, ' ranks, ', sums(ranks + 1), ' blocks: ', wrong, &
            ' cells are wrong, ', merge('some have moved', 'none has moved ', moved > 0)
    end subroutine

    ! Faces between this rank's blocks of n cells where one is new, at first also to the blocks beside.
    integer(c_int) function connect(n, new)
        integer, intent(in) :: n(0:)
        logical, intent(in) :: new(0:)
        type(evn_rank_face) :: face(2 * size(n) + 2)
        integer(c_int) :: count
        integer :: t
        count = 0
        do t = 0, size(n) - 2
            if (.not. (new(t) .or. new(t + 1))) cycle
            count = count + 2
            face(count - 1) = between(evn_rank_task(rank, t), n(t) + 3, evn_rank_task(rank, t + 1), 2)
            face(count) = between(evn_rank_task(rank, t + 1), 4, evn_rank_task(rank, t), 3)
        end do
        if (all(new) .and. rank + 1 < ranks) then
            count = count + 2
            face(count - 1) = between(evn_rank_task(rank, blocks - 1), cells + 3, evn_rank_task(rank + 1, 0), 2)
            face(count) = between(evn_rank_task(rank + 1, 0), 4, evn_rank_task(rank, blocks - 1), 3)
        end if
        connect = evn_distributed_add(tasks, count, face)
    end function
    type(evn_rank_face) function between(from, from_at, to, to_at)
        type(evn_rank_task), intent(in) :: from, to
        integer, intent(in) :: from_at, to_at
        between = evn_rank_face(from, to, evn_face(0, 0, from_at, to_at, [1, 1, 1], [1, 1, 1], [1, 1, 1]))
    end function

    ! Each block of this rank but the first and the last is divided.
    integer(c_int) function divide()
        integer(c_int), target :: first(0:2 * blocks), from(0:2 * blocks), half(2 * blocks)
        character(kind=c_char), target :: kept(0:2 * blocks)
        integer, parameter :: n = 2 * blocks - 2
        integer :: t
        do t = 0, n - 1
            first(t) = t
            from(t) = (t + 1) / 2
            half(t + 1) = mod(t + 1, 2)
            kept(t) = merge(char(1, c_char), char(0, c_char), t == 0 .or. t == n - 1)
        end do
        first(n) = n
        divide = evn_distributed_change(tasks, &
            evn_change(tasks=n, first=c_loc(first), from=c_loc(from), kept=c_loc(kept), links=-1))
        if (divide == EVN_OK) divide = evn_distributed_bear(tasks, halve, c_loc(half))
        if (divide == EVN_OK) divide = connect([cells, (cells / 2, t=1, n - 2), cells], [.false., (.true., t=1, n - 2), .false.])
    end function

    ! This rank's cells, where each block is now, with a plain pipe's.
    integer(c_int) function compare()
        real(c_double) :: whole(0:own * ranks + 1), next(0:own * ranks + 1)
        type(evn_rank_part) :: part
        integer(c_int), pointer :: region(:)
        real(c_double), pointer :: u(:)
        integer :: i, t
        whole = 0
        whole(1:own * ranks) = [(mod(i, 13), i=0, own * ranks - 1)]
        next = whole
        do i = 1, 2 * steps
            next(1:own * ranks) = 0.25_c_double * whole(0:own * ranks - 1) + 0.5_c_double * whole(1:own * ranks) &
                + 0.25_c_double * whole(2:own * ranks + 1)
            whole = next
        end do
        compare = EVN_OK
        part = evn_distributed_part(tasks)
        call c_f_pointer(part%region, region, [part%tasks])
        do t = 1, part%tasks
            compare = evn_place_acquire(place, 1, region(t:t), EVN_HOST, EVN_READ)
            if (compare /= EVN_OK) return
            call c_f_pointer(evn_place_host(place, region(t)), u, [cells + 4])
            do i = 1, int(u(2))
                if (transfer(u(i + 4), 0_c_int64_t) /= transfer(whole(int(u(1)) + i), 0_c_int64_t)) wrong = wrong + 1
            end do
            compare = evn_place_release(place, 1, region(t:t), EVN_HOST)
            if (compare /= EVN_OK) return
        end do
        compare = evn_cluster_gather(cluster, c_loc(wrong), c_sizeof(wrong), c_loc(all_wrong))
        if (rank == 0) wrong = sum(all_wrong(:ranks - 1))
    end function
end program
