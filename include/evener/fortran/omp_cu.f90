! The routines of <omp_cu.h> for Fortran: table 2 of González-Tallada and Morancho, "Compute units in OpenMP: extensions for
! heterogeneous parallel programming" (2023), and the placement of data. For the bodies of directives and what they call, in a
! program that is compiled by evener-cc.
!
! C's unsigned int is integer(c_int) here, UINT_MAX is -1. What C writes as omp_get_num_threads() is evn_cu_threads(), since
! omp_lib has the other. Memory is c_loc() of an array. <evener/cu.h> says what each does.
module omp_cu
    use, intrinsic :: iso_c_binding
    implicit none
    private
    public :: omp_get_num_cus, omp_get_num_gpus, omp_get_num_cpus, omp_is_gpu, omp_is_cpu, omp_get_cu_num, omp_get_gpu, &
        omp_get_cpu, omp_synchronize, omp_register, omp_unregister, omp_migrate, omp_migrate_for, omp_get_data_placement, &
        omp_is_device, omp_is_host, omp_cu_copy, omp_cu_pointer, omp_cu_stream, evn_cu_threads

    interface
        integer(c_int) function omp_get_num_cus() bind(c, name="evn_cu_count"); import; end
        integer(c_int) function omp_get_num_gpus() bind(c, name="evn_cu_gpus"); import; end
        integer(c_int) function omp_get_num_cpus() bind(c, name="evn_cu_cpus"); import; end
        integer(c_int) function omp_get_cu_num() bind(c, name="evn_cu_number"); import; end
        integer(c_int) function omp_get_gpu() bind(c, name="evn_cu_gpu"); import; end
        integer(c_int) function omp_get_cpu() bind(c, name="evn_cu_cpu"); import; end
        integer(c_int) function evn_cu_threads() bind(c); import; end
        subroutine omp_synchronize() bind(c, name="evn_cu_synchronize"); end
        integer(c_int) function omp_register(memory, bytes) bind(c, name="evn_cu_register"); import
            type(c_ptr), value :: memory; integer(c_size_t), value :: bytes; end
        subroutine omp_unregister(memory) bind(c, name="evn_cu_unregister"); import; type(c_ptr), value :: memory; end
        subroutine omp_migrate_for(memory, access) bind(c, name="evn_cu_migrate"); import
            type(c_ptr), value :: memory; integer(c_int), value :: access; end
        integer(c_int) function omp_get_data_placement(memory) bind(c, name="evn_cu_where"); import
            type(c_ptr), value :: memory; end
        type(c_ptr) function omp_cu_pointer(memory) bind(c, name="evn_cu_pointer"); import; type(c_ptr), value :: memory; end
        type(c_ptr) function omp_cu_stream() bind(c, name="evn_cu_stream"); import; end
        subroutine omp_cu_copy(to, from, bytes) bind(c, name="evn_cu_copy"); import
            type(c_ptr), value :: to, from; integer(c_size_t), value :: bytes; end
    end interface

    ! what the functions below ask
    interface
        integer(c_int) function devices() bind(c, name="evn_cu_devices"); import; end
        integer(c_int) function is_gpu() bind(c, name="evn_cu_is_gpu"); import; end
        integer(c_int) function is_cpu() bind(c, name="evn_cu_is_cpu"); import; end
    end interface

contains

    logical function omp_is_gpu()
        omp_is_gpu = is_gpu() /= 0
    end function

    logical function omp_is_cpu()
        omp_is_cpu = is_cpu() /= 0
    end function

    ! To be read and written.
    subroutine omp_migrate(memory)
        type(c_ptr), intent(in) :: memory
        integer(c_int), parameter :: both = 3
        call omp_migrate_for(memory, both)
    end subroutine

    logical function omp_is_device(placement)
        integer(c_int), intent(in) :: placement
        omp_is_device = placement >= 0
        if (omp_is_device) omp_is_device = placement < devices()
    end function

    logical function omp_is_host(placement)
        integer(c_int), intent(in) :: placement
        omp_is_host = .not. omp_is_device(placement)
    end function
end module
