#!/usr/bin/env python3
"""Directives in Fortran: programs compute what plain gfortran makes of them, wrong ones are refused, and evener-cc compiles as compilers do.

Wrong programs are in tests/cc/wrong_fortran, as common.wrong() has them.
Run: ctest -R cc-fortran, or tests/cc/test_fortran.py build/evener-cc [test ..]; where there is no gfortran it is skipped.
"""
import glob
import os
import re
import shutil
import sys
import common
from common import Case, HERE, SOURCE, run

if not shutil.which("gfortran"):
    print("no gfortran")
    sys.exit(77)

STRICT = ["-Wall", "-Wextra", "-Werror", "-Wno-error=unused-variable"]
UNSTRICT = (".f", ".F", "kinds.f90")  # gfortran warns of the lengths and bounds of what is not allocated yet, of plain Fortran as well
LONG = bool(os.environ.get("EVENER_TEST_LONG"))  # also without optimisation
UNITS = ("", "1:CPU:1", "3:CPU:2", "2:CPU:1,1:GPU:2")  # "": what the program says
TEAMS = "!$omp teams distribute num_teams(2:CPU:1)"
# the @ is where the compiler's message belongs
WRONG_FORTRAN = [
    f"{TEAMS} private(@nothing)\ndo z = 1, n\nn2 = z\nend do",
    f"{TEAMS} reduction(+: @nothing)\ndo z = 1, n\nn2 = z\nend do",
    "!$omp teams distribute &\n!$omp num_teams(@many:CPU:1)\ndo z = 1, n\nn2 = z\nend do",
    f"{TEAMS}\ndo z = @start, n\nn2 = z\nend do",
    f"{TEAMS}\ndo z = 1, n, &\n@by\nn2 = z\nend do",
    f"{TEAMS}\ndo z = 1, @2.5\nn2 = z\nend do",
    f"{TEAMS}\ndo @real = 1, n\nn2 = z\nend do",
    f"{TEAMS} weight(@heavy(z))\ndo z = 1, n\nn2 = z\nend do",
    f"{TEAMS} dist_schedule(dynamic, @piece)\ndo z = 1, n\nn2 = z\nend do",
    f"{TEAMS}\ndo z = 1, n\nn2 = z\n@more = 1\nend do",
    f"{TEAMS}\ndo z = 1, n\nn2 = z\nend do\n!$omp end teams distribute\nn2 = @behind",
    f"{TEAMS} default(none)\ndo z = 1, n\n@n2 = z\nend do",
    f"{TEAMS}\ndo z = 1, n; n2 = z; end do; n2 = @behind",
]

# the intrinsic procedures of Fortran 2018
FUNCTIONS = """abs achar acos acosh adjustl adjustr aimag aint all allocated anint any asin asinh associated atan atan2 atanh atomic_add
    atomic_and atomic_cas atomic_define atomic_fetch_add atomic_fetch_and atomic_fetch_or atomic_fetch_xor atomic_or atomic_ref
    atomic_xor bessel_j0 bessel_j1 bessel_jn bessel_y0 bessel_y1 bessel_yn bge bgt bit_size ble blt btest ceiling char cmplx
    co_broadcast co_max co_min co_reduce co_sum command_argument_count conjg cos cosh coshape count cpu_time cshift date_and_time
    dble digits dim dot_product dprod dshiftl dshiftr eoshift epsilon erf erfc erfc_scaled event_query execute_command_line exp
    exponent extends_type_of failed_images findloc floor fraction gamma get_command get_command_argument get_environment_variable
    get_team huge hypot iachar iall iand iany ibclr ibits ibset ichar ieor image_index image_status index int ior iparity
    is_contiguous ishft ishftc is_iostat_end is_iostat_eor kind lbound lcobound leadz len len_trim lge lgt lle llt log log_gamma
    log10 logical maskl maskr matmul max maxexponent maxloc maxval merge merge_bits min minexponent minloc minval mod modulo
    move_alloc mvbits nearest new_line nint norm2 not null num_images out_of_range pack parity popcnt poppar precision present
    product radix random_init random_number random_seed range rank real reduce repeat reshape rrspacing same_type_as scale scan
    selected_char_kind selected_int_kind selected_real_kind set_exponent shape shifta shiftl shiftr sign sin sinh size spacing
    spread sqrt stopped_images storage_size sum system_clock tan tanh team_number this_image tiny trailz transfer transpose trim
    ubound ucobound unpack verify""".split()
WARNED = "is one variable of all units, which change it at a time; name it in "


class Fortran(Case):
    def fc(self, *words, **more):
        return self.cc("gcc", *words, cwd=self.folder, **more)

    def test_forms(self):
        files = sorted(glob.glob(os.path.join(HERE, "forms", "*.[fF]*")))
        self.assertEqual(len(files), 8)
        for name in files:
            base = os.path.join(self.folder, os.path.basename(name).split(".")[0])
            self.fine(run(["gfortran", "-w", name, "-o", base + "_plain"], cwd=self.folder))
            expected = self.fine(run([base + "_plain"])).stdout
            self.assertTrue(expected)
            for options in [["-O0"]] * LONG + [["-O3", *(STRICT if not name.endswith(UNSTRICT) else [])]]:
                self.fine(self.fc(*options, name, "-o", base))
                for units in UNITS:
                    with self.subTest(file=os.path.basename(name), options=options, units=units):
                        self.assertEqual(self.fine(run([base], env={"EVENER_UNITS": units})).stdout, expected)

    def test_no_warnings(self):
        """What is generated has none of its own."""
        for name in glob.glob(os.path.join(HERE, "forms", "*.[fF]90")):
            result = self.fine(self.fc("-Wall", "-Wextra", "-O2", "-c", name, "-o", "none.o"))
            self.assertNotIn("evn_", result.stderr)

    def test_schedules(self):
        """One sum under every schedule on any units, to the bit; the loop adds once an iteration, so it is the serial one."""
        name = self.write("hash.f90", "program p\nreal(8) :: s\ninteger :: z\ns = 0.1d0\n"
                          "!$omp teams distribute num_teams(2:CPU:1) dist_schedule(runtime) weight(z * 1.5) reduction(+: s)\n"
                          "do z = 1, 100\ns = s + sin(dble(z)) / z\nend do\nprint '(z16.16)', s\nend program\n")
        self.fine(run(["gfortran", "-O1", name, "-o", "plain"], cwd=self.folder))
        expected = run([os.path.join(self.folder, "plain")]).stdout
        self.fine(self.fc("-O1", name, "-o", "hash"))
        for schedule in ("", "static:chunk=3", "dynamic", "guided:size", "guided:time", "weighted", "binpack", "interval", "map", "auto"):
            for units in ("1:CPU:1", "4:CPU:1", "1:CPU:2,2:GPU:1"):
                result = run([os.path.join(self.folder, "hash")], env={"EVENER_SCHEDULE": schedule, "EVENER_UNITS": units})
                self.assertEqual(self.fine(result).stdout, expected, (schedule, units))

    def test_really_shared_out(self):
        """The run-time has the directive's place, and each unit its iterations."""
        name = self.write("out.f90", "program p\ninteger :: z\nreal(8) :: v(64)\n"
                          "!$omp teams distribute num_teams(2:CPU:1)\ndo z = 1, 64\nv(z) = z\nend do\nprint *, sum(v)\nend\n")
        self.fine(self.fc(name, "-o", "out"))
        result = self.fine(run([os.path.join(self.folder, "out")], env={"EVENER_REPORT": "1"}))
        self.assertRegex(result.stderr, r"out\.f90:4: 1 instances, .* units \S+ \S+ s, ")

    def test_wrong(self):
        self.told("wrong_fortran")

    def test_compiler(self):
        """What is Fortran's business has the user's line."""
        for number, text in enumerate(WRONG_FORTRAN):
            line = text.count("\n", 0, text.index("@")) + 4
            name = f"w{number}.f90"
            self.write(name, "subroutine f(n, real)\nimplicit none\ninteger :: n, n2, z; real(8) :: real\n" +
                       text.replace("@", "") + "\nend subroutine\n")
            with self.subTest(text=text):
                result = self.fc("-c", name, "-o", "w.o")
                self.assertEqual(result.returncode, 1, result.stderr)
                first = re.search(r"^(\S+):(\d+):\d+:", result.stderr, re.M)
                self.assertEqual((first[1], first[2]), (name, str(line)), result.stderr)

    def test_at_run_time(self):
        for bounds, said in (("1, 9, n - n", "the loop's step is 0"), ("1, 3000000000_8", "more than 2147483647 iterations")):
            self.write("bad.f90", f"program p\ninteger(8) :: z, n = 3\n{TEAMS}\ndo z = {bounds}\nn = z\nend do\nend\n")
            self.fine(self.fc("bad.f90", "-o", "bad"))
            result = run([os.path.join(self.folder, "bad")])
            self.assertEqual(result.returncode, 1)
            self.assertTrue(result.stderr.startswith("bad.f90:3: "), result.stderr)
            self.assertIn(said, result.stderr)

    def test_variable(self):
        """What gfortran refuses of a loop's variable it refuses here; what it cannot see ends the program."""
        host = ("module m\ncontains\nsubroutine out(k)\ninteger, intent(out) :: k\nk = 3\nend subroutine\nend module\n"
                "program p\nuse m\nimplicit none\ninteger, target :: z\ninteger :: k, v(9), unit_ = 5\ninteger, pointer :: at\n"
                "integer, allocatable :: a(:)\ncharacter(20) :: c = '7'\nlogical :: there\nat => z\n"
                "%s\ndo z = 1, 9\nv(z) = 1\n%s\nend do\nprint *, v, unit_, there, allocated(a)\nend program\n"
                "subroutine change(k)\ninteger :: k\nk = k + 2\nend subroutine\n")
        for change in ("read (*, *) z", "read (c, *) z", "call out(z)", "allocate (a(3), stat=z)", "deallocate (a, stat=z)",
                       "open (9, file='none', iostat=z)", "inquire (file='none', exist=there, iostat=z)", "write (*, *, iostat=z) v",
                       "k = 1; do k = 1, 3; z = k; end do", "read (*, *) (v(z), z = 1, 2)", "open (newunit=z, file='none')",
                       "if (unit_ == 5) then; call out(z); end if", "call random(z)"):
            refused = []
            for directive in "", TEAMS:
                name = self.write("variable.f90", host % (directive, change))
                result = run(["gfortran", "-c", name, "-o", "v.o"], cwd=self.folder) if not directive else self.fc("-c", name, "-o", "v.o")
                refused.append(result.returncode)
            with self.subTest(change=change):
                self.assertGreaterEqual(refused[1], refused[0], result.stderr)
        for change in "call change(z)", "at = 3":
            self.write("variable.f90", host % (TEAMS, change))
            result = self.fc("variable.f90", "-o", "variable")
            if "at = " in change:  # the pointer's target is the one outside, not the iteration's own
                self.fine(result)
                continue
            self.fine(result)
            result = run([os.path.join(self.folder, "variable")])
            self.assertEqual((result.returncode, result.stderr), (1, "variable.f90:18: the body of the loop over compute units has changed "
                                                                  "the loop's variable; its iterations are counted before they run\n"))

    def same(self, name, *options):
        """evener-fc's program prints what gfortran's does, on any units."""
        self.fine(run(["gfortran", "-w", *options, name, "-o", "plain"], cwd=self.folder))
        expected = self.fine(run([os.path.join(self.folder, "plain")], cwd=self.folder)).stdout
        self.fine(self.fc("-w", *options, name, "-o", "same"))
        for units in UNITS if LONG else UNITS[::2]:
            got = run([os.path.join(self.folder, "same")], cwd=self.folder, env={"EVENER_UNITS": units})
            self.assertEqual(self.fine(got).stdout, expected, units)

    def test_function_names(self):
        """A program may call its variables as any function is called, and as generated names are."""
        lists = [f"integer :: {', '.join(f'{n}(2)' for n in FUNCTIONS[k:k + 6])}" for k in range(0, len(FUNCTIONS), 6)]
        for first in "implicit none", "implicit logical (a-h), character(3) (o-z)":
            name = self.write("names.f90", "\n".join(
                ["program p", first, *lists, "integer, allocatable :: a(:), evn_1_last0", "type box", "integer, allocatable :: it(:)", "end type",
                 "type(box) :: v", "class(box), allocatable :: poly", "character(:), allocatable :: text", "integer, target :: t(9)",
                 "integer, pointer :: q(:)", "integer :: i, j, s, m, b, evn_1_t, evn_2_trips", "s = 0; m = 0; b = 7; evn_1_t = 3; evn_2_trips = 4",
                 *(f"{n} = {len(n)}" for n in FUNCTIONS), "!$evn teams distribute num_teams(2:CPU:1) reduction(+:s) reduction(max:m) reduction(iand:b) &",
                 "!$evn weight(merge(2) + i) lastprivate(v, a, poly, text, q) dist_schedule(dynamic, size(2)) firstprivate(evn_1_t) private(j)", "do i = 1, 9",
                 *(f"s = s + {n}(2) * i" for n in FUNCTIONS), "if (m < i * max(1)) m = i * max(1)", "b = 7 - evn_2_trips", "v%it = [i, i]", "a = [i, i, evn_1_t]",
                 "allocate (poly, stat=j)", "poly%it = [i]", "text = 'abc'", "q => t(i:)", "q(1) = i", "end do",
                 "print *, s, m, b, v%it, a, poly%it, text, q, evn_2_trips", "!$evn teams num_teams(1:CPU:1) reduction(min: s)", "s = s - 1",
                 "!$evn distribute lastprivate(i, j)", "do i = 1, 9", "j = i * sum(1)", "end do", "!$evn end teams", "print *, i, j, s", "end program", ""]))
            with self.subTest(first=first):
                self.same(name)
        self.same(self.write("name.f90", "program p\ninteger, allocatable :: allocated(:), lbound\ninteger :: max = 0\n!$evn teams distribute &\n"
                             "!$evn num_teams(2:CPU:1) lastprivate(allocated, lbound) reduction(max: max)\ndo i = 1, 9\nallocated = [i, i]\nlbound = i\n"
                             "if (max < i) max = i\nend do\nprint *, allocated, lbound, max\nend program\n"))

    def test_lines(self):
        """Words and blanks where lines end, at the widths of a line, in both forms; a long word is cut."""
        fixed = ("      program p\n      integer z,s,v(30)\n      s=0\n*$OMP0p a r a l l e l\nc$omp end parallel\n"
                 "C$OMP TEAMSDISTRI{0}\nc     between\n\n!$omp1BUTEnum_te ams(2:C PU:1)re{0}\nc$OMP+duction(+:s)\n"
                 "      d o 1 0z=1,3{0}\n     &0\n      i f(z .gt. 2 8)goto1 0\n      v(z)=z\n      s=s+z\n   10 con tin ue\n"
                 "      print*,'a  b{1}\n     1 c',s,v(1:28)\n      e n d\n")
        for width, options in (72, []), (132, ["-ffixed-line-length-132"]), (0, ["-ffixed-line-length-none"]):
            blanks = lambda line: re.sub(r"\{[01]\}", (" " * (width - line.index("{")) if width and "{0}" in line else "") +
                                         ("junk" if width else ""), line) if "{" in line else line
            self.same(self.write("lines.f", "\n".join(map(blanks, fixed.split("\n")))), *options)
        self.same(self.write("tabs.f", "\tprogram p\n\tinteger z,v(9)\n!$omp\tteams distribute num_teams(2:CPU:1)\n\tdo 1 z = 1,\n\t2 9" + " " * 64 +
                             "9\n1\tv(z) = z\n\tprint *, v\n\tend\n"))
        self.same(self.write("short.f90", f"program p\ninteger :: z, v(9)\n{TEAMS}\ndo z = 1, 9\nv(z) = z\nend do\nprint *, v\nend\n"), "-ffree-line-length-80")
        name = "n" * 58
        self.same(self.write("free.f90", f"module m\ntype t\ninteger :: {name} = 1\nend type\ntype u\ntype(t) :: {name}\nend type\n"
                             f"type(u) :: {name}\nend module\nprogram p\nuse m\ninteger :: z, s = 0\n  !$OMP teams dis&\n\n ! between\n!$omp&tri&\n"
                             f"  !$omp  &bute num_teams(2:CPU:1) reduction(+: s) collapse(1) wei&\n!$omp &ght(1)\ndo z = {name}%{name}% &\n {name}, &\n"
                             f"{name}%{name}&\n&%{name} + 8\ns = s + z\nen&\n&d do\n!$omp endteamsdistribute\n!$evn teams &\n!$evn num_teams(2:CPU:1)\n!$evn distribute &\n"
                             "!$evn dist_schedule(dyna&\n\n!$evn&mic)\ndo z = 1, 1\ns = s + 1; enddo\n!$evn enddistribute\n!$evn endteams\nprint *, s\nend program\n"))

    def test_sizes(self):
        """Arrays without elements and of steps are copied right; one that another file declares may not change its size."""
        self.same(self.write("sizes.f90", "module m\ncontains\nsubroutine f(a, b, n)\ninteger :: a(:), b(:), z, n\n"
                             f"{TEAMS} lastprivate(a) reduction(+: b)\ndo z = 1, n\na = z\nb = b + z\nend do\n{TEAMS} reduction(max: a)\ndo z = 1, n\n"
                             "a = max(a, 2 * z)\nend do\nend subroutine\nend module\nprogram p\nuse m\ninteger :: x(12) = 0, y(12) = 0\ncall f(x(2:11:3), y(::4), 5)\n"
                             "call f(x(2:1), y(3:2), 5)\nprint *, x, y\nend program\n"))
        self.write("away.f90", "module away\ninteger, allocatable :: list(:)\ninteger, pointer :: at\ncontains\nsubroutine set(x, n)\n"
                   "integer, allocatable :: x(:)\nx = [(0, i = 1, n)]\nend subroutine\nend module\n")
        for clause, number, said in (("lastprivate(list)", 3, ""), ("lastprivate(list)", 4, 'lastprivate: "list" has 16 bytes after an iteration and 12 '),
                                     ("reduction(+: list)", 2, 'reduction: "list" has 8 bytes after an iteration and 12 before the loop; expected the ')):
            name = self.write("size.f90", f"program p\nuse away\nallocate (list(3))\n{TEAMS} {clause}\ndo z = 1, 2\ncall set(list, {number})\nend do\n"
                              "print *, list\nend\n".replace("do z", "do i"))
            with self.subTest(clause=clause, number=number):
                self.fine(self.fc("away.f90", name, "-o", "size"))
                result = run([os.path.join(self.folder, "size")])
                self.assertEqual((result.returncode, result.stderr[:len(name) + 4 + len(said)]), (1, f"{name}:4: {said}") if said else (0, ""))
        self.write("size.f90", f"program p\nuse away\n{TEAMS} reduction(*: at)\ndo i = 1, 2\nat = at * i\nend do\nend\n")
        self.assertIn("POINTER", self.fc("size.f90", "away.o", "-o", "size").stderr)

    def test_forgotten(self):
        """A warning of a number that all units change, in the words of C; not where something may make it right."""
        head = "subroutine f(v, n, p)\nimplicit none\ninteger :: n, z, k\nreal(8) :: v(n), s, t\nlogical :: l\nreal, pointer :: p\ncommon /own/ t\n"
        for line, said in (("s = s + v(z)", "reduction(+: s) or private(s)"), ("if (z > 1) S = s - 1", "reduction(+: S) or private(S)"),
                           ("s = s * 2 * v(z)", "reduction(*: s) or private(s)"), ("s = s * 2 + v(z)", "private(s)"), ("s = v(z) + s", "reduction(+: s) or private(s)"),
                           ("s = max(s, v(z))", "reduction(max: s) or private(s)"), ("n = ior(z, n)", "reduction(ior: n) or private(n)"),
                           ("l = l .or. v(z) > 2", "reduction(.or.: l) or private(l)"), ("s = s / 2", "private(s)"), ("t = t + 1", "reduction(+: t) or private(t)"),
                           ("v(z) = v(z) + 1", ""), ("s = v(z) * s + 1", ""), ("p = p + 1", ""), ("do k = 1, 3; v(z) = v(z) + k; end do", ""),
                           ("block; real :: s; s = 0; s = s + v(z); end block", ""),
                           ("associate (s => v(z)); s = s + 1; end associate", ""), ("!$omp atomic\ns = s + 1", ""), ("call lock_it(); s = s + 1", "")):
            for directive in TEAMS, "!$omp teams num_teams(1:CPU:1, 1:CPU:1)\n!$omp distribute":
                end = "!$omp end distribute\n!$omp end teams\n" if "\n" in directive else ""
                name = self.write("forgotten.f90", f"{head}{directive}\ndo z = 1, n\n{line}\nend do\n{end}end subroutine\n")
                result = self.fine(self.fc("--source", name))
                found = re.findall(rf'warning: "\w+" {WARNED}(.*)', result.stderr)
                self.assertEqual(found, [said] if said else [], line)
        for text in (f"{head}{TEAMS} reduction(+: s)\ndo z = 1, n\ns = s + v(z)\nend do\nend subroutine\n",
                     f"{head}{TEAMS.replace('2:', '1:')}\ndo z = 1, n\ns = s + v(z)\nend do\nend subroutine\n",
                     f"{head}!$omp threadprivate(/own/)\n{TEAMS}\ndo z = 1, n\nt = t + v(z)\nend do\nend subroutine\n",
                     f"{head}!$omp distribute\ndo z = 1, n\ns = s + v(z)\nend do\nend subroutine\n",
                     f"subroutine f(v, n)\nuse elsewhere, only: t\nreal :: v(n)\n{TEAMS}\ndo z = 1, n\nt = t + v(z)\nend do\nend subroutine\n",
                     f"subroutine f(v, n)\nreal :: v(n)\n!$omp teams num_teams(2:CPU:1) private(s)\ns = 0\n!$omp distribute\ndo z = 1, n\ns = s + v(z)\nend do\n"
                     "!$omp end distribute\nv(1) = s\n!$omp end teams\nend subroutine\n"):
            self.assertNotIn("warning", self.cc("gcc", "--source", self.write("none.f90", text)).stderr)
        for name in glob.glob(os.path.join(SOURCE, "examples", "*.f90")) + glob.glob(os.path.join(HERE, "forms", "*.[fF]*")):
            self.assertNotIn("one variable of all units", self.cc("gcc", "--source", name).stderr, name)

    def test_auto(self):
        """Weights without a schedule mean auto; num_teams(auto) without inner regions means units of a core."""
        for line, cores in ("v(z) = z", "-1_evn_cu_c_int"), ("!$omp parallel\nv(z) = z\n!$omp end parallel", ", 0_evn_cu_c_int"):
            name = self.write("auto.f90", f"program p\ninteger :: z, v(9)\n!$evn teams distribute num_teams(auto) weight(z)\ndo z = 1, 9\n{line}\n"
                              "end do\nprint *, v\nend\n")
            text = self.fine(self.fc("--source", name)).stdout
            self.assertIn("'auto'", text)
            self.assertIn(cores, text)
            self.fine(self.fc(name, "-o", "auto"))
            done = self.fine(run([os.path.join(self.folder, "auto")], env={"EVENER_REPORT": "1", "EVENER_DEVICES": ""}))
            if cores.startswith("-1"):
                self.assertRegex(done.stderr, r"auto\.f90:3: 1 instances, \S+ s; units( \S+){1,%d} s, " % len(os.sched_getaffinity(0)))

    def test_exit_elsewhere(self):
        """An exit that stands in an included file ends the program, on any units; a cycle there ends the iteration."""
        for word in "exit", "cycle":
            self.write("leave.inc", f"if (z == 5) {word}\n")
            self.write("leave.f90", f"program p\ninteger :: z, y, v(10)\nv = 0\n{TEAMS} collapse(2)\ndo z = 1, 10\ndo y = 1, 1\n"
                       "include 'leave.inc'\nv(z) = 1\nend do\nend do\nprint '(10i1)', v\nend\n")
            self.fine(self.fc("leave.f90", "-o", "leave"))
            for units in UNITS:
                result = run([os.path.join(self.folder, "leave")], env={"EVENER_UNITS": units})
                if word == "cycle":
                    self.assertEqual((result.returncode, result.stdout), (0, "1111011111\n"), result.stderr)
                else:
                    self.assertEqual((result.returncode, result.stdout), (1, ""))
                    self.assertTrue(result.stderr.startswith("leave.f90:4: exit leaves the loop over compute units; "), result.stderr)

    def test_included(self):
        """Directives behind include are not read, which is said; those behind #include are."""
        self.write("dir.inc", f"!$evn {TEAMS[6:]}\ndo z = 1, n\nend do\n")
        for name, line in ("in.f90", "include 'dir.inc'"), ("in.f", "      include 'dir.inc'"), ("in.F90", '#include "dir.inc"'):
            self.write(name, f"      subroutine f(n)\n      integer n, z\n{line}\n      end\n")
            result = self.fine(self.fc("--source", name))
            self.assertEqual("warning: directives behind include are not read" in result.stderr, name != "in.F90", result.stderr)
            self.assertEqual("evn_1" in result.stdout, name == "in.F90")

    def test_limit(self):
        """A limit that is known only when the program runs."""
        name = self.write("limit.f90", "program p\ninteger :: z\n"
                          "!$evn teams distribute num_teams(1:CPU:2) thread_limit(command_argument_count())\n"
                          "do z = 1, 3\nend do\nend program\n")
        self.fine(self.fc(name, "-o", "limit"))
        self.fine(run([os.path.join(self.folder, "limit"), "1"]))
        result = run([os.path.join(self.folder, "limit")])
        self.assertEqual((result.returncode, result.stderr), (1, f"{name}:3: thread_limit: expected 1 thread or more\n"))

    def test_not_ours(self):
        """Every Fortran file of this project without directives of ours, and directives of others: as they were."""
        names = glob.glob(os.path.join(SOURCE, "**", "*.f90"), recursive=True)
        names = [n for n in names if os.path.join("tests", "cc") not in n and not n.startswith(os.path.join(SOURCE, "build"))
                 and "directives" not in os.path.basename(n) and "idioms" not in n]
        self.assertGreater(len(names), 4)
        names.append(self.write("others.f90", "subroutine f(v)\nreal :: v(9)\ninteger :: distribute, teams\n"
                                "!$omp teams num_teams(4)\n!$omp distribute\ndo i = 1, 9\nv(i) = 1\nend do\n!$omp end teams\n"
                                "!$omp target teams distribute parallel do\ndo i = 1, 9\nv(i) = 1\nend do\n!$omp target teams\n"
                                "!$omp distribute\ndo i = 1, 9\nv(i) = 1\nend do\n!$omp end target teams\nend\n"))
        for name in names:
            with open(name) as file:
                text = file.read()
            result = self.fine(self.fc("--source", name))
            self.assertEqual((result.stdout, result.stderr), (text, ""), name)

    def test_standard(self):
        """Clauses behind !$evn: plain gfortran takes the same text with and without -fopenmp."""
        name = self.write("both.f90", "program p\ninteger :: z, k\nreal(8) :: v(30) = 0\n!$omp teams distribute private(k)\n"
                          "!$evn num_teams(2:CPU:1), dist_schedule(dynamic) ! ours\n!$EVN&weight(z)\ndo z = 1, 30\n"
                          "do k = 1, 3\nv(z) = v(z) + z\nend do\nend do\n!$omp end teams distribute\nprint '(30f5.0)', v\nend\n")
        expected = None
        for command in (["gfortran"], ["gfortran", "-fopenmp"]):
            self.fine(run([*command, name, "-o", "both"], cwd=self.folder))
            got = self.fine(run([os.path.join(self.folder, "both")])).stdout
            self.assertEqual(got, expected or got)
            expected = got
        self.fine(self.fc(name, "-o", "both"))
        result = self.fine(run([os.path.join(self.folder, "both")], env={"EVENER_REPORT": "1"}))
        self.assertEqual(result.stdout, expected)
        self.assertIn("both.f90:4: ", result.stderr)

    def test_batch(self):
        """On GPU units batch(g) instead of the body."""
        self.write("batch.f90", "module m\nuse iso_c_binding\ninteger :: seen(20) = 0\ncontains\n"
                   "subroutine g(iteration, count) bind(c)\ninteger(c_long_long), intent(in) :: iteration(*)\n"
                   "integer(c_int), value :: count\ninteger :: i\ndo i = 1, count\nseen(iteration(i)) = 2\nend do\nend subroutine\n"
                   "end module\nprogram p\nuse m\ninteger :: z\n!$omp teams distribute num_teams(1:CPU:1) batch(g)\ndo z = 1, 20\n"
                   "seen(z) = 1\nend do\nprint '(20i1)', seen\nend\n")
        self.fine(self.fc("batch.f90", "-o", "batch"))
        for units, expected in ("1:CPU:1", "1" * 20), ("1:GPU:1", "2" * 20), ("1:CPU:1,1:GPU:1", "1" * 10 + "2" * 10):
            result = run([os.path.join(self.folder, "batch")], env={"EVENER_UNITS": units})
            self.assertEqual(self.fine(result).stdout.strip(), expected, units)

    def test_builds(self):
        """Several files, one of whose modules the others use; objects; evener-fc as the linker; a folder with a blank; C beside it."""
        self.write("a b/one.f90", "module one\nreal(8) :: v(8) = 1\nend module\n")
        self.write("a b/two.F90", "#include \"three.h\"\nsubroutine two\nuse one\ninteger :: z\n"
                   "!$omp teams distribute num_teams(HOW_MANY:CPU:1)\ndo z = 1, 8\nv(z) = v(z) + ADD\nend do\nend subroutine\n")
        self.write("a b/three.h", "#define HOW_MANY 2\n")
        self.write("a b/main.f", "      program m\n      use one\n      include 'sizes.inc'\n      call two\n      call count(n)\n"
                   "      print *, sum(v), n\n      end\n")
        self.write("a b/sizes.inc", "      integer n\n")
        self.write("a b/four.c", "void count_(int *n) { *n = 0;\n#pragma omp teams distribute num_teams(2:CPU:1) reduction(+: n[0])\n"
                   "for (int i = 0; i < 5; i++) ++*n; }\n".replace("reduction(+: n[0])", ""))
        files = [f"a b/{n}" for n in ("one.f90", "two.F90", "main.f", "four.c")]
        self.write("a b/four.c", "void count_(int *n) { int sum = 0;\n#pragma omp teams distribute num_teams(2:CPU:1) reduction(+: sum)\n"
                   "for (int i = 0; i < 5; i++) ++sum; *n = sum; }\n")
        self.fine(self.fc("-DADD=2", *files, "-o", "all"))
        self.assertEqual(run([os.path.join(self.folder, "all")]).stdout.split(), ["24.000000000000000", "5"])
        for name in files:
            self.fine(self.fc("-DADD=2", "-c", name))
        self.fine(self.fc("-DADD=3", "-MD", "-c", files[1], "-o", "two.o", "--keep"))
        with open(os.path.join(self.folder, "two.d")) as file:
            text = file.read()
        self.assertRegex(text, r"^(two\.o )*two\.o: a\\ b/two\.F90")
        self.assertIn("three.h", text)
        self.assertTrue(os.path.exists(os.path.join(self.folder, "two.evn.f90")))
        linker = os.path.join(os.path.dirname(common.COMMAND), "evener-fc")
        self.fine(run([linker, "one.o", "two.o", "main.o", "four.o", "-o", "all"], cwd=self.folder))
        self.assertEqual(run([os.path.join(self.folder, "all")]).stdout.split(), ["32.000000000000000", "5"])
        self.assertEqual([n for n in os.listdir(self.folder) if n.startswith("evn")], [])

    def test_questions(self):
        """The module omp_cu beside directives: where a body is, and data that come and go home."""
        self.write("ask.f90", "program p\nuse omp_cu\nuse iso_c_binding\nimplicit none\nreal(8), target :: v(8, 12)\ninteger :: z, gpus, place\n"
                   "gpus = 0\nplace = 0\nv = 1\ndo z = 1, 12\nif (omp_register(c_loc(v(1, z)), 64_c_size_t) /= 0) stop 2\nend do\n"
                   "!$omp teams distribute num_teams(1:CPU:1, 1:GPU:1) reduction(+: gpus, place)\ndo z = 1, 12\n"
                   "call omp_migrate(c_loc(v(1, z)))\nif (omp_is_gpu()) gpus = gpus + 1\n"
                   "if (omp_is_device(omp_get_data_placement(c_loc(v(1, z))))) place = place + 1\n"
                   "if (omp_is_cpu()) v(:, z) = v(:, z) + z\nend do\ndo z = 1, 12\ncall omp_migrate(c_loc(v(1, z)))\nend do\n"
                   "print *, gpus, place, nint(sum(v)), omp_get_num_cus()\nend\n")
        module = os.path.join(SOURCE, "include", "evener", "fortran", "omp_cu.f90")
        self.fine(self.fc(module, "ask.f90", "-o", "ask"))
        for units, expected in ("", ["6", "6", "264", "2"]), ("2:CPU:1", ["0", "0", "720", "2"]):
            result = self.fine(run([os.path.join(self.folder, "ask")], env={"EVENER_UNITS": units}))
            self.assertEqual(result.stdout.split(), expected, units)

    def test_cmake(self):
        """evener_directives() for Fortran files, by the file of this tree."""
        if not shutil.which("cmake"):
            self.skipTest("no cmake")
        self.write("cmake/CMakeLists.txt", "cmake_minimum_required(VERSION 3.18)\nproject(user C Fortran)\n"
                   f"set(EVENER_CC {common.COMMAND})\ninclude({SOURCE}/cmake/directives.cmake)\n"
                   "add_executable(user main.f90 module.f90)\nevener_directives(user)\n"
                   f"execute_process(COMMAND {common.COMMAND} --link-flags OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE)\n"
                   "target_link_libraries(user PRIVATE ${flags})\n")
        self.write("cmake/module.f90", "module m\ninteger :: n = 9\nend module\n")
        self.write("cmake/main.f90", f"program p\nuse m\ninteger :: z, s = 0\n{TEAMS} reduction(+: s)\ndo z = 1, n\ns = s + z\n"
                   "end do\nprint *, s\nend\n")
        build = os.path.join(self.folder, "cmake", "build")
        self.fine(run(["cmake", "-S", os.path.join(self.folder, "cmake"), "-B", build, "-DCMAKE_Fortran_COMPILER=gfortran"]))
        self.fine(run(["cmake", "--build", build]))
        self.assertEqual(self.fine(run([os.path.join(build, "user")])).stdout.split(), ["45"])

    def test_example(self):
        """The example, serial, with standard teams and on units."""
        name = os.path.join(SOURCE, "examples", "zones_directives.f90")
        program = os.path.join(self.folder, "zones")
        for command in (["gfortran", "-O2"], ["gfortran", "-O2", "-fopenmp"], [common.COMMAND, "-O2"]):
            self.fine(run([*command, name, "-o", program], cwd=self.folder))
            got = run([program], env={"EVENER_UNITS": "3:CPU:1", "OMP_NUM_THREADS": "2"})
            self.assertEqual(self.fine(got).stdout, "heat 425374.419430412\n", command)

    def test_module(self):
        """The module evn_cu says what the headers say: every call has the same arguments, of the same kinds."""
        kinds = {"evn_cu_int": "integer(evn_cu_int)", "int": "integer(evn_cu_c_int)", "double": "real(evn_cu_double)",
                 "__SIZE_TYPE__": "integer(evn_cu_size)", "signed char": "integer(evn_cu_int_1)", "short": "integer(evn_cu_int_2)",
                 "long long": "integer(evn_cu_int)", "void *": "type(evn_cu_pointer)", "const void *": "type(evn_cu_pointer)",
                 "evn_cu_int *": "type(evn_cu_pointer)", "double *": "type(evn_cu_pointer)", "void": None}
        headers = ""
        for name in ("cu_prelude.h", "cu_fortran.h"):
            with open(os.path.join(SOURCE, "include", "evener", name)) as file:
                headers += re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
        functions = {}
        for result, name, arguments in re.findall(r"^([\w ]+?[ *]+)(evn_cu_\w+)\(([^;{]*)\);", headers, re.M):
            functions[name] = (result.strip(), [] if arguments == "void" else
                               [" ".join(a.split()) for a in re.sub(r"void \(\*body\)\(.*?\)", "body", arguments, flags=re.S).split(",")])
        with open(os.path.join(SOURCE, "include", "evener", "fortran", "evn_cu.f90")) as file:
            text = file.read()
        found = re.findall(r"^ +(?:(\w+\(\w+\)) function|subroutine) (evn_cu_\w+)\(([\w, ]*)\) bind\(c\); import(.*?)end$", text, re.M | re.S)
        self.assertEqual(len(found), 26)
        for result, name, arguments, declared in found:
            with self.subTest(function=name):
                self.assertEqual(kinds[functions[name][0]], result or None)
                names = arguments.split(", ") if arguments else []
                self.assertEqual(len(names), len(functions[name][1]))
                for argument, of_c in zip(names, functions[name][1]):
                    line = next(d for d in re.split("[;\n]", declared) if "::" in d and re.search(rf"\b{argument}\b", d.split("::")[1]))
                    type_ = re.sub(r"[ *]*\w+$", "", of_c) + (" *" if "*" in of_c else "")
                    if ", value" in line and of_c != "body":
                        self.assertEqual(line.split(",")[0].strip(), kinds[type_])
                    elif of_c != "body":
                        self.assertIn("*", of_c)

    def test_stack(self):
        """A procedure in another file, without directives, has its large arrays for each call."""
        self.write("big.f90", "subroutine big(x)\nreal(8) :: x, u(20000)\ninteger :: i, k\ndo k = 1, 20\nu = x\nx = sum(u) / 20000\n"
                   "end do\nend subroutine\n")
        self.write("small.f90", f"program p\ninteger :: z\nreal(8) :: v(40)\nv = [(z, z = 1, 40)]\n{TEAMS}\ndo z = 1, 40\n"
                   "call big(v(z))\nend do\nprint *, all(v == [(z, z = 1, 40)])\nend\n")
        self.assertIn("-frecursive", self.fine(self.fc("--show", "-c", "big.f90")).stdout)
        self.fine(self.fc("big.f90", "small.f90", "-o", "big"))
        self.assertEqual(self.fine(run([os.path.join(self.folder, "big")])).stdout.split(), ["T"])
