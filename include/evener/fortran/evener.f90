! Evener for Fortran: the names of <evener.h>, for programs with gfortran and its kin.
!
!     use evener
!     status = evn_open(session)
!     status = evn_open_loop(loop, session, problem=evn_problem(tasks=n, weight=c_loc(size)))
!     do step = 1, steps
!         status = evn_loop_run(loop, body, c_null_ptr)
!     end do
!     status = evn_close(session)
!
! What each function does is said in the C headers, by the same name. Handles are type(c_ptr), a status is an integer(c_int),
! structs are types of the same name. What is not as in C:
!
!   * texts are Fortran's: character(*) in, without blanks at their end, character(:), allocatable out;
!   * what may be NULL is optional, unless it is a type(c_ptr), where it is c_null_ptr;
!   * functions that give numbers of all tasks or units, or of a batch's tasks, give a pointer to an array, which is not
!     associated where C gives NULL;
!   * what C writes where a pointer shows is intent(inout), since it stays as it was where a call has failed;
!   * the status EVN_BODY is EVN_BODY_FAILED here, since evn_body is the interface of bodies.
!
! Tasks, units and regions are numbered from 0, as in C. Module files belong to one compiler, so this source is compiled with
! the program: evener_fortran() of the CMake package, or the file that `pkg-config --variable=fortran evener` names.
module evener
    use, intrinsic :: iso_c_binding
    implicit none
    public
    private :: closed, numbers_at, flags_of, tasks_of

    ! ---- <evener/status.h> ----

    enum, bind(c)
        enumerator :: EVN_OK = 0, EVN_USAGE, EVN_MISSING, EVN_MEMORY, EVN_SYSTEM, EVN_BODY_FAILED, EVN_STOPPED, EVN_DEVICE
    end enum

    ! ---- flags, accesses and kinds ----

    enum, bind(c)
        enumerator :: EVN_OVERSUBSCRIBE = 1, EVN_DESCRIBE_ONLY = 2, EVN_STAY_BOUND = 4, EVN_CALLER_FREE = 8
        enumerator :: EVN_SINGLE_CORES = 16, EVN_OVER_RANKS = 65536, EVN_ANY_CLOSES = 131072, EVN_TEAMS = 262144
        enumerator :: EVN_NO_ENVIRONMENT = 524288, EVN_UNITS_LATER = 1048576
    end enum
    enum, bind(c)
        enumerator :: EVN_HOST = 0
    end enum
    enum, bind(c)
        enumerator :: EVN_READ = 1, EVN_WRITE = 2, EVN_BOTH = 3
    end enum
    enum, bind(c)
        enumerator :: EVN_BURST_COMPUTE = 0, EVN_BURST_EXCHANGE, EVN_BURST_COPY
    end enum
    enum, bind(c)
        enumerator :: EVN_SAME = 0, EVN_MEAN, EVN_REPEAT
    end enum
    enum, bind(c)
        enumerator :: EVN_FLOATS = 4, EVN_DOUBLES = 8
    end enum
    enum, bind(c)
        enumerator :: EVN_ORIGINS_IN_ROW = 8
    end enum

    ! ---- structs ----

    ! <evener/schedule.h>
    type, bind(c) :: evn_link
        integer(c_int) :: task(2) = 0
        real(c_double) :: bytes = 0
    end type
    type, bind(c) :: evn_route
        integer(c_int) :: hops = 0
        real(c_double) :: latency(2) = 0
        real(c_double) :: per_byte(2) = 0
    end type
    type, bind(c) :: evn_problem ! its pointers: c_loc() of arrays
        integer(c_int) :: tasks = 0
        type(c_ptr) :: weight = c_null_ptr
        integer(c_int) :: links = 0
        type(c_ptr) :: link = c_null_ptr
        integer(c_int) :: units = 0
        type(c_ptr) :: speed = c_null_ptr
        real(c_double) :: bandwidth = 0
        integer(c_int) :: instances = 0
        integer(c_int) :: kinds = 0
        type(c_ptr) :: kind = c_null_ptr
        type(c_ptr) :: node = c_null_ptr
        type(c_ptr) :: route = c_null_ptr
        type(c_ptr) :: far = c_null_ptr
        type(c_ptr) :: bytes = c_null_ptr
        type(c_ptr) :: capacity = c_null_ptr
        type(c_ptr) :: space = c_null_ptr
        type(c_ptr) :: state = c_null_ptr
        real(c_double) :: carry = 0
    end type

    ! <evener/machine.h>; evn_machine_kind() and evn_machine_part() give their address, or c_null_ptr
    type, bind(c) :: evn_machine_info
        integer(c_int) :: here = 0
        integer(c_int) :: node = 0
        integer(c_int) :: allowed = 0
        real(c_double) :: quota = 0
        integer(c_int) :: kinds = 0
        integer(c_int) :: parts = 0
        integer(c_int) :: packages = 0
        integer(c_int) :: numa_nodes = 0
        integer(c_int64_t) :: memory = 0
        type(c_ptr) :: processor = c_null_ptr
    end type
    type, bind(c) :: evn_core_kind
        type(c_ptr) :: name = c_null_ptr
        integer(c_int) :: cores = 0
        real(c_double) :: frequency = 0
        real(c_double) :: speed = 0
    end type
    type, bind(c) :: evn_part
        integer(c_int) :: first = 0
        integer(c_int) :: cores = 0
        integer(c_int) :: kind = 0
        integer(c_int) :: package = 0
        integer(c_int) :: threads = 0
        integer(c_int64_t) :: cache = 0
    end type

    ! <evener/place.h>
    type, bind(c) :: evn_moves
        integer(c_long_long) :: copies = 0
        integer(c_long_long) :: bytes = 0
    end type

    ! <evener/schedule.h>, <evener/change.h>
    type, bind(c) :: evn_change ! its pointers: c_loc() of arrays; kept: of character(kind=c_char)
        integer(c_int) :: tasks = 0
        type(c_ptr) :: first = c_null_ptr
        type(c_ptr) :: from = c_null_ptr
        type(c_ptr) :: kept = c_null_ptr
        type(c_ptr) :: weight = c_null_ptr
        type(c_ptr) :: bytes = c_null_ptr
        type(c_ptr) :: state = c_null_ptr
        integer(c_int) :: links = 0
        type(c_ptr) :: link = c_null_ptr
        integer(c_int) :: instances = 0
        type(c_ptr) :: region = c_null_ptr
        type(c_ptr) :: family = c_null_ptr
        real(c_double) :: most = 0
    end type
    type, bind(c) :: evn_changed
        integer(c_int) :: instance = 0
        integer(c_int) :: tasks = 0
        integer(c_int) :: kept = 0
        integer(c_int) :: born = 0
        integer(c_int) :: gone = 0
        integer(c_int) :: moved = 0
        real(c_double) :: moved_bytes = 0
        integer(c_int) :: faces_added = 0
        integer(c_int) :: faces_gone = 0
        real(c_double) :: seconds = 0
        real(c_double) :: begin = 0
        real(c_double) :: imbalance = 0
    end type

    ! <evener/exchange.h>
    type, bind(c) :: evn_face
        integer(c_int) :: from = 0
        integer(c_int) :: to = 0
        integer(c_long_long) :: from_at = 0
        integer(c_long_long) :: to_at = 0
        integer(c_long_long) :: from_stride(3) = 0
        integer(c_long_long) :: to_stride(3) = 0
        integer(c_int) :: n(3) = 0
        integer(c_int) :: from_region = 0
        integer(c_int) :: to_region = 0
        integer(c_int) :: resolution(3) = 0 ! EVN_SAME, EVN_MEAN or EVN_REPEAT
        integer(c_int) :: numbers = 0       ! EVN_DOUBLES or EVN_FLOATS
    end type

    ! <evener/distributed.h>; pointers: c_loc() of arrays, of `schedule` of a text that ends by c_null_char
    type, bind(c) :: evn_rank_task
        integer(c_int) :: rank = 0
        integer(c_int) :: number = 0
    end type
    type, bind(c) :: evn_distribution
        type(c_ptr) :: cluster = c_null_ptr
        type(c_ptr) :: units = c_null_ptr
        type(c_ptr) :: place = c_null_ptr
        type(c_ptr) :: schedule = c_null_ptr
        integer(c_int) :: tasks = 0
        type(c_ptr) :: weight = c_null_ptr
        integer(c_int) :: instances = 0
        integer(c_int) :: regions = 0
        type(c_ptr) :: bytes = c_null_ptr
        type(c_ptr) :: access = c_null_ptr
        integer(c_size_t) :: element = 0
    end type
    type, bind(c) :: evn_rank_part ! sum, loop, region and origin: addresses, or c_null_ptr
        integer(c_int) :: tasks = 0
        type(c_ptr) :: sum = c_null_ptr
        type(c_ptr) :: loop = c_null_ptr
        type(c_ptr) :: region = c_null_ptr
        type(c_ptr) :: origin = c_null_ptr
        integer(c_int) :: within = 0
        integer(c_int) :: from = 0
        integer(c_int) :: to = 0
        real(c_double) :: carried = 0
    end type
    type, bind(c) :: evn_rank_face
        type(evn_rank_task) :: from
        type(evn_rank_task) :: to
        type(evn_face) :: block
    end type

    ! <evener/device.h>: a kernel's argument, and kernels that evener_kernels() has made; a program names those of its own by
    ! type(evn_kernel_source), bind(c, name="heat_kernels") :: heat_kernels, a variable of a module.
    type, bind(c) :: evn_argument
        type(c_ptr) :: buffer = c_null_ptr
        type(c_ptr) :: value = c_null_ptr
        integer(c_size_t) :: bytes = 0
    end type
    type, bind(c) :: evn_kernel_source
        type(c_ptr) :: name
        type(c_ptr) :: text
        type(c_ptr) :: entry
        type(c_ptr) :: defines
        integer(c_int) :: contract
    end type

    ! <evener/loop.h>: make, memory, drop and arrived are c_funloc() of module procedures with the interfaces below
    type, bind(c) :: evn_home
        integer(c_int) :: blocks = 0
        type(c_funptr) :: make = c_null_funptr
        type(c_funptr) :: memory = c_null_funptr
        type(c_funptr) :: drop = c_null_funptr
        type(c_funptr) :: arrived = c_null_funptr
    end type
    type, bind(c) :: evn_burst
        real(c_double) :: begin = 0
        real(c_double) :: end = 0
        integer(c_int) :: kind = 0
        integer(c_int) :: task = 0
        integer(c_int) :: count = 0
        integer(c_int) :: instance = 0
    end type
    type, bind(c) :: evn_unit_stats
        real(c_double) :: compute_s = 0
        real(c_double) :: exchange_s = 0
        real(c_double) :: copy_s = 0
        real(c_double) :: idle_s = 0
        integer(c_long_long) :: tasks = 0
        real(c_double) :: bytes_in = 0
        real(c_double) :: bytes_out = 0
    end type
    type, bind(c) :: evn_unit_info
        type(c_ptr) :: binding = c_null_ptr
        real(c_double) :: speed = 0
        integer(c_int) :: kind = 0
        integer(c_int) :: device = 0
    end type
    type, bind(c) :: evn_units_info
        type(c_ptr) :: machine = c_null_ptr
        integer(c_int) :: gpus = 0
        integer(c_int) :: devices = 0
        integer(c_int) :: running = 0
    end type
    type, bind(c) :: evn_cluster_info
        type(c_ptr) :: wire = c_null_ptr ! evn_text_at(wire) is the text
        type(c_ptr) :: cores = c_null_ptr
        integer(c_int) :: restarts = 0
        integer(c_int) :: failed = 0
        integer(c_int) :: stopping = 0
        integer(c_int) :: units = 0
        type(c_ptr) :: first = c_null_ptr
        type(c_ptr) :: speed = c_null_ptr
        integer(c_long_long) :: messages = 0
        real(c_double) :: message_bytes = 0
        type(c_ptr) :: kind = c_null_ptr
        type(c_ptr) :: ends = c_null_ptr
    end type
    type, bind(c) :: evn_schedule_info
        integer(c_int) :: instance = 0
        integer(c_int) :: chunk = 0
        type(c_ptr) :: order = c_null_ptr
        integer(c_int) :: reassigns = 0
    end type
    type, bind(c) :: evn_loop_info
        type(c_ptr) :: units = c_null_ptr
        type(c_ptr) :: cluster = c_null_ptr
        integer(c_int) :: first_unit = 0
        integer(c_int) :: failed_unit = -1
        integer(c_int) :: generation = 0
        integer(c_int) :: borns = 0
        type(c_ptr) :: born = c_null_ptr
    end type
    type, bind(c) :: evn_loop_medians
        real(c_double) :: compute_s = 0
        real(c_double) :: exchange_s = 0
        real(c_double) :: step_s = 0
        real(c_double) :: beside_s = 0
        real(c_double) :: idle_s = 0
        real(c_double) :: task_s = 0
    end type
    type, bind(c) :: evn_loop_totals
        real(c_double) :: compute_s = 0
        real(c_double) :: exchange_s = 0
        integer(c_long_long) :: instances = 0
        integer(c_long_long) :: migrations = 0
        real(c_double) :: bytes = 0
        integer(c_long_long) :: messages = 0
        integer(c_long_long) :: copies = 0
        integer(c_long_long) :: rank_messages = 0
        real(c_double) :: rank_bytes = 0
        integer(c_long_long) :: moved = 0
        real(c_double) :: moved_bytes = 0
        integer(c_long_long) :: brought = 0
        real(c_double) :: brought_bytes = 0
        integer(c_long_long) :: stolen = 0
    end type

    ! <evener/open.h>
    type, bind(c) :: evn_open_options
        type(c_ptr) :: units = c_null_ptr, devices = c_null_ptr
        integer(c_int) :: flags = 0
        type(c_ptr) :: cluster = c_null_ptr, machine = c_null_ptr
    end type

    ! <evener/cluster.h>
    type, bind(c) :: evn_parcel
        type(c_ptr) :: data = c_null_ptr
        integer(c_size_t) :: bytes = 0
    end type

    ! ---- procedures of the program ----

    abstract interface
        integer(c_int) function evn_body(unit, batch, arg) bind(c)
            import
            type(c_ptr), value :: unit, batch, arg
        end function
        subroutine evn_job(unit, arg) bind(c)
            import
            type(c_ptr), value :: unit, arg
        end subroutine
        integer(c_int) function evn_home_make(arg, task) bind(c) ! arrived, too
            import
            type(c_ptr), value :: arg
            integer(c_int), value :: task
        end function
        type(c_ptr) function evn_home_memory(arg, task, block, bytes) bind(c)
            import
            type(c_ptr), value :: arg
            integer(c_int), value :: task, block
            integer(c_size_t), intent(inout) :: bytes
        end function
        subroutine evn_home_drop(arg, task) bind(c)
            import
            type(c_ptr), value :: arg
            integer(c_int), value :: task
        end subroutine
    end interface

    interface
        ! ---- <evener/clock.h> ----
        real(c_double) function evn_now() bind(c); import; end
        ! ---- <evener/machine.h> ----
        integer(c_int) function evn_machine_open(machine) bind(c); import; type(c_ptr), intent(inout) :: machine; end
        integer(c_int) function evn_machine_open_within(machine, cores, count) bind(c); import
            type(c_ptr), intent(inout) :: machine; integer(c_int), intent(in), optional :: cores(*)
            integer(c_int), value :: count; end
        subroutine evn_machine_close(machine) bind(c); import; type(c_ptr), value :: machine; end
        integer(c_int) function evn_machine_cores(machine) bind(c); import; type(c_ptr), value :: machine; end
        integer(c_int) function evn_machine_core_number(machine, core) bind(c); import
            type(c_ptr), value :: machine; integer(c_int), value :: core; end
        integer(c_int) function evn_machine_core_claimed(machine, core) bind(c); import
            type(c_ptr), value :: machine; integer(c_int), value :: core; end
        type(evn_machine_info) function evn_machine_about(machine) bind(c); import; type(c_ptr), value :: machine; end
        type(c_ptr) function evn_machine_kind(machine, kind) bind(c); import
            type(c_ptr), value :: machine; integer(c_int), value :: kind; end
        type(c_ptr) function evn_machine_part(machine, part) bind(c); import
            type(c_ptr), value :: machine; integer(c_int), value :: part; end
        integer(c_int) function evn_machine_part_of(machine, core) bind(c); import
            type(c_ptr), value :: machine; integer(c_int), value :: core; end
        integer(c_int) function evn_machine_keep_to(machine) bind(c); import; type(c_ptr), value :: machine; end
        integer(c_int64_t) function evn_machine_memory_available(machine) bind(c); import; type(c_ptr), value :: machine; end
        integer(c_int64_t) function evn_machine_cache(machine, level, sharing) bind(c); import
            type(c_ptr), value :: machine; integer(c_int), value :: level; integer(c_int), intent(inout), optional :: sharing
            end
        ! ---- <evener/unit.h> ----
        subroutine evn_units_close(units) bind(c); import; type(c_ptr), value :: units; end
        type(evn_units_info) function evn_units_about(units) bind(c); import; type(c_ptr), value :: units; end
        integer(c_int) function evn_units_count(units) bind(c); import; type(c_ptr), value :: units; end
        type(c_ptr) function evn_units_get(units, number) bind(c); import
            type(c_ptr), value :: units; integer(c_int), value :: number; end
        integer(c_int) function evn_units_run(units, job, arg) bind(c); import
            type(c_ptr), value :: units; procedure(evn_job) :: job; type(c_ptr), value :: arg; end
        integer(c_int) function evn_threads_try(count, stack) bind(c); import
            integer(c_int), value :: count; integer(c_size_t), value :: stack; end
        type(c_ptr) function evn_units_here() bind(c); import; end
        integer(c_int) function evn_unit_number(unit) bind(c); import; type(c_ptr), value :: unit; end
        integer(c_int) function evn_unit_is_gpu(unit) bind(c); import; type(c_ptr), value :: unit; end
        integer(c_int) function evn_unit_cores(unit) bind(c); import; type(c_ptr), value :: unit; end
        integer(c_int) function evn_unit_core_number(unit, core) bind(c); import
            type(c_ptr), value :: unit; integer(c_int), value :: core; end
        real(c_double) function evn_unit_taken(unit, anew) bind(c); import
            type(c_ptr), value :: unit; integer(c_int), value :: anew; end
        integer(c_int) function evn_unit_devices(unit) bind(c); import; type(c_ptr), value :: unit; end
        type(c_ptr) function evn_unit_device(unit, i) bind(c); import
            type(c_ptr), value :: unit; integer(c_int), value :: i; end
        type(c_ptr) function evn_unit_queue(unit, i) bind(c); import
            type(c_ptr), value :: unit; integer(c_int), value :: i; end
        type(evn_unit_info) function evn_unit_about(unit) bind(c); import; type(c_ptr), value :: unit; end
        subroutine evn_unit_slow(unit, factor) bind(c); import
            type(c_ptr), value :: unit; real(c_double), value :: factor; end
        subroutine evn_unit_synchronize(unit) bind(c); import; type(c_ptr), value :: unit; end
        integer(c_int) function evn_units_check_binding(units) bind(c); import; type(c_ptr), value :: units; end
        ! ---- <evener/cluster.h> ----
        integer(c_int) function evn_cluster_launched(speaks) bind(c); import
            integer(c_int), intent(inout), optional :: speaks; end
        type(evn_cluster_info) function evn_cluster_about(cluster) bind(c); import; type(c_ptr), value :: cluster; end
        subroutine evn_cluster_close(cluster, status) bind(c); import
            type(c_ptr), value :: cluster; integer(c_int), value :: status; end
        subroutine evn_cluster_stop_on(cluster, flag) bind(c); import; type(c_ptr), value :: cluster, flag; end
        integer(c_int) function evn_cluster_rank(cluster) bind(c); import; type(c_ptr), value :: cluster; end
        integer(c_int) function evn_cluster_size(cluster) bind(c); import; type(c_ptr), value :: cluster; end
        integer(c_int) function evn_cluster_machine(cluster, machine, wanted, oversubscribe) bind(c); import
            type(c_ptr), value :: cluster; type(c_ptr), intent(inout) :: machine
            integer(c_int), value :: wanted, oversubscribe; end
        integer(c_int) function evn_cluster_units(cluster, mine, speed) bind(c); import
            type(c_ptr), value :: cluster, mine; real(c_double), intent(in), optional :: speed(*); end
        integer(c_int) function evn_cluster_rank_of(cluster, unit) bind(c); import
            type(c_ptr), value :: cluster; integer(c_int), value :: unit; end
        integer(c_int) function evn_cluster_agree(cluster, mine) bind(c); import
            type(c_ptr), value :: cluster; integer(c_int), value :: mine; end
        integer(c_int) function evn_cluster_gather(cluster, mine, bytes, all) bind(c); import
            type(c_ptr), value :: cluster, mine; integer(c_size_t), value :: bytes; type(c_ptr), value :: all; end
        integer(c_int) function evn_cluster_tell(cluster, data, bytes) bind(c); import
            type(c_ptr), value :: cluster, data; integer(c_size_t), value :: bytes; end
        integer(c_int) function evn_cluster_carry(cluster, from, to, data, bytes) bind(c); import
            type(c_ptr), value :: cluster; integer(c_int), value :: from, to; type(c_ptr), value :: data
            integer(c_size_t), value :: bytes; end
        integer(c_int) function evn_cluster_exchange(cluster, mine, out, in) bind(c); import
            type(c_ptr), value :: cluster; integer(c_int), value :: mine; type(evn_parcel), intent(in) :: out(*), in(*); end
        ! ---- <evener/place.h> ----
        integer(c_int) function evn_place_open(place, units, share) bind(c); import
            type(c_ptr), intent(inout) :: place; type(c_ptr), value :: units; real(c_double), value :: share; end
        subroutine evn_place_close(place) bind(c); import; type(c_ptr), value :: place; end
        integer(c_int) function evn_place_spaces(place) bind(c); import; type(c_ptr), value :: place; end
        integer(c_int) function evn_place_space(place, unit, device) bind(c); import
            type(c_ptr), value :: place, unit; integer(c_int), value :: device; end
        type(c_ptr) function evn_place_device(place, space) bind(c); import
            type(c_ptr), value :: place; integer(c_int), value :: space; end
        subroutine evn_place_limit(place, space, share) bind(c); import
            type(c_ptr), value :: place; integer(c_int), value :: space; real(c_double), value :: share; end
        integer(c_int) function evn_place_add(place, host, bytes, region) bind(c); import
            type(c_ptr), value :: place, host; integer(c_size_t), value :: bytes; integer(c_int), intent(inout) :: region; end
        integer(c_int) function evn_place_make(place, bytes, region) bind(c); import
            type(c_ptr), value :: place; integer(c_size_t), value :: bytes; integer(c_int), intent(inout) :: region; end
        integer(c_int) function evn_place_arrive(place, region, host) bind(c); import
            type(c_ptr), value :: place; integer(c_int), value :: region; type(c_ptr), value :: host; end
        integer(c_int) function evn_place_leave(place, region) bind(c); import
            type(c_ptr), value :: place; integer(c_int), value :: region; end
        integer(c_int) function evn_place_remove(place, region) bind(c); import
            type(c_ptr), value :: place; integer(c_int), value :: region; end
        integer(c_int) function evn_place_find(place, address, region, offset) bind(c); import
            type(c_ptr), value :: place, address; integer(c_int), intent(inout) :: region
            integer(c_size_t), intent(inout) :: offset; end
        integer(c_int) function evn_place_acquire(place, count, region, space, access) bind(c); import
            type(c_ptr), value :: place; integer(c_int), value :: count; integer(c_int), intent(in) :: region(*)
            integer(c_int), value :: space, access; end
        integer(c_int) function evn_place_acquire_each(place, count, region, space, access) bind(c); import
            type(c_ptr), value :: place; integer(c_int), value :: count; integer(c_int), intent(in) :: region(*)
            integer(c_int), value :: space; integer(c_int), intent(in) :: access(*); end
        integer(c_int) function evn_place_release(place, count, region, space) bind(c); import
            type(c_ptr), value :: place; integer(c_int), value :: count; integer(c_int), intent(in) :: region(*)
            integer(c_int), value :: space; end
        integer(c_int) function evn_place_fits(place, count, region, space, fit) bind(c); import
            type(c_ptr), value :: place; integer(c_int), value :: count; integer(c_int), intent(in) :: region(*)
            integer(c_int), value :: space; integer(c_int), intent(inout) :: fit; end
        integer(c_int) function evn_place_where(place, region) bind(c); import
            type(c_ptr), value :: place; integer(c_int), value :: region; end
        integer(c_int) function evn_place_valid(place, region, space) bind(c); import
            type(c_ptr), value :: place; integer(c_int), value :: region, space; end
        type(c_ptr) function evn_place_buffer(place, space) bind(c); import
            type(c_ptr), value :: place; integer(c_int), value :: space; end
        integer(c_size_t) function evn_place_at(place, region, space) bind(c); import
            type(c_ptr), value :: place; integer(c_int), value :: region, space; end
        type(c_ptr) function evn_place_host(place, region) bind(c); import
            type(c_ptr), value :: place; integer(c_int), value :: region; end
        integer(c_size_t) function evn_place_bytes(place, region) bind(c); import
            type(c_ptr), value :: place; integer(c_int), value :: region; end
        type(evn_moves) function evn_place_moves(place, from, to) bind(c); import
            type(c_ptr), value :: place; integer(c_int), value :: from, to; end
        ! ---- <evener/schedule.h> ----
        subroutine evn_schedule_close(schedule) bind(c); import; type(c_ptr), value :: schedule; end
        type(c_ptr) function evn_schedule_problem(schedule) bind(c); import; type(c_ptr), value :: schedule; end
        integer(c_int) function evn_schedule_learn(schedule, owner, seconds) bind(c); import
            type(c_ptr), value :: schedule; integer(c_int), intent(in) :: owner(*); real(c_double), intent(in) :: seconds(*)
            end
        integer(c_int) function evn_schedule_change(schedule, change) bind(c); import
            type(c_ptr), value :: schedule; type(evn_change), intent(in) :: change; end
        integer(c_int) function evn_schedule_reassign(schedule, cores, share) bind(c); import
            type(c_ptr), value :: schedule; integer(c_int), value :: cores; integer(c_int), intent(inout) :: share(*); end
        real(c_double) function evn_imbalance(units, seconds) bind(c); import
            integer(c_int), value :: units; real(c_double), intent(in) :: seconds(*); end
        real(c_double) function evn_problem_imbalance(problem, owner, load) bind(c); import
            type(evn_problem), intent(in) :: problem; integer(c_int), intent(in) :: owner(*)
            real(c_double), intent(inout), optional :: load(*); end
        integer(c_int) function evn_schedule_simulate(schedule, owner, seconds) bind(c); import
            type(c_ptr), value :: schedule; integer(c_int), intent(inout) :: owner(*)
            real(c_double), intent(inout) :: seconds(*); end
        real(c_double) function evn_problem_cut(problem, owner, pairs) bind(c); import
            type(evn_problem), intent(in) :: problem; integer(c_int), intent(in) :: owner(*)
            integer(c_int), intent(inout), optional :: pairs; end
        ! ---- <evener/loop.h> ----
        integer(c_int) function evn_batch_next(batch) bind(c); import; type(c_ptr), value :: batch; end
        integer(c_int) function evn_batch_range(batch, end) bind(c); import
            type(c_ptr), value :: batch; integer(c_int), intent(inout) :: end; end
        subroutine evn_batch_done(batch, count) bind(c); import
            type(c_ptr), value :: batch; integer(c_int), value :: count; end
        subroutine evn_batch_add(batch, task, seconds) bind(c); import
            type(c_ptr), value :: batch; integer(c_int), value :: task; real(c_double), value :: seconds; end
        subroutine evn_batch_brought(batch, regions, bytes) bind(c); import
            type(c_ptr), value :: batch; integer(c_long_long), value :: regions
            real(c_double), value :: bytes; end
        subroutine evn_batch_spent(batch, task, begin) bind(c); import
            type(c_ptr), value :: batch; integer(c_int), value :: task; real(c_double), value :: begin; end
        integer(c_int) function evn_batch_device(batch) bind(c); import; type(c_ptr), value :: batch; end
        integer(c_int) function evn_batch_space(batch) bind(c); import; type(c_ptr), value :: batch; end
        type(c_ptr) function evn_batch_queue(batch) bind(c); import; type(c_ptr), value :: batch; end
        type(c_ptr) function evn_batch_buffer(batch) bind(c); import; type(c_ptr), value :: batch; end
        integer(c_size_t) function evn_batch_at(batch, task, i) bind(c); import
            type(c_ptr), value :: batch; integer(c_int), value :: task, i; end
        type(c_ptr) function evn_batch_host(batch, task, i) bind(c); import
            type(c_ptr), value :: batch; integer(c_int), value :: task, i; end
        type(c_ptr) function evn_batch_table(batch) bind(c); import; type(c_ptr), value :: batch; end
        integer(c_int) function evn_loop_open(loop, units, schedule) bind(c); import
            type(c_ptr), intent(inout) :: loop; type(c_ptr), value :: units, schedule; end
        subroutine evn_loop_close(loop) bind(c); import; type(c_ptr), value :: loop; end
        integer(c_int) function evn_loop_open_on(loop, units, schedule, cluster) bind(c); import
            type(c_ptr), intent(inout) :: loop; type(c_ptr), value :: units, schedule, cluster; end
        integer(c_int) function evn_loop_homes(loop, home, arg) bind(c); import
            type(c_ptr), value :: loop; type(evn_home), intent(in) :: home; type(c_ptr), value :: arg; end
        integer(c_int) function evn_loop_has(loop, task) bind(c); import
            type(c_ptr), value :: loop; integer(c_int), value :: task; end
        integer(c_int) function evn_loop_allgather(loop, values, bytes) bind(c); import
            type(c_ptr), value :: loop, values; integer(c_size_t), value :: bytes; end
        integer(c_int) function evn_loop_place(loop, place, regions, region, access) bind(c); import
            type(c_ptr), value :: loop, place; integer(c_int), value :: regions
            integer(c_int), intent(in) :: region(*), access(*); end
        integer(c_int) function evn_loop_run(loop, body, arg) bind(c); import
            type(c_ptr), value :: loop; procedure(evn_body) :: body; type(c_ptr), value :: arg; end
        integer(c_int) function evn_loop_join(loop, unit, body, arg) bind(c); import
            type(c_ptr), value :: loop, unit; procedure(evn_body) :: body; type(c_ptr), value :: arg; end
        integer(c_int) function evn_loop_visit(loop, body, arg) bind(c); import
            type(c_ptr), value :: loop; procedure(evn_body), optional :: body; type(c_ptr), value :: arg; end
        integer(c_int) function evn_loop_visit_host(loop, body, arg, access) bind(c); import
            type(c_ptr), value :: loop; procedure(evn_body), optional :: body; type(c_ptr), value :: arg
            integer(c_int), value :: access; end
        integer(c_int) function evn_loop_weights(loop, weight) bind(c); import
            type(c_ptr), value :: loop; real(c_double), intent(in), optional :: weight(*); end
        integer(c_int) function evn_loop_stealing(loop, allowed) bind(c); import
            type(c_ptr), value :: loop; integer(c_int), value :: allowed; end
        integer(c_int) function evn_loop_bring(loop) bind(c); import; type(c_ptr), value :: loop; end
        type(evn_loop_info) function evn_loop_about(loop) bind(c); import; type(c_ptr), value :: loop; end
        subroutine evn_loop_devices(loop, now, device) bind(c); import
            type(c_ptr), value :: loop; integer(c_int), value :: now; integer(c_int), intent(inout) :: device(*); end
        integer(c_int) function evn_loop_keep_bursts(loop, max) bind(c); import
            type(c_ptr), value :: loop; integer(c_int), value :: max; end
        integer(c_int) function evn_loop_bursts(loop, unit) bind(c); import
            type(c_ptr), value :: loop; integer(c_int), value :: unit; end
        type(evn_burst) function evn_loop_burst(loop, unit, i) bind(c); import
            type(c_ptr), value :: loop; integer(c_int), value :: unit, i; end
        type(c_ptr) function evn_loop_schedule(loop) bind(c); import; type(c_ptr), value :: loop; end
        type(evn_unit_stats) function evn_loop_stats(loop, unit) bind(c); import
            type(c_ptr), value :: loop; integer(c_int), value :: unit; end
        type(evn_loop_medians) function evn_loop_median(loop) bind(c); import; type(c_ptr), value :: loop; end
        type(evn_loop_totals) function evn_loop_sum(loop) bind(c); import; type(c_ptr), value :: loop; end
        subroutine evn_loop_add_totals(all, of_rank) bind(c); import
            type(evn_loop_totals), intent(inout) :: all; type(evn_loop_totals), intent(in) :: of_rank; end
        subroutine evn_loop_reset_stats(loop) bind(c); import; type(c_ptr), value :: loop; end
        ! ---- <evener/change.h> ----
        integer(c_int) function evn_loop_change(loop, change) bind(c); import
            type(c_ptr), value :: loop; type(evn_change), intent(in) :: change; end
        type(evn_changed) function evn_loop_changed(loop, i) bind(c); import
            type(c_ptr), value :: loop; integer(c_int), value :: i; end
        integer(c_int) function evn_loop_bear(loop, body, arg, origins) bind(c); import
            type(c_ptr), value :: loop; procedure(evn_body) :: body; type(c_ptr), value :: arg
            integer(c_int), value :: origins; end
        integer(c_int) function evn_batch_origins(batch, task) bind(c); import
            type(c_ptr), value :: batch; integer(c_int), value :: task; end
        type(c_ptr) function evn_batch_origin_host(batch, task, k, i) bind(c); import
            type(c_ptr), value :: batch; integer(c_int), value :: task, k, i; end
        integer(c_size_t) function evn_batch_origin_at(batch, task, k, i) bind(c); import
            type(c_ptr), value :: batch; integer(c_int), value :: task, k, i; end
        ! ---- <evener/exchange.h> ----
        integer(c_int) function evn_exchange_open(exchange, loop, element, count, face, host) bind(c); import
            type(c_ptr), intent(inout) :: exchange; type(c_ptr), value :: loop; integer(c_size_t), value :: element
            integer(c_int), value :: count; type(evn_face), intent(in) :: face(*)
            type(c_ptr), intent(in), optional :: host(*); end
        integer(c_int) function evn_exchange_add(exchange, count, face, host) bind(c); import
            type(c_ptr), value :: exchange; integer(c_int), value :: count; type(evn_face), intent(in) :: face(*)
            type(c_ptr), intent(in), optional :: host(*); end
        integer(c_int) function evn_exchange_drop(exchange, count, face) bind(c); import
            type(c_ptr), value :: exchange; integer(c_int), value :: count; integer(c_int), intent(in) :: face(*); end
        subroutine evn_exchange_close(exchange) bind(c); import; type(c_ptr), value :: exchange; end
        integer(c_int) function evn_exchange_run(exchange) bind(c); import; type(c_ptr), value :: exchange; end
        integer(c_int) function evn_exchange_start(exchange, open) bind(c); import
            type(c_ptr), value :: exchange; integer(c_int), intent(inout) :: open; end
        integer(c_int) function evn_exchange_finish(exchange, unit, device) bind(c); import
            type(c_ptr), value :: exchange, unit; integer(c_int), value :: device; end
        integer(c_int) function evn_exchange_ahead(exchange, task) bind(c); import
            type(c_ptr), value :: exchange; integer(c_int), value :: task; end
        integer(c_int) function evn_exchange_needs(exchange, task) bind(c); import
            type(c_ptr), value :: exchange; integer(c_int), value :: task; end
        integer(c_int) function evn_exchange_pairs(exchange, bytes) bind(c); import
            type(c_ptr), value :: exchange; real(c_double), intent(inout), optional :: bytes(*); end
        ! ---- <evener/distributed.h> ----
        integer(c_int) function evn_distributed_open(distributed, own) bind(c); import
            type(c_ptr), intent(inout) :: distributed; type(evn_distribution), intent(in) :: own; end
        subroutine evn_distributed_close(distributed) bind(c); import; type(c_ptr), value :: distributed; end
        type(evn_rank_part) function evn_distributed_part(distributed) bind(c); import; type(c_ptr), value :: distributed; end
        integer(c_int) function evn_distributed_add(distributed, count, face) bind(c); import
            type(c_ptr), value :: distributed; integer(c_int), value :: count; type(evn_rank_face), intent(in) :: face(*); end
        integer(c_int) function evn_distributed_run(distributed, body, arg) bind(c); import
            type(c_ptr), value :: distributed; procedure(evn_body) :: body; type(c_ptr), value :: arg; end
        integer(c_int) function evn_distributed_change(distributed, change, bytes) bind(c); import
            type(c_ptr), value :: distributed; type(evn_change), intent(in) :: change
            integer(c_size_t), intent(in), optional :: bytes(*); end
        integer(c_int) function evn_distributed_bear(distributed, body, arg) bind(c); import
            type(c_ptr), value :: distributed; procedure(evn_body) :: body; type(c_ptr), value :: arg; end
        integer(c_int) function evn_distributed_now(distributed, count, task) bind(c); import
            type(c_ptr), value :: distributed; integer(c_int), value :: count; type(evn_rank_task), intent(inout) :: task(*); end
        integer(c_int) function evn_distributed_balance(distributed, moved) bind(c); import
            type(c_ptr), value :: distributed; integer(c_int), intent(inout), optional :: moved; end
        ! ---- <evener/open.h> ----
        integer(c_int) function evn_session_place(session, loop, place, regions, region, access) bind(c); import
            type(c_ptr), value :: session, loop, place; integer(c_int), value :: regions
            integer(c_int), intent(in) :: region(*), access(*); end
        integer(c_int) function evn_session_collect(session, loop) bind(c); import; type(c_ptr), value :: session, loop; end
        integer(c_int) function evn_session_units_close(session) bind(c); import; type(c_ptr), value :: session; end
        integer(c_int) function evn_open_loop_on(loop, session, schedule) bind(c); import
            type(c_ptr), intent(inout) :: loop; type(c_ptr), value :: session, schedule; end
        integer(c_int) function evn_close_loop(session, loop) bind(c); import; type(c_ptr), value :: session, loop; end
        integer(c_int) function evn_close(session) bind(c); import; type(c_ptr), value :: session; end
        subroutine evn_abandon(session) bind(c); import; type(c_ptr), value :: session; end
        integer(c_int) function evn_session_rank(session) bind(c); import; type(c_ptr), value :: session; end
        type(c_ptr) function evn_session_cluster(session) bind(c); import; type(c_ptr), value :: session; end
        type(c_ptr) function evn_session_units(session) bind(c); import; type(c_ptr), value :: session; end
        type(c_ptr) function evn_session_machine(session) bind(c); import; type(c_ptr), value :: session; end
    end interface

    ! ---- what has texts, or gives arrays: C's functions (texts end with c_null_char), and below Fortran's ----

    interface
        integer(c_size_t) function evn_c_strlen(text) bind(c, name="strlen"); import; type(c_ptr), value :: text; end
        subroutine evn_c_free(memory) bind(c, name="free"); import; type(c_ptr), value :: memory; end
        type(c_ptr) function c_evn_status_text(status) bind(c, name="evn_status_text"); import
            integer(c_int), value :: status; end
        type(c_ptr) function c_evn_message() bind(c, name="evn_message"); import; end
        integer(c_int) function c_evn_fail_text(status, text) bind(c, name="evn_fail_text"); import
            integer(c_int), value :: status; character(kind=c_char), intent(in) :: text(*); end
        type(c_ptr) function c_evn_version() bind(c, name="evn_version"); import; end
        integer(c_int) function c_evn_machine_open_synthetic(machine, description) &
            bind(c, name="evn_machine_open_synthetic"); import
            type(c_ptr), intent(inout) :: machine; character(kind=c_char), intent(in) :: description(*); end
        integer(c_int) function c_evn_units_open(units, machine, list, devices, flags) bind(c, name="evn_units_open"); import
            type(c_ptr), intent(inout) :: units; type(c_ptr), value :: machine; character(kind=c_char), intent(in) :: list(*)
            type(c_ptr), value :: devices; integer(c_int), value :: flags; end
        type(c_ptr) function c_evn_units_text(units) bind(c, name="evn_units_text"); import; type(c_ptr), value :: units; end
        integer(c_int) function c_evn_cluster_open(cluster, how) bind(c, name="evn_cluster_open"); import
            type(c_ptr), intent(inout) :: cluster; character(kind=c_char), intent(in) :: how(*); end
        type(c_ptr) function c_evn_cluster_host(cluster, rank) bind(c, name="evn_cluster_host"); import
            type(c_ptr), value :: cluster; integer(c_int), value :: rank; end
        integer(c_int) function c_evn_schedule_open(schedule, text, problem) bind(c, name="evn_schedule_open"); import
            type(c_ptr), intent(inout) :: schedule; character(kind=c_char), intent(in) :: text(*)
            type(evn_problem), intent(in) :: problem; end
        integer(c_int) function c_evn_schedule_uses_speeds(text) bind(c, name="evn_schedule_uses_speeds"); import
            character(kind=c_char), intent(in) :: text(*); end
        type(c_ptr) function c_evn_schedule_text(schedule) bind(c, name="evn_schedule_text"); import
            type(c_ptr), value :: schedule; end
        type(c_ptr) function c_evn_schedule_owner(schedule) bind(c, name="evn_schedule_owner"); import
            type(c_ptr), value :: schedule; end
        type(evn_schedule_info) function evn_schedule_about(schedule) bind(c); import; type(c_ptr), value :: schedule; end
        type(c_ptr) function c_evn_schedule_export(schedule) bind(c, name="evn_schedule_export"); import
            type(c_ptr), value :: schedule; end
        integer(c_int) function c_evn_schedule_import(schedule, text) bind(c, name="evn_schedule_import"); import
            type(c_ptr), value :: schedule; character(kind=c_char), intent(in) :: text(*); end
        type(c_ptr) function c_evn_schedule_explain(schedule) bind(c, name="evn_schedule_explain"); import
            type(c_ptr), value :: schedule; end
        type(c_ptr) function c_evn_schedule_name(i, explanation) bind(c, name="evn_schedule_name"); import
            integer(c_int), value :: i; type(c_ptr), intent(inout) :: explanation; end
        type(c_ptr) function c_evn_batch_tasks(batch, count) bind(c, name="evn_batch_tasks"); import
            type(c_ptr), value :: batch; integer(c_int), intent(inout) :: count; end
        integer(c_int) function c_evn_batch_launch(batch, source, kernel, groups, argument, arguments) &
            bind(c, name="evn_batch_launch"); import
            type(c_ptr), value :: batch; type(evn_kernel_source), intent(in) :: source
            character(kind=c_char), intent(in) :: kernel(*); integer(c_int), value :: groups
            type(evn_argument), intent(in) :: argument(*); integer(c_int), value :: arguments; end
        type(c_ptr) function c_evn_loop_links(loop, links) bind(c, name="evn_loop_links"); import
            type(c_ptr), value :: loop; integer(c_int), intent(inout) :: links; end
        type(c_ptr) function c_evn_loop_next(loop, draws) bind(c, name="evn_loop_next"); import
            type(c_ptr), value :: loop; integer(c_int), intent(inout), optional :: draws; end
        type(c_ptr) function c_evn_loop_owner(loop) bind(c, name="evn_loop_owner"); import; type(c_ptr), value :: loop; end
        type(c_ptr) function c_evn_loop_seconds(loop) bind(c, name="evn_loop_seconds"); import
            type(c_ptr), value :: loop; end
        integer(c_int) function c_evn_open(session, units, devices, flags) bind(c, name="evn_open"); import
            type(c_ptr), intent(inout) :: session; type(c_ptr), value :: units, devices; integer(c_int), value :: flags; end
        integer(c_int) function c_evn_open_comm(session, comm, units, devices, flags) bind(c, name="evn_open_comm"); import
            type(c_ptr), intent(inout) :: session; integer(c_int), value :: comm, flags; type(c_ptr), value :: units, devices; end
        integer(c_int) function c_evn_open_with(session, options) bind(c, name="evn_open_with"); import
            type(c_ptr), intent(inout) :: session; type(evn_open_options), intent(in) :: options; end
        integer(c_int) function c_evn_session_units_open(session, units, devices, flags) &
            bind(c, name="evn_session_units_open"); import
            type(c_ptr), value :: session, units, devices; integer(c_int), value :: flags; end
        integer(c_int) function c_evn_session_schedule(schedule, session, text, problem) &
            bind(c, name="evn_session_schedule"); import
            type(c_ptr), intent(inout) :: schedule; type(c_ptr), value :: session, text
            type(evn_problem), intent(in) :: problem; end
        integer(c_int) function c_evn_open_loop(loop, session, schedule, problem) bind(c, name="evn_open_loop"); import
            type(c_ptr), intent(inout) :: loop; type(c_ptr), value :: session, schedule
            type(evn_problem), intent(in) :: problem; end
        integer(c_int) function c_evn_name_loop(session, loop, name) bind(c, name="evn_name_loop"); import
            type(c_ptr), value :: session, loop; character(kind=c_char), intent(in) :: name(*); end
        integer(c_int) function c_evn_complain(program) bind(c, name="evn_complain"); import
            character(kind=c_char), intent(in) :: program(*); end
    end interface

contains

    ! ---- <evener/status.h>, <evener/version.h> ----

    function evn_status_text(status) result(text)
        integer(c_int), intent(in) :: status
        character(:), allocatable :: text
        text = evn_text_at(c_evn_status_text(status))
    end function

    function evn_message() result(text)
        character(:), allocatable :: text
        text = evn_text_at(c_evn_message())
    end function

    ! The text as it is: no formats.
    integer(c_int) function evn_fail(status, text)
        integer(c_int), intent(in) :: status
        character(*), intent(in) :: text
        evn_fail = c_evn_fail_text(status, trim(text)//c_null_char)
    end function

    function evn_version() result(text)
        character(:), allocatable :: text
        text = evn_text_at(c_evn_version())
    end function

    ! ---- <evener/machine.h>, <evener/unit.h> ----

    integer(c_int) function evn_machine_open_synthetic(machine, description)
        type(c_ptr), intent(inout) :: machine
        character(*), intent(in) :: description
        evn_machine_open_synthetic = c_evn_machine_open_synthetic(machine, trim(description)//c_null_char)
    end function

    integer(c_int) function evn_units_open(units, machine, list, devices, flags)
        type(c_ptr), intent(inout) :: units
        type(c_ptr), intent(in) :: machine
        character(*), intent(in) :: list
        character(*), intent(in), optional :: devices
        integer(c_int), intent(in), optional :: flags
        character(kind=c_char), allocatable, target :: room(:)
        evn_units_open = c_evn_units_open(units, machine, trim(list)//c_null_char, closed(devices, room), &
            flags_of(flags))
    end function

    function evn_units_text(units) result(text)
        type(c_ptr), intent(in) :: units
        character(:), allocatable :: text
        text = evn_text_at(c_evn_units_text(units))
    end function

    ! ---- <evener/cluster.h> ----

    integer(c_int) function evn_cluster_open(cluster, how)
        type(c_ptr), intent(inout) :: cluster
        character(*), intent(in) :: how
        evn_cluster_open = c_evn_cluster_open(cluster, trim(how)//c_null_char)
    end function

    function evn_cluster_host(cluster, rank) result(text)
        type(c_ptr), intent(in) :: cluster
        integer(c_int), intent(in) :: rank
        character(:), allocatable :: text
        text = evn_text_at(c_evn_cluster_host(cluster, rank))
    end function

    ! ---- <evener/schedule.h> ----

    integer(c_int) function evn_schedule_open(schedule, text, problem)
        type(c_ptr), intent(inout) :: schedule
        character(*), intent(in) :: text
        type(evn_problem), intent(in) :: problem
        evn_schedule_open = c_evn_schedule_open(schedule, trim(text)//c_null_char, problem)
    end function

    integer(c_int) function evn_schedule_uses_speeds(text)
        character(*), intent(in) :: text
        evn_schedule_uses_speeds = c_evn_schedule_uses_speeds(trim(text)//c_null_char)
    end function

    function evn_schedule_text(schedule) result(text)
        type(c_ptr), intent(in) :: schedule
        character(:), allocatable :: text
        text = evn_text_at(c_evn_schedule_text(schedule))
    end function

    ! Of all tasks, from 1: owner(t + 1) is the unit of task t.
    function evn_schedule_owner(schedule) result(owner)
        type(c_ptr), intent(in) :: schedule
        integer(c_int), pointer :: owner(:)
        owner => numbers_at(c_evn_schedule_owner(schedule), tasks_of(schedule))
    end function

    ! In which order units draw the tasks, from 1; no pointer where they are numbered so, or nobody draws.
    function evn_schedule_export(schedule) result(text)
        type(c_ptr), intent(in) :: schedule
        character(:), allocatable :: text
        type(c_ptr) :: at
        at = c_evn_schedule_export(schedule)
        text = evn_text_at(at)
        call evn_c_free(at)
    end function

    integer(c_int) function evn_schedule_import(schedule, text)
        type(c_ptr), intent(in) :: schedule
        character(*), intent(in) :: text
        evn_schedule_import = c_evn_schedule_import(schedule, trim(text)//c_null_char)
    end function

    function evn_schedule_explain(schedule) result(text)
        type(c_ptr), intent(in) :: schedule
        character(:), allocatable :: text
        type(c_ptr) :: at
        at = c_evn_schedule_explain(schedule)
        text = evn_text_at(at)
        call evn_c_free(at)
    end function

    ! "" beyond the last.
    function evn_schedule_name(i, explanation) result(text)
        integer(c_int), intent(in) :: i
        character(:), allocatable, intent(out), optional :: explanation
        character(:), allocatable :: text
        type(c_ptr) :: why
        why = c_null_ptr
        text = evn_text_at(c_evn_schedule_name(i, why))
        if (present(explanation)) explanation = evn_text_at(why)
    end function

    ! ---- <evener/loop.h> ----

    ! The whole batch, ascending: as many as the array has.
    function evn_batch_tasks(batch) result(task)
        type(c_ptr), intent(in) :: batch
        integer(c_int), pointer :: task(:)
        type(c_ptr) :: at
        integer(c_int) :: count
        count = 0
        at = c_evn_batch_tasks(batch, count)
        task => numbers_at(at, count)
    end function

    integer(c_int) function evn_batch_launch(batch, source, kernel, groups, argument)
        type(c_ptr), intent(in) :: batch
        type(evn_kernel_source), intent(in) :: source
        character(*), intent(in) :: kernel
        integer(c_int), intent(in) :: groups
        type(evn_argument), intent(in) :: argument(:)
        evn_batch_launch = c_evn_batch_launch(batch, source, trim(kernel)//c_null_char, groups, argument, &
            int(size(argument), c_int))
    end function

    ! Arrays of all tasks, from 1.
    function evn_loop_next(loop, draws) result(owner)
        type(c_ptr), intent(in) :: loop
        integer(c_int), intent(inout), optional :: draws
        integer(c_int), pointer :: owner(:)
        owner => numbers_at(c_evn_loop_next(loop, draws), tasks_of(evn_loop_schedule(loop)))
    end function

    ! The tasks that the last change bore, ascending: as many as the array has.
    function evn_loop_owner(loop) result(owner)
        type(c_ptr), intent(in) :: loop
        integer(c_int), pointer :: owner(:)
        owner => numbers_at(c_evn_loop_owner(loop), tasks_of(evn_loop_schedule(loop)))
    end function

    function evn_loop_seconds(loop) result(seconds)
        type(c_ptr), intent(in) :: loop
        real(c_double), pointer :: seconds(:)
        type(c_ptr) :: at
        at = c_evn_loop_seconds(loop)
        seconds => null()
        if (c_associated(at)) call c_f_pointer(at, seconds, [tasks_of(evn_loop_schedule(loop))])
    end function

    ! A copy; not allocated without memory.
    function evn_loop_links(loop) result(link)
        type(c_ptr), intent(in) :: loop
        type(evn_link), allocatable :: link(:)
        type(evn_link), pointer :: from(:)
        integer(c_int) :: links
        type(c_ptr) :: at
        links = 0
        at = c_evn_loop_links(loop, links)
        if (.not. c_associated(at)) return
        call c_f_pointer(at, from, [links])
        link = from
        call evn_c_free(at)
    end function

    ! ---- <evener/open.h> ----

    integer(c_int) function evn_open_comm(session, comm, units, devices, flags)
        type(c_ptr), intent(inout) :: session
        integer(c_int), intent(in) :: comm
        character(*), intent(in), optional :: units, devices
        integer(c_int), intent(in), optional :: flags
        character(kind=c_char), allocatable, target :: room(:), more(:)
        evn_open_comm = c_evn_open_comm(session, comm, closed(units, room), closed(devices, more), flags_of(flags))
    end function

    integer(c_int) function evn_open(session, units, devices, flags)
        type(c_ptr), intent(inout) :: session
        character(*), intent(in), optional :: units, devices
        integer(c_int), intent(in), optional :: flags
        character(kind=c_char), allocatable, target :: room(:), more(:)
        evn_open = c_evn_open(session, closed(units, room), closed(devices, more), flags_of(flags))
    end function

    ! evn_open_options' fields are its arguments
    integer(c_int) function evn_open_with(session, units, devices, flags, cluster, machine)
        type(c_ptr), intent(inout) :: session
        character(*), intent(in), optional :: units, devices
        integer(c_int), intent(in), optional :: flags
        type(c_ptr), intent(in), optional :: cluster, machine
        character(kind=c_char), allocatable, target :: room(:), more(:)
        type(evn_open_options) :: options
        options%units = closed(units, room)
        options%devices = closed(devices, more)
        options%flags = flags_of(flags)
        if (present(cluster)) options%cluster = cluster
        if (present(machine)) options%machine = machine
        evn_open_with = c_evn_open_with(session, options)
    end function

    integer(c_int) function evn_session_units_open(session, units, devices, flags)
        type(c_ptr), intent(in) :: session
        character(*), intent(in), optional :: units, devices
        integer(c_int), intent(in), optional :: flags
        character(kind=c_char), allocatable, target :: room(:), more(:)
        evn_session_units_open = c_evn_session_units_open(session, closed(units, room), closed(devices, more), flags_of(flags))
    end function

    integer(c_int) function evn_session_schedule(schedule, session, text, problem)
        type(c_ptr), intent(inout) :: schedule
        type(c_ptr), intent(in) :: session
        character(*), intent(in), optional :: text
        type(evn_problem), intent(in) :: problem
        character(kind=c_char), allocatable, target :: room(:)
        evn_session_schedule = c_evn_session_schedule(schedule, session, closed(text, room), problem)
    end function

    integer(c_int) function evn_open_loop(loop, session, schedule, problem)
        type(c_ptr), intent(inout) :: loop
        type(c_ptr), intent(in) :: session
        character(*), intent(in), optional :: schedule
        type(evn_problem), intent(in) :: problem
        character(kind=c_char), allocatable, target :: room(:)
        evn_open_loop = c_evn_open_loop(loop, session, closed(schedule, room), problem)
    end function

    integer(c_int) function evn_name_loop(session, loop, name)
        type(c_ptr), intent(in) :: session, loop
        character(*), intent(in) :: name
        evn_name_loop = c_evn_name_loop(session, loop, trim(name)//c_null_char)
    end function

    integer(c_int) function evn_complain(program)
        character(*), intent(in) :: program
        evn_complain = c_evn_complain(trim(program)//c_null_char)
    end function

    ! ---- from one language to the other ----

    ! A text as C has it, in `room`; NULL without one.
    type(c_ptr) function closed(text, room)
        character(*), intent(in), optional :: text
        character(kind=c_char), allocatable, target, intent(out) :: room(:)
        integer :: i
        closed = c_null_ptr
        if (.not. present(text)) return
        allocate (room(len_trim(text) + 1))
        do i = 1, size(room) - 1
            room(i) = text(i:i)
        end do
        room(size(room)) = c_null_char
        closed = c_loc(room)
    end function

    ! C's text as Fortran has it; "" for NULL.
    function evn_text_at(at) result(text)
        type(c_ptr), intent(in) :: at
        character(:), allocatable :: text
        character(kind=c_char), pointer :: letter(:)
        integer :: i
        if (.not. c_associated(at)) then
            text = ''
            return
        end if
        call c_f_pointer(at, letter, [evn_c_strlen(at)])
        allocate (character(size(letter)) :: text)
        do i = 1, size(letter)
            text(i:i) = letter(i)
        end do
    end function

    function numbers_at(at, count) result(number)
        type(c_ptr), intent(in) :: at
        integer(c_int), intent(in) :: count
        integer(c_int), pointer :: number(:)
        number => null()
        if (c_associated(at)) call c_f_pointer(at, number, [count])
    end function

    integer(c_int) function flags_of(flags)
        integer(c_int), intent(in), optional :: flags
        flags_of = 0
        if (present(flags)) flags_of = flags
    end function

    integer(c_int) function tasks_of(schedule)
        type(c_ptr), intent(in) :: schedule
        type(evn_problem), pointer :: problem
        type(c_ptr) :: at
        tasks_of = 0
        at = evn_schedule_problem(schedule)
        if (.not. c_associated(at)) return
        call c_f_pointer(at, problem)
        tasks_of = problem%tasks
    end function
end module
