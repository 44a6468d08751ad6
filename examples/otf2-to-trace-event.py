#!/usr/bin/python3
"""
Trace events in JSON, which triscope reads, from an OTF2 archive of Score-P, TAU or others:

    apt-get install python3-otf2
    /usr/bin/python3 examples/otf2-to-trace-event.py scorep/traces.otf2 > run.json
    triscope query run.json "SELECT name, count(*), sum(duration) FROM trace_slice GROUP BY name"

Regions become slices, metrics counters; a location is a thread of its location group (an MPI rank). Time is in microseconds
from the archive's start.
"""
import json
import sys

import otf2
from otf2.events import Enter, Leave, Metric


def convert(path, out):
    with otf2.reader.open(path) as trace:
        ticks = trace.definitions.clock_properties
        start = ticks.global_offset
        groups, open_regions, first = {}, {}, True

        def put(event):
            nonlocal first
            out.write("[\n" if first else ",\n")
            first = False
            json.dump(event, out)

        def place(location):
            group = location.group
            if group not in groups:
                groups[group] = len(groups)
                put({"ph": "M", "name": "process_name", "pid": groups[group], "args": {"name": group.name}})
            if location not in open_regions:
                open_regions[location] = []
                put({"ph": "M", "name": "thread_name", "pid": groups[group], "tid": location._ref, "args": {"name": location.name}})
            return {"pid": groups[group], "tid": location._ref}

        for location, event in trace.events:
            time = (event.time - start) * 1e6 / ticks.timer_resolution
            where = place(location)
            if isinstance(event, Enter):
                open_regions[location].append((event.region.name, time))
            elif isinstance(event, Leave) and open_regions[location]:
                name, began = open_regions[location].pop()
                put({"ph": "X", "name": name, "cat": "region", "ts": began, "dur": time - began, **where})
            elif isinstance(event, Metric):
                for member, value in zip(event.metric.members, event.values):
                    put({"ph": "C", "name": member.name, "ts": time, "args": {"value": value}, **where})
        out.write("[]\n" if first else "\n]\n")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: otf2-to-trace-event.py ARCHIVE.otf2 > FILE.json")
    convert(sys.argv[1], sys.stdout)
