"""Recipes of package managers and the file of continuous integration, as far as they go without these: the recipe for Spack, with a stand-in for its
modules, gives for each choice of its variants options that CMake's files declare, with values that they take; the file for EasyBuild is Python and names
such options and installed files; the workflow calls targets of the Makefile. Run: ctest -R '^recipes$'. usage: recipes.py SOURCE BUILD"""
import glob
import itertools
import os
import re
import subprocess
import sys
import tempfile
import types
import unittest

SOURCE = BUILD = ""


def declared():
    """Options that a user can set: kind by name (bool, string, library)."""
    found = {"BUILD_SHARED_LIBS": "bool"}
    files = [SOURCE + "/CMakeLists.txt", *glob.glob(SOURCE + "/suite/**/CMakeLists.txt", recursive=True),
             *glob.glob(SOURCE + "/cmake/*.cmake")]
    for name in files:
        with open(name) as file:
            text = re.sub(r"(?m)^\s*#.*", "", file.read())
        found |= {n: "bool" for n in re.findall(r"\boption\((\w+)", text)}
        found |= {n: "library" for n in re.findall(r"\bfind_library\((\w+)", text)}
        found |= {n: "string" for n in re.findall(r"\bset\((\w+) [^()]*\bCACHE STRING\b", text)}
    return found


class Package:
    """Of Spack's CMakePackage what a recipe calls."""
    chosen = {}

    def __init__(self):
        self.spec = Spec()

    def define(self, name, value):
        return f"-D{name}:{'BOOL' if isinstance(value, bool) else 'STRING'}={ {True: 'ON', False: 'OFF'}.get(value, value)}"

    def define_from_variant(self, name, variant):
        return self.define(name, self.chosen[variant])


class Spec:
    mpicc = "/opt/mpi/bin/mpicc"

    def satisfies(self, text):
        assert text[0] in "+~" and text[1:] in Package.chosen, text
        return Package.chosen[text[1:]] == (text[0] == "+")

    def __getitem__(self, name):
        assert name in DEPENDS and self.satisfies(DEPENDS[name] or "+" + name), name
        return self


VARIANTS, DEPENDS = {}, {}


def load():
    """The recipe's class; its directives go into VARIANTS and DEPENDS."""
    package = types.ModuleType("spack.package")
    package.variant = lambda name, default, description: VARIANTS.__setitem__(name, default)
    package.depends_on = lambda spec, type=None, when=None: DEPENDS.__setitem__(re.match(r"[\w-]+", spec)[0], when)
    package.version = package.license = lambda *words, **options: None
    names = ["spack", "spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems", "spack_repo.builtin.build_systems.cmake"]
    sys.modules.update({name: types.ModuleType(name) for name in names})
    sys.modules[names[-1]].CMakePackage = Package
    sys.modules["spack.package"] = package
    scope = {"__name__": "package"}
    with open(SOURCE + "/contrib/spack/package.py") as file:
        exec(compile(file.read(), file.name, "exec"), scope)
    return scope["Evener"]


class Recipes(unittest.TestCase):
    def check(self, options, known):
        self.assertTrue(options)
        for option in options:
            name, kind, value = re.fullmatch(r"-D(\w+)(:\w+)?=(.+)", option).groups()
            self.assertIn(name, known, option)
            if known[name] == "bool":
                self.assertIn(value, ("ON", "OFF"), option)
            if name == "EVENER_ISA":
                self.assertIn(value, ("all", "own"))

    def test_spack(self):
        recipe, known = load(), declared()
        self.assertGreater(len(VARIANTS), 3)
        for name, when in DEPENDS.items():
            self.assertTrue(when is None or when[1:] in VARIANTS, name)
        seen = {}
        for values in itertools.product((True, False), repeat=len(VARIANTS)):
            Package.chosen = dict(zip(VARIANTS, values))
            options = recipe().cmake_args()
            self.check(options, known)
            seen[values] = " ".join(options)
        # every variant changes something
        # libraries that are opened at run time are found where they are linked, without an option
        self.assertEqual(len(set(seen.values())), 2 ** len(set(VARIANTS) - {"scotch", "cbc"}))

    def test_easybuild(self):
        name = glob.glob(SOURCE + "/contrib/easybuild/*.eb")[0]
        scope = {"SOURCELOWER_TAR_GZ": "evener-0.1.0.tar.gz", "SHLIB_EXT": "so"}
        with open(name) as file:
            exec(compile(file.read(), name, "exec"), scope)
        toolchain = scope["toolchain"]
        self.assertEqual(os.path.basename(name), f"{scope['name']}-{scope['version']}-{toolchain['name']}-{toolchain['version']}.eb")
        self.check(scope["configopts"].split(), declared())
        with tempfile.TemporaryDirectory() as folder:
            for component in "command", "shared", "development":
                subprocess.run(["cmake", "--install", BUILD, "--prefix", folder, "--component", component], check=True, stdout=subprocess.DEVNULL)
            for path in scope["sanity_check_paths"]["files"]:
                self.assertTrue(os.path.isfile(os.path.join(folder, path)), path)
            for path in scope["sanity_check_paths"]["dirs"]:
                self.assertTrue(os.path.isdir(os.path.join(folder, path)), path)

    def test_workflow(self):
        with open(SOURCE + "/.github/workflows/ci.yml") as file:
            commands = re.findall(r"(?m)^ +- run: (make .*)$", file.read())
        self.assertEqual(commands, ["make run", "make test"])
        with open(SOURCE + "/Makefile") as file:
            makefile = file.read()
        for command in commands:
            self.assertRegex(makefile, r"(?m)^" + command.split()[1] + ":")


if __name__ == "__main__":
    SOURCE, BUILD = map(os.path.abspath, sys.argv[1:3])
    unittest.main(verbosity=0, argv=sys.argv[:1])
