! 5:22: error: exit leaves the loop over compute units; its iterations run on several units at a time, so none can end the others
      subroutine f(n)
!$omp teams distribute num_teams(2:CPU:1)
      doz=1,n
      i f(z .g t. 3) e xit
      e n d do
      end
