! lastprivate, firstprivate and private of variables whose value is more than bytes: allocatable, polymorphic, pointers, of any length.
module types
    implicit none
    type point
        integer :: x = 0
        integer, allocatable :: list(:)
        character(:), allocatable :: text
    contains
        procedure :: twice
    end type
    type, extends(point) :: deep
        type(point), allocatable :: more(:)
    end type
    type counted
        integer :: n = 0
    contains
        procedure :: set
        generic :: assignment(=) => set
    end type
    type owner
        integer, pointer :: at(:) => null()
    contains
        procedure :: copy
        generic :: assignment(=) => copy
        final :: drop
    end type
    integer, allocatable :: held(:, :)
contains
    subroutine set(this, from)
        class(counted), intent(inout) :: this
        class(counted), intent(in) :: from
        this%n = from%n + 100
    end subroutine
    integer function twice(this)
        class(point), intent(in) :: this
        twice = 2 * this%x
    end function
    subroutine copy(this, from)
        class(owner), intent(inout) :: this
        class(owner), intent(in) :: from
        if (associated(this%at)) deallocate (this%at)
        if (associated(from%at)) allocate (this%at(size(from%at)), source=from%at)
    end subroutine
    subroutine drop(this)
        type(owner), intent(inout) :: this
        if (associated(this%at)) deallocate (this%at)
    end subroutine
    subroutine own(n)
        integer, intent(in) :: n
        type(owner) :: one
        type(owner), allocatable :: other
        integer :: z
        allocate (other)
        allocate (one%at(1), other%at(1), source=0)
        !$evn teams distribute num_teams(2:CPU:1) lastprivate(one, other)
        do z = 1, n
            nullify (one%at, other%at)
            allocate (one%at(z), other%at(z), source=z)
        end do
        print *, one%at, other%at
    end subroutine
    subroutine run(dummy, given, long)
        class(point), intent(inout), allocatable :: dummy
        class(point), intent(inout) :: given
        character(*), intent(inout) :: long
        character(:), allocatable :: text, texts(:)
        character(:), pointer :: name
        class(point), allocatable :: many(:)
        class(*), allocatable :: any
        type(counted) :: counts
        integer, target :: of(-2:9)
        integer, pointer :: part(:), one
        real(8), allocatable :: a(:), scalar
        integer, allocatable :: gone(:)
        integer :: z, k
        real, target, allocatable :: fixed(:)
        real, pointer :: to(:)
        type(point) :: plain(2)
        of = [(k, k = 1, 12)]
        allocate (gone(3), source=1)
        allocate (fixed(0:3), source=1.0)
        to => fixed
        text = 'outside'; texts = [text]; name => null()
        part => of; one => of(1); scalar = 0
        allocate (a(3))
        !$evn teams distribute num_teams(2:CPU:1) lastprivate(text, texts, name, many, any, part, one) &
        !$evn lastprivate(a, scalar, gone, dummy, fixed, plain, long, held, counts) firstprivate(text) dist_schedule(dynamic)
        do z = 1, 7
            text = 'in' // repeat('-', z)
            texts = [character(len=z) :: 'a', text]
            allocate (character(z) :: name)
            name = 'name'
            if (allocated(many)) deallocate (many)
            allocate (deep :: many(-z:2))
            many%x = z
            select type (many)
            class is (deep)
                allocate (many(-z)%more(z))
                many(-z)%more(1)%list = [z, z + 1]
            end select
            any = z * 2.5d0
            part => of(z:)
            one => of(z)
            a = [(k * 1d0, k = 1, z)]
            if (allocated(a)) deallocate (a)
            allocate (a(z:2 * z))
            a = z
            scalar = z / 4d0
            if (allocated(gone)) deallocate (gone)
            if (allocated(dummy)) deallocate (dummy)
            allocate (deep :: dummy)
            dummy%text = repeat('d', z)
            fixed = z
            plain%x = z
            plain(1)%list = [z]
            plain(2)%text = text
            long = 'long' // char(64 + z)
            held = reshape([(k, k = 1, 2 * z)], [2, z])
            counts%n = z
        end do
        print *, text, '|', texts, len(texts), '|', name, len(name)
        print *, lbound(many), ubound(many), many%x
        select type (many)
        class is (deep)
            print *, many(-7)%more(1)%list, size(many(-7)%more)
        end select
        select type (any)
        type is (real(8))
            print *, any
        end select
        print *, lbound(part), part, one, lbound(a), a, scalar, allocated(gone)
        print *, dummy%text, same_type_as(dummy, many), fixed, lbound(fixed), associated(to, fixed), to
        print *, plain%x, plain(1)%list, plain(2)%text, long, shape(held), held
        print *, mod(counts%n, 100)
        deallocate (name)
        !$evn teams distribute num_teams(2:CPU:1) firstprivate(text, given, many) private(dummy)
        do z = 1, 7
            if (len(text) < 7) stop 3
            text = text // 'y'
            given%x = z
            many%x = 5
            dummy%text = ''
        end do
        print *, text(1:9)
        !$evn teams num_teams(3:CPU:1) firstprivate(text) private(many)
        deallocate (many)
        text = text // 'x'
        if (len(text) < 3) stop 4
        !$evn end teams
        print *, text(1:9)
    end subroutine
end module
program kinds
    use types
    implicit none
    class(point), allocatable :: dummy
    type(point) :: given
    character(6) :: long
    allocate (dummy)
    dummy%text = 'kept'
    call run(dummy, given, long)
    call own(4)
    print *, dummy%twice()
end program
