#!/usr/bin/env python3
"""Stability of td-bem in long runs: 20,000 steps of 0.2 to 1.5 mean edges on twelve bodies, rigid and soft.

The late field, the largest |a| in the last transit of the body, must be below 1e-9 of the largest of all, or the
run be refused at its start (status 2), as a sealed rigid cavity is. Exit status 1 if a late field is larger.

With --method fast each triangle or quadrangle is cut into nine, so that there are far cells.

Usage: suite/bench/tdbem_stability.py [--method fast] [build/evener [steps [NAME of a body ..]]]
"""
import argparse
import json
import math
import os
import subprocess
import sys
import tempfile

RATIOS = (0.2, 0.5, 1.0, 1.5)


# Surfaces: a list of points and one of polygons, counter-clockwise seen from the air.

def grid(corner, u, v, m, n, points, faces):
    """The parallelogram corner + u + v in m x n cells; u x v points into the air."""
    at = [[len(points) + i * (n + 1) + j for j in range(n + 1)] for i in range(m + 1)]
    for i in range(m + 1):
        for j in range(n + 1):
            points.append([corner[c] + u[c] * i / m + v[c] * j / n for c in range(3)])
    for i in range(m):
        for j in range(n):
            faces.append((at[i][j], at[i + 1][j], at[i + 1][j + 1], at[i][j + 1]))


def join(points, faces, turned=False):
    """Points at one place become one; `turned`: the air is on the other side."""
    where, number, kept = {}, [], []
    for p in points:
        key = tuple(round(x, 9) for x in p)
        if key not in where:
            where[key] = len(kept)
            kept.append(p)
        number.append(where[key])
    polygons = []
    for face in faces:
        corners = [number[v] for v in face]
        corners = [v for i, v in enumerate(corners) if v != corners[i - 1]]
        if len(corners) > 2:
            polygons.append(corners[::-1] if turned else corners)
    return kept, polygons


def prism(outline, height, cells, edge):
    """A prism over a quadrangle of points (x, y), counter-clockwise; `cells` of its sides, two pairs."""
    points, faces = [], []
    n = max(1, round(height / edge))
    for i in range(4):
        a, b = outline[i], outline[(i + 1) % 4]
        m = cells[i % 2]
        grid((a[0], a[1], 0), (b[0] - a[0], b[1] - a[1], 0), (0, 0, height), m, n, points, faces)
    for z in (0, height):
        at = []
        for i in range(cells[0] + 1):
            for j in range(cells[1] + 1):
                s, t = i / cells[0], j / cells[1]
                at.append(len(points))
                points.append([(1 - t) * ((1 - s) * outline[0][c] + s * outline[1][c])
                               + t * ((1 - s) * outline[3][c] + s * outline[2][c]) for c in range(2)] + [z])
        for i in range(cells[0]):
            for j in range(cells[1]):
                row = cells[1] + 1
                face = (at[i * row + j], at[(i + 1) * row + j], at[(i + 1) * row + j + 1], at[i * row + j + 1])
                faces.append(face if z else face[::-1])
    return join(points, faces)


def box(a, b, c, edge, at=(0, 0, 0), turned=False):
    cells = [max(1, round(x / edge)) for x in (a, b)]
    points, faces = prism(((0, 0), (a, 0), (a, b), (0, b)), c, cells, edge)
    points = [[p[i] + at[i] for i in range(3)] for p in points]
    return points, [f[::-1] for f in faces] if turned else faces


def both(*bodies):
    points, faces = [], []
    for p, f in bodies:
        faces += [[v + len(points) for v in face] for face in f]
        points += p
    return points, faces


def turned_about(profile, around):
    """A closed outline of (radius, z) turned about z; the air is to the right of its way."""
    points, faces = [], []
    n = len(profile)
    for i in range(n):
        for k in range(around):
            angle = 2 * math.pi * k / around
            points.append([profile[i][0] * math.cos(angle), profile[i][0] * math.sin(angle), profile[i][1]])
    for i in range(n):
        for k in range(around):
            j, l = (i + 1) % n, (k + 1) % around
            faces.append((i * around + k, i * around + l, j * around + l, j * around + k))
    return join(points, faces)


def line(*stops):
    """Points from stop to stop (r, z, cells to the next one)."""
    way = []
    for i, (r, z, cells) in enumerate(stops):
        to = stops[(i + 1) % len(stops)]
        way += [(r + (to[0] - r) * k / cells, z + (to[1] - z) * k / cells) for k in range(cells)]
    return way


def tube(wall):
    """A pipe of length 2 and radius 1, open at both ends."""
    return turned_about(line((1, 0, 5), (1, 2, 1), (1 - wall, 2, 5), (1 - wall, 0, 1)), 14)


def bottle(wall):
    """A pipe with a bottom."""
    return turned_about(line((0, 0, 2), (1, 0, 5), (1, 2, 1), (1 - wall, 2, 5), (1 - wall, wall, 2), (0, wall, 1)), 14)


def torus():
    return turned_about([(1 + 0.4 * math.cos(a), 0.4 * math.sin(a))
                         for a in (2 * math.pi * k / 7 for k in range(7))], 16)


def wedge(degrees, thick):
    """As long as wide, from a blunt tip of `thick` on."""
    half, rise = thick / 2, math.tan(math.radians(degrees / 2))
    return prism(((0, -half), (1, -half - rise), (1, half + rise), (0, half)), 1, (5, 1), 0.2)


BODIES = {
    "sphere": "sphere:1",
    "cube": box(1, 1, 1, 0.25),
    "needle": box(3, 0.2, 0.2, 0.2),
    "plate": box(1, 1, 0.05, 0.2),
    "sheet": box(1, 1, 0.01, 0.2),
    "torus": torus(),
    "tube": tube(0.15),
    "thin tube": tube(0.03),
    "bottle": bottle(0.1),
    "wedge of 4 degrees": wedge(4, 0.01),
    "two boxes": both(box(1, 1, 0.5, 0.25), box(1, 1, 0.5, 0.25, (0, 0, 0.55))),
    "sealed cavity": both(box(1.5, 1.5, 1.5, 0.375), box(1, 1, 1, 0.25, (0.25, 0.25, 0.25), True)),
}


def cut(body, n):
    """Each polygon in n x n pieces of its shape."""
    points, faces = [], []
    for face in body[1]:
        a, b, d = (body[0][v] for v in (face[0], face[1], face[-1]))
        u, v = ([y[c] - a[c] for c in range(3)] for y in (b, d))
        # what a quadrangle's corner is beyond the parallelogram's
        beyond = [body[0][face[2]][c] - b[c] - v[c] for c in range(3)] if len(face) == 4 else [0, 0, 0]

        def at(i, j):
            points.append([a[c] + u[c] * i / n + v[c] * j / n + beyond[c] * i * j / n / n for c in range(3)])
            return len(points) - 1
        for i in range(n):
            for j in range(n if len(face) == 4 else n - i):
                corners = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)]
                if len(face) == 4:
                    faces.append(corners)
                    continue
                faces.append((corners[0], corners[1], corners[3]))
                if i + j + 2 <= n:
                    faces.append(corners[1:])
    return join(points, faces)


def write(name, body, folder, method):
    if isinstance(body, str):
        return "sphere:3" if method == "fast" else body
    if method == "fast":
        body = cut(body, 3)
    path = os.path.join(folder, name.replace(" ", "-") + ".off")
    with open(path, "w") as out:
        out.write("OFF\n%d %d 0\n" % (len(body[0]), len(body[1])))
        for p in body[0]:
            out.write("%.17g %.17g %.17g\n" % tuple(p))
        for f in body[1]:
            out.write("%d %s\n" % (len(f), " ".join(map(str, f))))
    return path


def run(evener, mesh, ratio, problem, steps, method, folder):
    """The late field over the largest; or the exit status, and why."""
    record = os.path.join(folder, "record.json")
    done = subprocess.run([evener, "run", "td-bem", "--mesh", mesh, "--problem", problem, "--delta-ratio", str(ratio),
                           "--steps", str(steps), "--method", method, "--units", "1:CPU:1", "--quiet", "--json", record],
                          capture_output=True, text=True)
    if done.returncode:
        return None, done.returncode, (done.stderr.strip().split("\n") or [""])[-1]
    with open(record) as file:
        norms = json.load(file)["norms"]
    return norms["latest"] / max(norms["most"], norms["most_after"] or 0), 0, ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--method", choices=("plain", "fast"), default="plain")
    parser.add_argument("evener", nargs="?", default="build/evener")
    parser.add_argument("steps", nargs="?", type=int, default=20000)
    parser.add_argument("name", nargs="*", metavar="NAME", help="of a body")
    o = parser.parse_args()
    failed, steps = 0, o.steps
    print("%d steps: the late field over the largest; steps of so many mean edges" % steps)
    print("%-20s %-6s" % ("", "") + "".join("%12g" % r for r in RATIOS))
    with tempfile.TemporaryDirectory() as folder:
        for name in o.name or BODIES:
            mesh = write(name, BODIES[name], folder, o.method)
            for problem in ("rigid", "soft"):
                print("%-20s %-6s" % (name, problem), end="", flush=True)
                words = []
                for ratio in RATIOS:
                    late, code, why = run(o.evener, mesh, ratio, problem, steps, o.method, folder)
                    bad = code not in (0, 2) or (late is not None and not late < 1e-9)
                    failed |= bad
                    print("%12s" % ("%.1e%s" % (late, "*" if bad else "") if late is not None
                                    else "refused" if code == 2 else "status %d*" % code), end="", flush=True)
                    words += ["    %g: %s" % (ratio, why)] if why else []
                print("".join("\n" + w for w in words), flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
