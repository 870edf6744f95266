! 5:58: error: lastprivate: "list" is declared in another file, so its attributes are not seen; expected a variable that this file declares
subroutine f(n)
use elsewhere
integer :: n, z
!$omp teams distribute num_teams(2:CPU:1) lastprivate(k, list)
do z = 1, n
allocate (list(z))
k = z
end do
end subroutine
