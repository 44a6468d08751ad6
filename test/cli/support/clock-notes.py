"""Marks a region in two threads and notes the wall clock (clock_gettime) around each mark, and when a file grew."""
import glob, json, sys, threading, time
import triscope_region

wall = lambda: time.clock_gettime_ns(time.CLOCK_REALTIME)
notes = {"marks": [], "grown": [], "threads": []}


def mark(name):
    region = triscope_region.region(name)
    for k in range(4):
        before = wall()
        region.__enter__()
        inside = wall()
        time.sleep(0.02)
        leaving = wall()
        region.__exit__(None, None, None)
        notes["marks"].append([threading.get_native_id(), name, before, inside, leaving, wall()])
        time.sleep(0.003)


threads = [threading.Thread(target=mark, args=(name,)) for name in ("work", "other")]
for thread in threads:
    thread.start()
size, until = 0, time.monotonic() + 0.5
while time.monotonic() < until:
    files = glob.glob(sys.argv[2])
    now = os_size = sum(open(path, "rb").seek(0, 2) for path in files)
    if os_size != size:
        notes["grown"].append(wall())
        size = os_size
    time.sleep(0.0002)
for thread in threads:
    thread.join()
json.dump(notes, open(sys.argv[1], "w"))
