"""A Python application with marked regions:

    PYTHONPATH=native triscope region launch -- python3 examples/region-app.py
"""

import time

import triscope_region as triscope

wait = triscope.region("wait", "io")


@triscope.region("arithmetic", "compute")
def arithmetic():
    return sum(k**0.5 for k in range(200_000))


for step in range(20):
    triscope.epoch()
    arithmetic()
    with wait:
        time.sleep(0.005)
