! 5:67: error: firstprivate: "c" is a pointer to texts of deferred length, which compilers do not keep; expected a length in its declaration
subroutine f(n, c)
character(len=:), pointer :: c(:)
integer :: n, z
!$omp teams distribute num_teams(2:CPU:1) private(n) firstprivate(c)
do z = 1, 3
end do
end subroutine
