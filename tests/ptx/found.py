"""Where an NVRTC is: EVENER_NVRTC, else where toolkits have it, the newest first. Only real ones count, not a stand-in."""

import glob
import os
import re

PLACES = ["/usr/local/cuda*/lib64", "/usr/local/cuda*/lib", "/usr/local/cuda*/targets/*/lib", "/opt/cuda/lib64", "/usr/lib/x86_64-linux-gnu",
          "/usr/lib/cuda/lib64", "/usr/local/lib/python3*/site-packages/nvidia/*/lib", "/usr/lib/python3*/site-packages/nvidia/*/lib"]


def nvrtc():
    """The library's file, or None"""
    given = os.environ.get("EVENER_NVRTC")
    if given:
        return given
    roots = [os.environ[name] + "/lib64" for name in ("CUDA_HOME", "CUDA_PATH", "CONDA_PREFIX") if name in os.environ]
    found = [file for place in roots + PLACES for file in glob.glob(place + "/libnvrtc.so*") if re.search(r"\.so\.\d+(\.\d+)*$", file)]
    return max(found, key=lambda file: [int(x) for x in re.search(r"\.so\.([\d.]+)$", file)[1].split(".")], default=None)
