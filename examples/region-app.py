"""A Python application with marked regions:

    triscope region launch -- python3 examples/region-app.py
"""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "native"))

import triscope_region as triscope  # noqa: E402

wait = triscope.region("wait", "io")


@triscope.region("arithmetic", "compute")
def arithmetic():
    return sum(k**0.5 for k in range(200_000))


for step in range(20):
    triscope.epoch()
    arithmetic()
    with wait:
        time.sleep(0.005)
