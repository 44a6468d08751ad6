"""Forks COUNT processes that each write a small region page, stay in region A for SECONDS, and end in good order.

Usage: pages.py COUNT SECONDS. The page's layout is that of src/model/region-layout.ts.
"""
import mmap
import os
import struct
import sys
import time
import zlib

NAME = b'A'
THREADS, REGIONS, NAMES, NODES, BYTES = 4096, 4224, 4288, 4352, 4480


def page():
    start = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    path = '%s/%d-%d-0.page' % (os.environ['TRISCOPE_REGION_DIR'], os.getpid(), start)
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL)
    os.ftruncate(fd, BYTES)
    m = mmap.mmap(fd, BYTES)
    put = lambda form, at, *values: struct.pack_into('<' + form, m, at, *values)
    put('I', 8, os.getpid())
    put('QQ', 16, start, time.time_ns())
    # Bytes; room for threads, regions, nodes, bytes of names, events; offsets; how many are used.
    put('13I', 32, BYTES, 1, 2, 2, 64, 0, THREADS, REGIONS, NAMES, NODES, BYTES, 1, 2)
    put('i', 152, -1)
    put('II', REGIONS, 1, 1)
    put('5I', REGIONS + 32, 1, zlib.crc32(NAME), 2, 0, len(NAME))
    m[NAMES:NAMES + 1] = NAME
    put('II', THREADS + 4, 1, os.getpid())
    put('i', THREADS + 28, -1)
    put('I', THREADS + 48, 2)
    put('I', NODES + 64, 1)
    put('I', 12, 1)
    put('I', 4, 2)
    put('I', 0, 0x4E475254)
    return m, put, start


def child(seconds):
    m, put, start = page()
    now = lambda: float(time.clock_gettime_ns(time.CLOCK_MONOTONIC) - start)
    entered = now()
    put('d', THREADS + 32, entered)
    put('4I', THREADS + 12, 1, zlib.crc32(NAME), 2, 1)
    time.sleep(seconds)
    left = now()
    put('4I', THREADS + 12, 0, 0, 0, 0)
    put('dd', NODES + 88, 1.0, left - entered)
    put('d', 136, left)
    put('I', 12, 3)


for _ in range(int(sys.argv[1])):
    if os.fork() == 0:
        child(float(sys.argv[2]))
        os._exit(0)
for _ in range(int(sys.argv[1])):
    os.wait()
