#!/usr/bin/env python3
"""Completion in bash, fish and zsh (share/completion): what help tells, at its place. Run: ctest -R command-completion, or
tests/command/test_completion.py build/evener [test ..]"""
import os
import shutil
import subprocess

from base import Base, EVENER

FOLDER = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", "share", "completion"))


class Completion(Base):
    def completed(self, shell, line):
        """What the last word of a line may become."""
        words = line.split(" ")
        path = os.path.dirname(EVENER) + ":" + os.environ["PATH"]
        script = {"bash": f"source {FOLDER}/evener; COMP_WORDS=({line.rstrip()}{' ' * line.endswith(' ')}{chr(34) * 2 * line.endswith(' ')}); "
                          f"COMP_CWORD={len(words) - 1}; _evener; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
                  "fish": f"source {FOLDER}/evener.fish; complete -C '{line}'",
                  # without an editor: the function with the words that zsh would give it
                  "zsh": f"function compadd() {{ print -l -- $found }}; function _files() {{ }}; words=({line.rstrip()}{' ' + chr(34) * 2 if line.endswith(' ') else ''}); "
                         f"CURRENT={len(words)}; function try() {{ source {FOLDER}/_evener }}; try"}[shell]
        done = subprocess.run([shell, "-c", script], capture_output=True, text=True, timeout=60, cwd=self.folder, env=dict(os.environ, PATH=path))
        self.assertEqual((done.returncode, done.stderr), (0, ""), (shell, line))
        found = {found.split("\t")[0] for found in done.stdout.split("\n")} - {""}
        return {found for found in found if found.startswith(words[-1])}

    def test_shells(self):
        for shell in "bash", "fish", "zsh":
            if not shutil.which(shell):
                continue
            with self.subTest(shell=shell):
                self.assertEqual(self.completed(shell, "evener re"), {"report"})
                self.assertTrue({"run", "plan", "mesh", "bench"} <= self.completed(shell, "evener "))
                self.assertEqual(self.completed(shell, "evener run ft"), {"ft"})
                self.assertTrue({"bt-mz", "td-bem", "adaptive"} <= self.completed(shell, "evener run "))
                self.assertIn("schedules", self.completed(shell, "evener bench s"))
                self.assertEqual(self.completed(shell, "evener run td-bem --me"), {"--mesh", "--memory", "--method"})
                self.assertIn("--mesh", self.completed(shell, "evener run td-bem --units 1:CPU:1 --me"))
                self.assertNotIn("--mesh", self.completed(shell, "evener run ft --me"))
                self.assertFalse({"ft", "run"} & self.completed(shell, "evener run ft --class "))
