// An aircraft-like closed body of about 10 x 9 x 3, for Gmsh with OpenCASCADE.
//
//     gmsh -2 -setnumber lc 0.25 -format msh41 aircraft.geo -o aircraft.msh
//
// lc is the longest edge: 0.6 gives about 440 vertices (aircraft.off), 0.35 950, 0.065 24 000.
// A mesh of more than one component means that the union of the parts failed.
SetFactory("OpenCASCADE");
DefineConstant[ lc = 0.6 ];

// fuselage along x: ellipsoidal nose, cylinder, tail cone with a blunt end
radius = 0.6;
Cylinder(1) = {0, 0, 0, 6, 0, 0, radius};
Sphere(2) = {0, 0, 0, radius};
Dilate {{0, 0, 0}, {1.8, 1, 1}} { Volume{2}; }
Cone(3) = {6, 0, 0, 3, 0, 0, radius, 0.18};

// A fin: a rectangle at the root (chord along x, thickness along y or z) lofted to a smaller one at
// the tip. (Statements after Call on its own line would be lost.)
Macro Fin
  p = newp;
  For side In {0:1}
    px = side ? tipX : rootX;  py = side ? tipY : rootY;  pz = side ? tipZ : rootZ;
    chord = side ? tipChord : rootChord;
    half = 0.5 * (side ? tipThick : rootThick);
    dy = upright ? half : 0;  dz = upright ? 0 : half;
    Point(p + 4*side)     = {px,         py - dy, pz - dz};
    Point(p + 4*side + 1) = {px + chord, py - dy, pz - dz};
    Point(p + 4*side + 2) = {px + chord, py + dy, pz + dz};
    Point(p + 4*side + 3) = {px,         py + dy, pz + dz};
  EndFor
  l = newl;
  For c In {0:3}
    Line(l + c) = {p + c, p + (c + 1) % 4};
    Line(l + 4 + c) = {p + 4 + c, p + 4 + (c + 1) % 4};
  EndFor
  root = newll;
  Curve Loop(root) = {l, l + 1, l + 2, l + 3};
  tip = newll;
  Curve Loop(tip) = {l + 4, l + 5, l + 6, l + 7};
  v = newv;
  ThruSections(v) = {root, tip};
Return

parts[] = {2, 3};
For sign In {-1:1:2}
  // wing
  upright = 0;
  rootX = 2.3;  rootY = 0;           rootZ = -0.15;  rootChord = 2.0;  rootThick = 0.30;
  tipX = 4.1;   tipY = 4.6 * sign;   tipZ = 0.15;    tipChord = 0.8;   tipThick = 0.14;
  Call Fin;
  parts[] += {v};
  // tailplane
  rootX = 7.4;  rootY = 0;           rootZ = 0.20;   rootChord = 1.1;  rootThick = 0.18;
  tipX = 8.3;   tipY = 1.7 * sign;   tipZ = 0.30;    tipChord = 0.6;   tipThick = 0.12;
  Call Fin;
  parts[] += {v};
  // nacelle
  v = newv;
  Cylinder(v) = {2.4, 1.7 * sign, -0.40, 1.5, 0, 0, 0.32};
  parts[] += {v};
EndFor
upright = 1;
rootX = 7.1;  rootY = 0;  rootZ = 0.10;  rootChord = 1.5;  rootThick = 0.18;
tipX = 8.3;   tipY = 0;   tipZ = 2.0;    tipChord = 0.8;   tipThick = 0.12;
Call Fin;
parts[] += {v};

whole() = BooleanUnion{ Volume{1}; Delete; }{ Volume{parts[]}; Delete; };
Printf("united to %g volume", #whole());

Mesh.MeshSizeMin = 0.6 * lc;
Mesh.MeshSizeMax = lc;
Mesh.MeshSizeFromPoints = 0;
Mesh.MeshSizeExtendFromBoundary = 0;
Mesh.Algorithm = 6;
Mesh.Optimize = 1;
Physical Surface("skin") = Surface{:};
