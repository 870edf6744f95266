! 6:30: error: lastprivate: "list" is allocatable, whose value does not go from unit to unit within a teams block; write teams distribute as one directive
module m
integer, allocatable :: list(:)
contains
subroutine f(n)
!$omp distribute lastprivate(list) dist_schedule(dynamic)
do z = 1, n
list = [z]
end do
end subroutine
end module
