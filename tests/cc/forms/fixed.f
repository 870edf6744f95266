c     fixed form: sentinels, labels, names of intrinsic functions that are arrays
      program b
      integer z, y, n, KIND(40)
      parameter (n = 40)
      double precision v(n), s
      common /all/ v
      s = 1
      kind = 0
C$OMP TEAMS DISTRIBUTE NUM_TEAMS(2::CPU::1) DIST_SCHEDULE(GUIDED:SIZE)
c$omp+  REDUCTION(+:s) speed(cpu: 1, gpu:  2.5)
c$omp&thread_limit(2)
c$evn   weight(z) lastprivate(z)
      DO 10, Z = n, 1,
     &   -1
         v(z) = 1.0d0 / z
         if (mod(z, 3) .eq. 0) goto 10
         do 20 y = 1, 3
         do 20 k = 1, 3
            if (k .gt. 2) go to 20
            if (y .eq. 2) v(z) = v(z) +
     1         k*y
 20      continue
         s = s + v(z); kind(z) = z + 1
C       v(z) = v(z) + 1
   10 continue
      print '(z16.16, i4, 10i4)', s, z, (kind(j), j = 4, 40, 4)
      print '(5z17.16)', v
!$omp teams distribute num_teams(auto)
      do i = 1, 5; v(i) = v(i) + sqrt(2.0d0*i); end do
!$omp end teams distribute
      call more(v, n)
      print '(5z17.16)', v
      end
      subroutine more(v, n)
      integer z, n
      double precision v(n)
!$omp teams distribute num_teams(2:CPU:1), private(k)
!$omp2shared(v) default(none) firstprivate(n)
      do 1 z = 1, n
      do 2 k = 1, 2
    2 v(z) = v(z) + k
    1 v(z) = v(z) * 2
      end
