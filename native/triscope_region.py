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
import stat
import sys
import threading
import time
import zlib

HINTS = (
    "unset", "unknown", "compute", "memory", "network", "io", "serial", "parallel", "ignore", "inactive", "spin",
)

_MAGIC, _VERSION = 0x4E475254, 2
_HEADER, _THREAD, _REGION, _NODE, _EVENT = 4096, 128, 32, 64, 24
_THREADS, _REGIONS, _NODES, _NAMES, _DEPTH = 16384, 4096, 8192, 1 << 20, 64
_WIDE, _NARROW_NODES, _NARROW_RING = 2048, 128, 64  # Slots beyond the wide ones have less room.
_THREADS_SMALL = 128  # Where address space is limited.
_STARTED, _STOPPED, _MPI, _LEAVING = 1, 2, 4, 8
_FREE, _LIVE, _ENDED = 0, 1, 2
_ENTRY, _EXIT, _EPOCH = 0, 1, 2
_ACQUIRE, _ACQ_REL = 2, 4  # C's memory_order.
_PATIENCE = 0.5  # Seconds for which a slot that was taken may have no name: its thread may have lost its CPU.

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
_H_RANK, _H_NAME_BYTES, _H_CPUS, _H_INSIDE, _H_ROUND, _H_SEARCHED = 38, 39, 40, 41, 42, 43
_H_WIDE, _H_NARROW_NODES, _H_NARROW_RING = 44, 45, 46
_IGNORE = 8
_SEQ, _STATE, _TID, _DEPTH_AT, _HASH, _HINT, _NODE_AT, _CPU = range(8)
_T_ENTERED = 4
_TOTAL, _DONE, _USED, _HEAD, _UNPLACED = range(10, 15)
_T_UNITED, _ROUND = 28, 30
_N_REGION, _N_PARENT, _N_CHILD, _N_NEXT, _N_KIND, _N_INSIDE = range(6)
_N_COUNT, _N_SECONDS, _N_ENTERED = 3, 4, 5
_N_UNITED, _R_INSIDE = 12, 5


def _items_before(slot, wide, many, few):
    """Nodes, or events, of all slots before `slot`: `many` of each wide one (0: all are), `few` of the others."""
    return slot * many if wide == 0 or slot <= wide else wide * many + (slot - wide) * few


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


def _is_wanted():
    """Whether GEOPM_PROGRAM_FILTER, where there is one, names this program: its script, or Python."""
    names = os.environ.get("GEOPM_PROGRAM_FILTER", "").replace(",", " ").split()
    own = (os.path.basename(sys.argv[0] or ""), os.path.basename(sys.executable or ""), "python")
    return not names or any(name in own for name in names)


def _folder():
    """
    Folder of the pages, or None. A program that GEOPM_PROGRAM_FILTER names looks for a controller that its user started elsewhere:
    its folder is nobody else's to write in.
    """
    folder = os.environ.get("TRISCOPE_REGION_DIR")
    if folder:
        return folder if _is_wanted() else None
    if not os.environ.get("GEOPM_PROGRAM_FILTER") or not _is_wanted():
        return None
    folder = "/dev/shm/triscope-regions-%d" % os.geteuid()
    try:
        status = os.lstat(folder)
    except OSError:
        return None
    is_own = stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid() and not status.st_mode & 0o077
    return folder if is_own else None


def _atomics():
    """
    Addition, comparison with exchange, "or" and "and" of a word in memory, of libatomic: what Python and C change in one process is
    whole then. None where there is no libatomic. Calls keep the interpreter's lock: they take less time than giving it away.
    """
    try:
        import ctypes

        library = ctypes.PyDLL("libatomic.so.1")
        word, place, order = ctypes.c_uint32, ctypes.c_void_p, ctypes.c_int
        change = ctypes.PYFUNCTYPE(word, place, word, order)
        exchange = ctypes.PYFUNCTYPE(ctypes.c_bool, place, place, word, order, order)
        calls = [change(("__atomic_fetch_%s_4" % name, library)) for name in ("add", "or", "and")]
        return calls + [exchange(("__atomic_compare_exchange_4", library))]
    except (ImportError, OSError, AttributeError):
        return None


def _rank():
    for name in ("OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"):
        if os.environ.get(name, "").isdigit():
            return int(os.environ[name])
    return -1


class _Page:
    """The page of this process: made, or joined where another library of the process has made it."""

    def __init__(self, folder):
        self.lock = threading.Lock()
        self.cells = threading.Lock()
        self.atomics = _atomics()
        self.known = {}
        self.seen = 0
        path = os.path.join(folder, _page_name())
        try:
            self._map(path)
        except FileNotFoundError:
            self._make(path, folder)
        low, high = self.u32[_H["start_low"]], self.u32[_H["start_high"]]
        self.start = high << 32 | low
        self.threads = self.u32[_H["threads_room"]]

    def _map(self, path):
        with open(path, "r+b") as file:
            self.memory = mmap.mmap(file.fileno(), 0)
        self.bytes = memoryview(self.memory)
        self.u32 = self.bytes.cast("I")
        self.f64 = self.bytes.cast("d")
        if self.atomics:
            import ctypes

            self.address = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))

    def add(self, cell, value):
        """Adds to a word that several threads write, modulo 2^32; returns what it was."""
        if self.atomics:
            return self.atomics[0](self.address + 4 * cell, value, _ACQ_REL)
        with self.cells:
            before = self.u32[cell]
            self.u32[cell] = (before + value) & 0xFFFFFFFF
            return before

    def set_bits(self, cell, bits):
        """Sets bits of a word that several threads write."""
        if self.atomics:
            self.atomics[1](self.address + 4 * cell, bits, _ACQ_REL)
        else:
            with self.cells:
                self.u32[cell] |= bits

    def clear_bits(self, cell, bits):
        """Clears bits of a word that several threads write."""
        if self.atomics:
            self.atomics[2](self.address + 4 * cell, ~bits & 0xFFFFFFFF, _ACQ_REL)
        else:
            with self.cells:
                self.u32[cell] &= ~bits & 0xFFFFFFFF

    def swap(self, cell, was, value):
        """Puts `value` into a word if it holds `was`; returns whether it did."""
        if self.atomics:
            import ctypes

            expected = ctypes.c_uint32(was)
            return self.atomics[3](self.address + 4 * cell, ctypes.addressof(expected), value, _ACQ_REL, _ACQUIRE)
        with self.cells:
            if self.u32[cell] != was:
                return False
            self.u32[cell] = value
            return True

    def _make(self, path, folder):
        if not os.path.isdir(folder):
            os.mkdir(folder, 0o700)
        aside = "%s.%d.tmp" % (path, threading.get_native_id())
        os.close(os.open(aside, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        try:
            try:
                size, count, ring, threads, regions, names, nodes, rings = self._lay_out(aside, _THREADS)
            except (OSError, ValueError):
                size, count, ring, threads, regions, names, nodes, rings = self._lay_out(aside, _THREADS_SMALL)
            rooms = (size, count, _REGIONS, _NODES, _NAMES, ring, threads, regions, names, nodes, rings)
            for k, value in enumerate(rooms):
                self.u32[_H["bytes"] + k] = value
            self.u32[_H_WIDE], self.u32[_H_NARROW_NODES] = _WIDE, _NARROW_NODES
            self.u32[_H_NARROW_RING] = min(ring, _NARROW_RING)
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

    def _lay_out(self, aside, count):
        ring = _ring_room()
        threads = _HEADER
        regions = threads + count * _THREAD
        names = regions + _REGIONS * _REGION
        nodes = names + _NAMES
        rings = nodes + _items_before(count, _WIDE, _NODES, _NARROW_NODES) * _NODE
        size = rings + _items_before(count, _WIDE, ring, min(ring, _NARROW_RING)) * _EVENT
        os.truncate(aside, size)
        self._map(aside)
        return size, count, ring, threads, regions, names, nodes, rings

    def nodes(self, slot):
        """Word at which the nodes of a slot begin."""
        before = _items_before(slot, self.u32[_H_WIDE], self.u32[_H["nodes_room"]], self.u32[_H_NARROW_NODES])
        return (self.u32[_H["nodes"]] + before * _NODE) >> 2

    def _put(self, index, name, hint, offset):
        begin = self.u32[_H["names"]] + offset
        self.bytes[begin : begin + len(name)] = name
        at = self.region(index)
        self.u32[at + 1] = zlib.crc32(name)
        self.u32[at + 2] = hint
        self.u32[at + 3] = offset
        self.u32[at + 4] = len(name)
        self.set_bits(at, 1)

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
            self._catch_up(self.u32[_H["regions_used"]])
            if name in self.known:
                return self.known[name]
            full = self.u32[_H["regions_used"]] >= _REGIONS or self.u32[_H["names_used"]] + len(name) > _NAMES
            # C's threads may race past this: the numbers given out tell who came too late.
            offset = _NAMES if full else self.add(_H["names_used"], len(name))
            index = _REGIONS if offset + len(name) > _NAMES or full else self.add(_H["regions_used"], 1)
            if index >= _REGIONS:
                self.add(_H["regions_refused"], 1)
                return 0
            self._put(index, name, hint, offset)
            self._catch_up(index + 1)
            # Of a name that another language gave in the same moment, the first slot counts.
            return self.known.get(name, index)

    def _catch_up(self, end):
        """Takes up the names in the slots before `end`, which others may be writing."""
        while self.seen < min(end, _REGIONS):
            state, until = self.region(self.seen), time.monotonic() + _PATIENCE
            while not self.u32[state] and time.monotonic() < until:
                time.sleep(0.0001)
            if self.u32[state]:
                self.known.setdefault(self.name_of(self.seen), self.seen)
            self.seen += 1

    def now(self):
        """Nanoseconds since the page's time zero, of CLOCK_MONOTONIC."""
        return float(time.monotonic_ns() - self.start)

    def stop(self, flag=_STOPPED):
        """Where MPI began the application's time, MPI_Finalize ends it."""
        if not self.u32[_H["flags"]] & (_STOPPED | _MPI):
            self.f64[_H_STOPPED] = self.now()
            self.set_bits(_H["flags"], flag)

    def stay(self):
        """It does not become another program after all."""
        self.clear_bits(_H["flags"], _LEAVING)

    def add_time(self, at, sign, now):
        """Adds to the 64-bit number in the words from `at` on."""
        value = ((self.u32[at + 1] << 32 | self.u32[at]) + sign * int(now)) & 0xFFFFFFFFFFFFFFFF
        self.u32[at], self.u32[at + 1] = value & 0xFFFFFFFF, value >> 32

    def go_inside(self, index, node, words, now):
        """The first thread that enters begins the time in which any is inside; the last one to leave ends it."""
        counts = self.region(index) + _R_INSIDE
        for cell, united in ((counts, node + _N_UNITED), (_H_INSIDE, words + _T_UNITED)):
            if self.add(cell, 1) == 0:
                self.add_time(united, -1, now)

    def go_outside(self, index, node, words, now):
        counts = self.region(index) + _R_INSIDE
        if self.add(counts, 0xFFFFFFFF) == 1:
            self.add_time(node + _N_UNITED, 1, now)
        if self.add(_H_INSIDE, 0xFFFFFFFF) == 1:
            self.add_time(words + _T_UNITED, 1, now)
            self.add(_H_ROUND, 1)

    def end_visits(self, at, nodes):
        """A thread that is in regions is gone: its visits last until now, and are not completed."""
        now, n = self.now(), self.u32[at + _NODE_AT]
        while n:
            node = nodes + n * (_NODE >> 2)
            self.f64[(node >> 1) + _N_SECONDS] += now - self.f64[(node >> 1) + _N_ENTERED]
            self.u32[node + _N_INSIDE] = 0
            n = self.u32[node + _N_PARENT]
            if not n:
                self.go_outside(self.u32[node], node, at, now)

    def claim(self):
        """Slot of the calling thread, or None."""
        tid = threading.get_native_id()
        with self.lock:
            used = min(self.u32[_H["threads_used"]], self.threads)
            word = [(self.u32[_H["threads"]] + k * _THREAD) >> 2 for k in range(used)]
            for k in range(used):
                if self.u32[word[k] + _STATE] == _LIVE and self.u32[word[k] + _TID] == tid:
                    return k
            slot = self._take(word)
            if slot is None:
                self.add(_H["threads_refused"], 1)
                return None
            at = (self.u32[_H["threads"]] + slot * _THREAD) >> 2
        cpus = os.sched_getaffinity(0)
        self.u32[at + _TID] = tid
        self.u32[at + _CPU] = next(iter(cpus)) if len(cpus) == 1 else 0xFFFFFFFF
        self.u32[at + _USED] = max(1, self.u32[at + _USED])
        nodes = self.nodes(slot)
        self.u32[at + _SEQ] |= 1
        self.end_visits(at, nodes)
        for cell in (_DEPTH_AT, _HASH, _HINT, _NODE_AT, _TOTAL, _DONE, _UNPLACED):
            self.u32[at + cell] = 0
        self.u32[at + _SEQ] = (self.u32[at + _SEQ] + 1) & 0xFFFFFFFF
        self.swap(at + _STATE, _FREE, _LIVE)
        return slot

    def _take(self, word):
        """
        A slot, which is nobody else's now, or None: of threads that recorded their end, then a new one, then of those that ended
        without recording it.
        """
        for k, at in enumerate(word):
            if self._is_left(at) and self.swap(at + _STATE, _ENDED, _FREE):
                return k
        if len(word) < self.threads:
            k = self.add(_H["threads_used"], 1)
            if k < self.threads:
                return k
        # Each look at all threads costs milliseconds: where none was gone, the next one is a second later.
        second = 1 + int(self.now() / 1e9)
        if self.u32[_H_SEARCHED] == second:
            return None
        for k, at in enumerate(word):
            owner = self.u32[at + _TID]
            if not self._is_gone(at) or not self.swap(at + _STATE, _LIVE, _FREE):
                continue
            if self.u32[at + _TID] == owner:
                return k
            # Its owner ended and another thread took it over since: that one keeps it.
            self.swap(at + _STATE, _FREE, _LIVE)
        self.u32[_H_SEARCHED] = second
        return None

    def _is_left(self, at):
        """Whether the thread of a slot said that it ended, and its work does not count any more."""
        works = self.u32[at + _DONE] and self.u32[at + _ROUND] == self.u32[_H_ROUND]
        return self.u32[at + _STATE] == _ENDED and not works

    def _is_gone(self, at):
        """Whether the thread of a living slot is not there any more."""
        return self.u32[at + _STATE] == _LIVE and not os.path.exists("/proc/self/task/%d" % self.u32[at + _TID])

    def end_thread(self, at, nodes):
        """The thread of a slot ends. Not where a child of fork() forgets its parent's threads."""
        if self.u32[_H["pid"]] != os.getpid():
            return
        self.u32[at + _SEQ] = (self.u32[at + _SEQ] + 1) & 0xFFFFFFFF
        self.end_visits(at, nodes)
        for cell in (_DEPTH_AT, _HASH, _HINT, _NODE_AT, _UNPLACED):
            self.u32[at + cell] = 0
        self.u32[at + _SEQ] = (self.u32[at + _SEQ] + 1) & 0xFFFFFFFF
        self.swap(at + _STATE, _LIVE, _ENDED)


class _Pen:
    """What one thread writes with."""

    def __init__(self, page, slot):
        self.page, self.u32, self.f64 = page, page.u32, page.f64
        self.words = (page.u32[_H["threads"]] + slot * _THREAD) >> 2
        wide, u32 = page.u32[_H_WIDE], page.u32
        is_wide = wide == 0 or slot < wide
        self.nodes = page.nodes(slot)
        self.nodes_room = u32[_H["nodes_room"] if is_wide else _H_NARROW_NODES]
        self.room = u32[_H["ring_room"] if is_wide else _H_NARROW_RING]
        before = _items_before(slot, wide, u32[_H["ring_room"]], u32[_H_NARROW_RING])
        self.ring = (u32[_H["rings"]] + before * _EVENT) >> 2
        self.places = {}

    def __del__(self):
        """Threads drop theirs when they end. At the end of all there may be nothing left to say it with."""
        try:
            if not sys.is_finalizing():
                self.page.end_thread(self.words, self.nodes)
        except (TypeError, AttributeError):
            pass

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
        if not n and u32[words + _USED] < self.nodes_room - (index != 0):  # The last one is kept for (overflow).
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

    def ignores(self):
        """Whether it is in a region with the hint IGNORE."""
        n = self.u32[self.words + _NODE_AT]
        while n:
            if self.u32[self.page.region(self.u32[self._node(n)]) + 2] == _IGNORE:
                return True
            n = self.u32[self._node(n) + _N_PARENT]
        return False

    def work(self, units):
        self.u32[self.words + _TOTAL], self.u32[self.words + _DONE] = units, 0
        self.u32[self.words + _ROUND] = self.u32[_H_ROUND]

    def work_done(self):
        if self.u32[self.words + _ROUND] != self.u32[_H_ROUND]:
            self.work(0)
        self.u32[self.words + _DONE] += 1

    def event(self, code, value, depth, now):
        if self.room:
            head = self.u32[self.words + _HEAD]
            at = self.ring + (head & (self.room - 1)) * (_EVENT >> 2)
            self.f64[at >> 1] = now
            self.u32[at + 2], self.u32[at + 3], self.u32[at + 4], self.u32[at + 5] = code, value, depth, self.u32[self.words + _TID]
            self.u32[self.words + _HEAD] = (head + 1) & 0xFFFFFFFF

    def enter(self, index):
        now = self.page.now()
        u32, words = self.u32, self.words
        depth, parent = u32[words + _DEPTH_AT], u32[words + _NODE_AT]
        placed = depth < _DEPTH and not u32[words + _UNPLACED]
        n = self._node_of(index, parent) if placed else 0
        if not n:
            u32[words + _UNPLACED] += 1
            self.page.add(_H["unplaced"], 1)
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
            u32[words + _TOTAL] = u32[words + _DONE] = 0
            self.page.go_inside(index, node, words, now)
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
            u32[words + _HASH] = u32[words + _HINT] = 0
            self.page.go_outside(u32[node], node, words, now)
        self._seq()
        self.event(_EXIT, u32[self.page.region(u32[node]) + 1], depth, now)

    def _misordered(self, index, now):
        global _warned
        u32 = self.u32
        self.page.add(_H["misordered"], 1)
        found = u32[self.words + _NODE_AT]
        while found and u32[self._node(found)] != index:
            found = u32[self._node(found) + _N_PARENT]
        if not _warned:
            _warned = True
            name = self.page.name_of(index).decode("utf-8", "replace")
            what = "while inside others, which are left too" if found else "without having been entered; ignored"
            print("triscope: region %r was left %s; later cases are only counted" % (name, what), file=sys.stderr)
        if found:
            stop = u32[self._node(found) + _N_PARENT]
            while u32[self.words + _NODE_AT] != stop:
                self._leave(now)


_warned = False
_page = None
_asked = False
_asking = threading.Lock()
_local = threading.local()
_regions = {}


def _pen():
    if _page is None:
        if not _asked:
            _attach()
        if _page is None:
            return None
    if _page.u32[_H["flags"]] & _STOPPED:  # What is marked now is no part of the application's time.
        return None
    pen = getattr(_local, "pen", None)
    if pen is None or (pen is not False and pen.page is not _page):
        slot = _page.claim()
        pen = _local.pen = False if slot is None else _Pen(_page, slot)
    return pen or None


class Region:
    """A part of the program that is measured on its own, as region() returns it: a context manager and a decorator."""

    def __init__(self, name, hint):
        """Use region(): it checks the hint, and returns one object for each name."""
        self.name, self.hint = name, hint
        self._page, self._index = None, 0

    def _place(self, pen):
        if self._page is not pen.page:  # Asked for the first time, or forked.
            name = self.name if isinstance(self.name, bytes) else self.name.encode("utf-8", "replace")
            self._page, self._index = pen.page, pen.page.find(name, HINTS.index(self.hint))
        return self._index

    def enter(self):
        """The calling thread enters the region; regions nest. Without a controller nothing happens. Never raises."""
        pen = _pen()
        if pen:
            pen.enter(self._place(pen))

    def exit(self):
        """
        The calling thread leaves the region. If it is not the innermost one, the regions inside it are left, too; if it was
        never entered, nothing is left. Either is counted, and the first prints a warning on stderr. Never raises.
        """
        pen = _pen()
        if pen:
            pen.exit(self._place(pen))

    def __enter__(self):
        """Enters the region, and returns it."""
        self.enter()
        return self

    def __exit__(self, *error):
        """Leaves the region, whatever was raised in it, and lets that pass."""
        self.exit()

    def __call__(self, function):
        """Returns `function` so that each call of it runs in the region."""
        @functools.wraps(function)
        def inside(*args, **named):
            with self:
                return function(*args, **named)

        return inside


def region(name, hint="unknown"):
    """
    Returns the region of that name (str or bytes), to be used with `with`, as a decorator, or by enter() and exit().
    `hint` is one of HINTS; of several calls with one name the first determines it.
    Raises ValueError if `hint` is none of HINTS.
    """
    if hint not in HINTS:
        raise ValueError("hint %r: must be one of %s" % (hint, ", ".join(HINTS)))
    if len(_regions) < 2 * _REGIONS:
        return _regions.setdefault(name, Region(name, hint))
    return _regions.get(name) or Region(name, hint)


def epoch():
    """Counts an epoch of the process: a pass through the outermost loop begins. Ignored in regions with hint "ignore"."""
    pen = _pen()
    if pen and not pen.ignores():
        now = _page.now()
        before = _page.add(_H["epochs"], 1)
        if before == 0:
            _page.f64[_H_FIRST] = now
        _page.f64[_H_LAST] = now
        pen.event(_EPOCH, before + 1, 0, now)


def tprof_init(units):
    """Announces that the process's threads together will do `units` (int, 2 or more) units of work in the region they are in."""
    pen = _pen()
    if pen and units > 1:
        pen.work(units)


def tprof_post():
    """The calling thread has done one of the announced units of work."""
    pen = _pen()
    if pen:
        pen.work_done()


def shutdown():
    """
    The application's time ends: what is marked later is ignored. Without a call it ends when the process exits; after
    MPI_Init only MPI_Finalize ends it.
    """
    if _page is not None:
        _page.stop()


def _attach():
    """Makes the page: at the first mark, so that a process that only imports this has none."""
    global _page, _asked
    with _asking:
        if _asked:
            return
        folder = _folder()
        if folder:
            try:
                _page = _Page(folder)
            except (OSError, ValueError) as error:
                print("triscope: regions are not kept: %s" % error, file=sys.stderr)
        _asked = True


def _forked():
    global _page, _asked, _asking
    _page, _asked, _asking = None, False, threading.Lock()


def _says(name, flag):
    """os._exit, as children of multiprocessing end, and exec leave no other moment to say that the marking ends."""
    call = getattr(os, name)

    @functools.wraps(call)
    def ending(*args, **named):
        page = _page
        if page is not None and page.u32[_H["pid"]] == os.getpid():
            page.stop(flag)
        try:
            return call(*args, **named)
        finally:  # It could not.
            if page is not None:
                page.stay()

    setattr(os, name, ending)


_says("_exit", _STOPPED)
_says("execv", _LEAVING)
_says("execve", _LEAVING)
atexit.register(shutdown)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
