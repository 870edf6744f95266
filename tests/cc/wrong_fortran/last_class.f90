! 6:58: error: lastprivate: "this" is polymorphic and not allocatable, so nothing can be assigned to it; expected an allocatable variable or a pointer
subroutine f(n, this)
use zones
integer :: n, z
class(zone) :: this
!$omp teams distribute num_teams(2:CPU:1) lastprivate(n, this)
do z = 1, n
end do
end subroutine
