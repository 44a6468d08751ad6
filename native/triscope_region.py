"""Marking of regions from Python, for `triscope region launch`. This file alone is the module; standard library only.

    import triscope_region as triscope

    solve = triscope.region("solve", "compute")
    with solve:
        ...

    @triscope.region("read", "io")
    def read(path): ...

What is marked is kept on the process's region page (docs/region-page.md), in the folder that the environment variable
TRISCOPE_REGION_DIR names; without it marks do nothing. Any thread may mark; forked children get pages of their own.
"""

import atexit
import functools
import mmap
import os
import sys
import threading
import time
import zlib

HINTS = (
    "unset", "unknown", "compute", "memory", "network", "io", "serial", "parallel", "ignore", "inactive", "spin",
)

_MAGIC, _VERSION = 0x4E475254, 1
_HEADER, _THREAD, _REGION, _NODE, _EVENT = 4096, 128, 32, 48, 24
_THREADS, _REGIONS, _NODES, _NAMES, _DEPTH = 256, 4096, 8192, 1 << 20, 64
_STARTED, _STOPPED = 1, 2
_FREE, _LIVE, _ENDED = 0, 1, 2
_ENTRY, _EXIT, _EPOCH = 0, 1, 2

# Cells of the header as words (u32) and doubles; of slots, words and doubles from the slot's begin.
_H = {
    name: 2 + k
    for k, name in enumerate(
        "pid flags start_low start_high wall_low wall_high bytes threads_room regions_room nodes_room names_room "
        "ring_room threads regions names nodes rings threads_used regions_used names_used regions_refused "
        "threads_refused misordered unplaced epochs parent_pid".split()
    )
}
_H_FIRST, _H_LAST, _H_STARTED, _H_STOPPED = 14, 15, 16, 17
_H_RANK, _H_NAME_BYTES, _H_CPUS = 38, 39, 40
_SEQ, _STATE, _TID, _DEPTH_AT, _HASH, _HINT, _NODE_AT, _CPU = range(8)
_T_ENTERED = 4
_TOTAL, _DONE, _USED, _HEAD, _UNPLACED = range(10, 15)
_N_REGION, _N_PARENT, _N_CHILD, _N_NEXT, _N_KIND, _N_INSIDE = range(6)
_N_COUNT, _N_SECONDS, _N_ENTERED = 3, 4, 5


def _page_name():
    """PID-STARTTIME-STACK.page: fields 22 and 28 of /proc/self/stat."""
    try:
        with open("/proc/self/stat", "rb") as file:
            fields = file.read().rpartition(b") ")[2].split()
        return "%d-%d-%d.page" % (os.getpid(), int(fields[19]), int(fields[25]))
    except OSError:
        return "%d-0-0.page" % os.getpid()


def _ring_room():
    try:
        wish = int(os.environ.get("TRISCOPE_REGION_RING", "0"))
    except ValueError:
        wish = 0
    return 0 if wish < 1 else min(1 << 16, max(16, 1 << (wish - 1).bit_length()))


def _rank():
    for name in ("OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"):
        if os.environ.get(name, "").isdigit():
            return int(os.environ[name])
    return -1


class _Page:
    """The page of this process: made, or joined where another library of the process has made it."""

    def __init__(self, folder):
        self.lock = threading.Lock()
        self.known = {}
        self.seen = 0
        path = os.path.join(folder, _page_name())
        try:
            self._map(path)
        except FileNotFoundError:
            self._make(path, folder)
        low, high = self.u32[_H["start_low"]], self.u32[_H["start_high"]]
        self.start = high << 32 | low

    def _map(self, path):
        with open(path, "r+b") as file:
            self.memory = mmap.mmap(file.fileno(), 0)
        self.bytes = memoryview(self.memory)
        self.u32 = self.bytes.cast("I")
        self.f64 = self.bytes.cast("d")

    def _make(self, path, folder):
        if not os.path.isdir(folder):
            os.mkdir(folder, 0o700)
        ring = _ring_room()
        threads = _HEADER
        regions = threads + _THREADS * _THREAD
        names = regions + _REGIONS * _REGION
        nodes = names + _NAMES
        rings = nodes + _THREADS * _NODES * _NODE
        size = rings + _THREADS * ring * _EVENT
        aside = "%s.%d.tmp" % (path, threading.get_native_id())
        os.close(os.open(aside, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        try:
            os.truncate(aside, size)
            self._map(aside)
            rooms = (size, _THREADS, _REGIONS, _NODES, _NAMES, ring, threads, regions, names, nodes, rings)
            for k, value in enumerate(rooms):
                self.u32[_H["bytes"] + k] = value
            self.u32[_H["pid"]] = os.getpid()
            self.u32[_H["parent_pid"]] = os.getppid()
            self.u32[_H_RANK] = _rank() & 0xFFFFFFFF
            name = os.path.basename(sys.argv[0] or "python").encode("utf-8", "surrogateescape")[:248]
            self.bytes[256 : 256 + len(name)] = name
            self.u32[_H_NAME_BYTES] = len(name)
            cpus = sorted(cpu for cpu in os.sched_getaffinity(0) if cpu < 8192)
            for cpu in cpus:
                self.bytes[512 + cpu // 8] |= 1 << cpu % 8
            self.u32[_H_CPUS] = cpus[-1] + 1 if cpus else 0
            self._put(0, b"(overflow)", 1, 0)
            self.u32[_H["names_used"]] = 10
            self.u32[_H["regions_used"]] = 1
            start, wall = time.monotonic_ns(), time.time_ns()
            for name, value in (("start", start), ("wall", wall)):
                self.u32[_H[name + "_low"]] = value & 0xFFFFFFFF
                self.u32[_H[name + "_high"]] = value >> 32
            self.u32[_H["flags"]] = _STARTED
            self.u32[1] = _VERSION
            self.u32[0] = _MAGIC
            os.link(aside, path)  # Nobody sees it unfinished.
        finally:
            os.unlink(aside)

    def _put(self, index, name, hint, offset):
        begin = self.u32[_H["names"]] + offset
        self.bytes[begin : begin + len(name)] = name
        at = self.region(index)
        self.u32[at + 1] = zlib.crc32(name)
        self.u32[at + 2] = hint
        self.u32[at + 3] = offset
        self.u32[at + 4] = len(name)
        self.u32[at] = 1

    def region(self, index):
        """Index of the first word of a region's slot: state, hash, hint, name, bytes of the name."""
        return (self.u32[_H["regions"]] + index * _REGION) >> 2

    def name_of(self, index):
        at = self.region(index)
        begin = self.u32[_H["names"]] + self.u32[at + 3]
        return bytes(self.bytes[begin : begin + self.u32[at + 4]])

    def find(self, name, hint):
        """Index of the region of that name; 0, and counted, where there is no place for another."""
        with self.lock:
            while self.seen < min(self.u32[_H["regions_used"]], _REGIONS) and self.u32[self.region(self.seen)]:
                self.known.setdefault(self.name_of(self.seen), self.seen)
                self.seen += 1
            if name in self.known:
                return self.known[name]
            index, offset = self.u32[_H["regions_used"]], self.u32[_H["names_used"]]
            if index >= _REGIONS or offset + len(name) > _NAMES:
                self.u32[_H["regions_refused"]] += 1
                return 0
            self.u32[_H["regions_used"]] = index + 1
            self.u32[_H["names_used"]] = offset + len(name)
            self._put(index, name, hint, offset)
            return index

    def now(self):
        """Nanoseconds since the page's time zero, of CLOCK_MONOTONIC."""
        return float(time.monotonic_ns() - self.start)

    def stop(self):
        if not self.u32[_H["flags"]] & _STOPPED:
            self.f64[_H_STOPPED] = self.now()
            self.u32[_H["flags"]] |= _STOPPED

    def claim(self):
        """Slot of the calling thread, or None."""
        tid = threading.get_native_id()
        with self.lock:
            used = min(self.u32[_H["threads_used"]], _THREADS)
            word = [(self.u32[_H["threads"]] + k * _THREAD) >> 2 for k in range(_THREADS)]
            for k in range(used):
                if self.u32[word[k] + _STATE] == _LIVE and self.u32[word[k] + _TID] == tid:
                    return k
            slot = used if used < _THREADS else None
            if slot is not None:
                self.u32[_H["threads_used"]] += 1
            else:
                for k in range(_THREADS):
                    state, owner = self.u32[word[k] + _STATE], self.u32[word[k] + _TID]
                    if state == _ENDED or (state == _LIVE and not os.path.exists("/proc/self/task/%d" % owner)):
                        slot = k
                        break
            if slot is None:
                self.u32[_H["threads_refused"]] += 1
                return None
            at = word[slot]
            cpus = os.sched_getaffinity(0)
            self.u32[at + _TID] = tid
            self.u32[at + _CPU] = next(iter(cpus)) if len(cpus) == 1 else 0xFFFFFFFF
            self.u32[at + _USED] = max(1, self.u32[at + _USED])
            nodes = (self.u32[_H["nodes"]] + slot * _NODES * _NODE) >> 2
            self.u32[at + _SEQ] |= 1
            for n in range(self.u32[at + _USED]):
                self.u32[nodes + n * (_NODE >> 2) + _N_INSIDE] = 0
            for cell in (_DEPTH_AT, _HASH, _HINT, _NODE_AT, _TOTAL, _DONE, _UNPLACED):
                self.u32[at + cell] = 0
            self.u32[at + _SEQ] = (self.u32[at + _SEQ] + 1) & 0xFFFFFFFF
            self.u32[at + _STATE] = _LIVE
            return slot


class _Pen:
    """What one thread writes with."""

    def __init__(self, page, slot):
        self.page, self.u32, self.f64 = page, page.u32, page.f64
        self.words = (page.u32[_H["threads"]] + slot * _THREAD) >> 2
        self.nodes = (page.u32[_H["nodes"]] + slot * _NODES * _NODE) >> 2
        self.room = page.u32[_H["ring_room"]]
        self.ring = (page.u32[_H["rings"]] + slot * self.room * _EVENT) >> 2
        self.places = {}

    def _seq(self):
        self.u32[self.words] = (self.u32[self.words] + 1) & 0xFFFFFFFF

    def _node(self, n):
        return self.nodes + n * (_NODE >> 2)

    def _node_of(self, index, parent):
        known = self.places.get((parent, index))
        if known is not None:
            return known
        u32, words = self.u32, self.words
        n = u32[self._node(parent) + _N_CHILD]
        while n and (u32[self._node(n)] != index or u32[self._node(n) + _N_KIND]):
            n = u32[self._node(n) + _N_NEXT]
        if not n and u32[words + _USED] < _NODES - (index != 0):  # The last one is kept for (overflow).
            n = u32[words + _USED]
            self._seq()
            u32[self._node(n) + _N_REGION] = index
            u32[self._node(n) + _N_PARENT] = parent
            u32[self._node(n) + _N_NEXT] = u32[self._node(parent) + _N_CHILD]
            u32[self._node(parent) + _N_CHILD] = n
            u32[words + _USED] = n + 1
            self._seq()
        if n:
            self.places[parent, index] = n
        return n

    def event(self, code, value, depth, now):
        if self.room:
            head = self.u32[self.words + _HEAD]
            at = self.ring + (head & (self.room - 1)) * (_EVENT >> 2)
            self.f64[at >> 1] = now
            self.u32[at + 2], self.u32[at + 3], self.u32[at + 4] = code, value, depth
            self.u32[self.words + _HEAD] = (head + 1) & 0xFFFFFFFF

    def enter(self, index):
        now = self.page.now()
        u32, words = self.u32, self.words
        depth, parent = u32[words + _DEPTH_AT], u32[words + _NODE_AT]
        placed = depth < _DEPTH and not u32[words + _UNPLACED]
        n = self._node_of(index, parent) if placed else 0
        if not n:
            u32[words + _UNPLACED] += 1
            u32[_H["unplaced"]] += 1
            return
        region, node = self.page.region(index), self._node(n)
        self._seq()
        u32[node + _N_INSIDE] = 1
        self.f64[(node >> 1) + _N_ENTERED] = now
        u32[words + _NODE_AT] = n
        u32[words + _DEPTH_AT] = depth + 1
        u32[words + _HINT] = u32[region + 2]
        if depth == 0:
            u32[words + _HASH] = u32[region + 1]
            self.f64[(words >> 1) + _T_ENTERED] = now
        self._seq()
        self.event(_ENTRY, u32[region + 1], depth + 1, now)

    def exit(self, index):
        now = self.page.now()
        u32, words = self.u32, self.words
        if u32[words + _UNPLACED]:
            u32[words + _UNPLACED] -= 1
            return
        n = u32[words + _NODE_AT]
        if n and u32[self._node(n)] == index:
            self._leave(now)
        else:
            self._misordered(index, now)

    def _leave(self, now):
        u32, f64, words = self.u32, self.f64, self.words
        node, depth = self._node(u32[words + _NODE_AT]), u32[words + _DEPTH_AT]
        parent, d = u32[node + _N_PARENT], node >> 1
        self._seq()
        f64[d + _N_SECONDS] += now - f64[d + _N_ENTERED]
        f64[d + _N_COUNT] += 1
        u32[node + _N_INSIDE] = 0
        u32[words + _NODE_AT] = parent
        u32[words + _DEPTH_AT] = depth - 1
        if parent:
            u32[words + _HINT] = u32[self.page.region(u32[self._node(parent)]) + 2]
        else:
            u32[words + _HASH] = u32[words + _HINT] = u32[words + _TOTAL] = u32[words + _DONE] = 0
        self._seq()
        self.event(_EXIT, u32[self.page.region(u32[node]) + 1], depth, now)

    def _misordered(self, index, now):
        global _warned
        u32 = self.u32
        u32[_H["misordered"]] += 1
        found = u32[self.words + _NODE_AT]
        while found and u32[self._node(found)] != index:
            found = u32[self._node(found) + _N_PARENT]
        if not _warned:
            _warned = True
            name = self.page.name_of(index).decode("utf-8", "replace")
            what = "while inside others, which are left too" if found else "without having been entered; ignored"
            print("triscope: region %r was left %s, as in later cases without a word" % (name, what), file=sys.stderr)
        if found:
            stop = u32[self._node(found) + _N_PARENT]
            while u32[self.words + _NODE_AT] != stop:
                self._leave(now)


_warned = False
_page = None
_local = threading.local()
_regions = {}


def _pen():
    if _page is None:
        return None
    pen = getattr(_local, "pen", None)
    if pen is None or (pen is not False and pen.page is not _page):
        slot = _page.claim()
        pen = _local.pen = False if slot is None else _Pen(_page, slot)
    return pen or None


class Region:
    """A part of the program that is measured on its own; a context manager, and a decorator."""

    def __init__(self, name, hint):
        self.name, self.hint = name, hint
        self._page, self._index = None, 0

    def _place(self, pen):
        if self._page is not pen.page:  # Asked for the first time, or forked.
            name = self.name if isinstance(self.name, bytes) else self.name.encode("utf-8", "replace")
            self._page, self._index = pen.page, pen.page.find(name, max(1, HINTS.index(self.hint)))
        return self._index

    def enter(self):
        pen = _pen()
        if pen:
            pen.enter(self._place(pen))

    def exit(self):
        pen = _pen()
        if pen:
            pen.exit(self._place(pen))

    def __enter__(self):
        self.enter()
        return self

    def __exit__(self, *error):
        self.exit()

    def __call__(self, function):
        @functools.wraps(function)
        def inside(*args, **named):
            with self:
                return function(*args, **named)

        return inside


def region(name, hint="unknown"):
    """The region of that name (str or bytes), with the hint that it was first given."""
    if hint not in HINTS:
        raise ValueError("hint %r: it is one of %s" % (hint, ", ".join(HINTS)))
    if len(_regions) < 2 * _REGIONS:
        return _regions.setdefault(name, Region(name, hint))
    return _regions.get(name) or Region(name, hint)


def epoch():
    """A pass through the outermost loop of the application begins."""
    pen = _pen()
    if pen:
        now = _page.now()
        with _page.lock:
            before = _page.u32[_H["epochs"]]
            _page.u32[_H["epochs"]] = before + 1
        if before == 0:
            _page.f64[_H_FIRST] = now
        _page.f64[_H_LAST] = now
        pen.event(_EPOCH, before + 1, 0, now)


def tprof_init(units):
    """This thread will do `units` of work in the region that it is in."""
    pen = _pen()
    if pen and units > 1:
        pen.u32[pen.words + _TOTAL], pen.u32[pen.words + _DONE] = units, 0


def tprof_post():
    """One unit of the announced work is done."""
    pen = _pen()
    if pen:
        pen.u32[pen.words + _DONE] += 1


def shutdown():
    """The application's time ends; done at exit where it was not called."""
    if _page is not None:
        _page.stop()


def _attach():
    global _page
    _page = None
    folder = os.environ.get("TRISCOPE_REGION_DIR")
    if folder:
        try:
            _page = _Page(folder)
        except (OSError, ValueError) as error:
            print("triscope: regions are not kept: %s" % error, file=sys.stderr)


_attach()
atexit.register(shutdown)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_attach)
