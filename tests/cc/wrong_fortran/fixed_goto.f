! 7:13: error: goto leaves the loop over compute units; its iterations run on several units at a time, so none can end the others
      subroutine f(v, n)
      real v(n)
*$OMP TEAMS DISTRIBUTE NUM_TEAMS(2:CPU:1)
      do 10 z = 1, n
         if (v(z) .gt. 1)
     &      goto 20
 10   continue
 20   end
