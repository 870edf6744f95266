! What evener-cc calls in the place of directives of compute units in Fortran. Programs do not use it; evener-cc compiles it
! beside them, and nothing of it is linked: there are interfaces only. <evener/cu_prelude.h> and <evener/cu_fortran.h> say what
! each does.
module evn_cu
    use, intrinsic :: iso_c_binding, only: evn_cu_int => c_long_long, evn_cu_c_int => c_int, evn_cu_word => c_intptr_t, &
        evn_cu_size => c_size_t, evn_cu_char => c_char, evn_cu_end => c_null_char, evn_cu_pointer => c_ptr, &
        evn_cu_double => c_double, evn_cu_int_1 => c_signed_char, evn_cu_int_2 => c_short, &
        evn_cu_funptr => c_funptr, evn_cu_procedure => c_funloc
    implicit none

    type, bind(c) :: evn_cu_group
        integer(evn_cu_int) :: count = 0
        integer(evn_cu_c_int) :: family = 0
        integer(evn_cu_int) :: size = 0
    end type

    ! An evn_cu_site is four words, zero at first.
    interface
        subroutine evn_cu_site_open(site, file, line, schedule) bind(c); import
            integer(evn_cu_word), intent(inout) :: site(4); integer(evn_cu_c_int), value :: line
            character(kind=evn_cu_char), intent(in) :: file(*), schedule(*); end
        integer(evn_cu_int) function evn_cu_do_trips(site, from, to, step) bind(c); import
            integer(evn_cu_word), intent(inout) :: site(4); integer(evn_cu_int), value :: from, to, step; end
        subroutine evn_cu_option_named(site, name, value) bind(c); import
            integer(evn_cu_word), intent(inout) :: site(4); character(kind=evn_cu_char), intent(in) :: name(*)
            integer(evn_cu_int), value :: value; end
        subroutine evn_cu_speed(site, family, speed) bind(c); import
            integer(evn_cu_word), intent(inout) :: site(4); integer(evn_cu_c_int), value :: family
            real(evn_cu_double), value :: speed; end
        subroutine evn_cu_batch(site, body) bind(c); import
            integer(evn_cu_word), intent(inout) :: site(4); type(evn_cu_funptr), value :: body; end
        type(evn_cu_pointer) function evn_cu_weights(site, trips) bind(c); import
            integer(evn_cu_word), intent(inout) :: site(4); integer(evn_cu_int), value :: trips; end
        type(evn_cu_pointer) function evn_cu_keys(site, trips) bind(c); import
            integer(evn_cu_word), intent(inout) :: site(4); integer(evn_cu_int), value :: trips; end
        type(evn_cu_pointer) function evn_cu_parts(site, which, bytes, trips) bind(c); import
            integer(evn_cu_word), intent(inout) :: site(4); integer(evn_cu_c_int), value :: which
            integer(evn_cu_size), value :: bytes; integer(evn_cu_int), value :: trips; end
        integer(evn_cu_c_int) function evn_cu_enter(site, group, groups, limit, trips) bind(c); import
            integer(evn_cu_word), intent(inout) :: site(4); type(evn_cu_group), intent(in) :: group(*)
            integer(evn_cu_c_int), value :: groups; integer(evn_cu_int), value :: limit, trips; end
        integer(evn_cu_c_int) function evn_cu_teams(site, group, groups, limit) bind(c); import
            integer(evn_cu_word), intent(inout) :: site(4); type(evn_cu_group), intent(in) :: group(*)
            integer(evn_cu_c_int), value :: groups; integer(evn_cu_int), value :: limit; end
        integer(evn_cu_c_int) function evn_cu_distribute(site, trips) bind(c); import
            integer(evn_cu_word), intent(inout) :: site(4); integer(evn_cu_int), value :: trips; end
        integer(evn_cu_int) function evn_cu_team() bind(c); import; end
        integer(evn_cu_int) function evn_cu_range(end) bind(c); import; integer(evn_cu_int), intent(out) :: end; end
        subroutine evn_cu_behind(was, is) bind(c); import; integer(evn_cu_int), value :: was, is; end
    end interface

    interface evn_cu_integer
        integer(evn_cu_int) function evn_cu_integer_1(x) bind(c); import; integer(evn_cu_int_1), value :: x; end
        integer(evn_cu_int) function evn_cu_integer_2(x) bind(c); import; integer(evn_cu_int_2), value :: x; end
        integer(evn_cu_int) function evn_cu_integer_4(x) bind(c); import; integer(evn_cu_c_int), value :: x; end
        integer(evn_cu_int) function evn_cu_integer_8(x) bind(c); import; integer(evn_cu_int), value :: x; end
    end interface

    interface evn_cu_one
        integer(evn_cu_int_1) function evn_cu_one_1(x) bind(c); import; integer(evn_cu_int_1), value :: x; end
        integer(evn_cu_int_2) function evn_cu_one_2(x) bind(c); import; integer(evn_cu_int_2), value :: x; end
        integer(evn_cu_c_int) function evn_cu_one_4(x) bind(c); import; integer(evn_cu_c_int), value :: x; end
        integer(evn_cu_int) function evn_cu_one_8(x) bind(c); import; integer(evn_cu_int), value :: x; end
    end interface

    ! a variable of any type, as memory
    interface
        subroutine evn_cu_part_put(part, bytes, t, variable) bind(c); import
            type(evn_cu_pointer), value :: part; integer(evn_cu_size), value :: bytes; integer(evn_cu_int), value :: t
            !GCC$ attributes no_arg_check :: variable
            !DIR$ ignore_tkr variable
            type(*), intent(in) :: variable; end
        subroutine evn_cu_part_get(part, bytes, t, variable) bind(c); import
            type(evn_cu_pointer), value :: part; integer(evn_cu_size), value :: bytes; integer(evn_cu_int), value :: t
            !GCC$ attributes no_arg_check :: variable
            !DIR$ ignore_tkr variable
            type(*), intent(inout) :: variable; end
        subroutine evn_cu_part_same(before, now, last, name) bind(c); import
            integer(evn_cu_size), value :: before, now; integer(evn_cu_c_int), value :: last
            character(kind=evn_cu_char), intent(in) :: name(*); end
        integer(evn_cu_c_int) function evn_cu_there(variable) bind(c); import
            !GCC$ attributes no_arg_check :: variable
            !DIR$ ignore_tkr variable
            type(*), optional, intent(in) :: variable; end
    end interface
end module
