! 5:18: error: dist_schedule: map takes no chunk
      subroutine f(v, n)
      real v(n)
c$omp tea ms distributenum_teams(2:C PU:1)dist_sch
*$omp+edule(m ap,4)
      d o10z=1,n
 10   v(z) = 1
      end
