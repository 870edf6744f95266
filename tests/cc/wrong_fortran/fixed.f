! 5:27: error: dist_schedule: map takes no chunk
      subroutine f(v, n)
      real v(n)
c$omp teams distribute num_teams(2:CPU:1)
c$omp& dist_schedule(map, 4)
      do 10 z = 1, n
 10   v(z) = 1
      end
