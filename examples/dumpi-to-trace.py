#!/usr/bin/env python3
"""Makes a trace for `triscope sim run dragonfly --trace=FILE` from what dumpi2ascii of SST's DUMPI prints.

    for f in dumpi-*.bin; do dumpi2ascii -X -S "$f" > "${f%.bin}.txt"; done
    python3 dumpi-to-trace.py --unit=2.56e-9 dumpi-*.txt > app.trace

One file for each rank, in order of ranks. --unit is the seconds of a unit of virtual time: flit bytes by link bandwidth. Time between
calls becomes `compute`. A non-blocking receive counts where its request is waited for; a wait for a send is nothing, since sends never wait.
Sizes of datatypes come from -X, else from the names of MPI's own. All communicators are taken for MPI_COMM_WORLD: a call
with another one ends the script, as do calls of other collective operations.
"""
import argparse
import re
import sys

CALL = re.compile(r"^(MPI_\w+) (entering|returning) at walltime ([\d.]+),")
FIELD = re.compile(r"^\S+(?: \S+)?? (\w+)(?:\[\d+\])?=(.*)$")
SIZE = re.compile(r"^Datatype (\d+) \((.*?)\) has size (\d+)")
SIZES = {
    "CHAR": 1, "SIGNED_CHAR": 1, "UNSIGNED_CHAR": 1, "BYTE": 1, "PACKED": 1, "SHORT": 2, "UNSIGNED_SHORT": 2,
    "INT": 4, "UNSIGNED": 4, "FLOAT": 4, "LONG": 8, "UNSIGNED_LONG": 8, "DOUBLE": 8, "LONG_LONG": 8, "LONG_LONG_INT": 8,
    "INTEGER": 4, "REAL": 4, "DOUBLE_PRECISION": 8, "COMPLEX": 8, "DOUBLE_COMPLEX": 16,
}
COLLECTIVES = {
    "MPI_Barrier": "barrier", "MPI_Allreduce": "allreduce", "MPI_Alltoall": "alltoall", "MPI_Bcast": "bcast", "MPI_Reduce": "reduce",
}
OTHERS = re.compile(r"MPI_(I?All|I?Gather|I?Scatter|I?Scan|Exscan|Reduce_|I?Bcast|I?Barrier|Sendrecv|Put|Get$|Probe|Start|Test|Waitany|Waitsome)")


def numbers(text):
    return [int(n) for n in re.findall(r"-?\d+", re.sub(r"\(.*?\)", "", text))]


def convert(rank, path, unit, out):
    with open(path) as file:
        lines = file.read().splitlines()
    sizes = {m[1]: int(m[3]) for m in map(SIZE.match, lines) if m}

    def refuse(line, what):
        sys.exit(f"{path}:{line}: {what}")

    def size_of(line, datatype):
        number, name = re.match(r"(\d+)(?: \((?:MPI_)?(.*)\))?", datatype).groups()
        size = sizes.get(number, SIZES.get(name))
        return size if size is not None else refuse(line, f"size of datatype {datatype} unknown: use dumpi2ascii -X")

    pending = {}  # requests of receives: (source, tag)
    last = None
    fields = {}
    for at, text in enumerate(lines, 1):
        call = CALL.match(text)
        if call is None:
            field = FIELD.match(text)
            if field:
                fields.setdefault(field[1], field[2])
            continue
        name, way, time = call[1], call[2], float(call[3])
        if way == "entering":
            if last is not None and time > last:
                out.append(f"{rank} compute {(time - last) / unit:.6g}")
            fields = {}
            continue
        last = time
        if "comm" in fields and "WORLD" not in fields["comm"]:
            if name not in ("MPI_Comm_rank", "MPI_Comm_size"):
                refuse(at, f"{name} of another communicator than MPI_COMM_WORLD")
        amount = lambda: int(fields["count"]) * size_of(at, fields["datatype"])
        if name in ("MPI_Send", "MPI_Isend", "MPI_Ssend", "MPI_Issend", "MPI_Rsend", "MPI_Bsend"):
            out.append(f"{rank} send {numbers(fields['dest'])[0]} {amount()} {numbers(fields['tag'])[0]}")
        elif name in ("MPI_Recv", "MPI_Irecv"):
            if "ANY" in fields["source"] or "ANY" in fields["tag"]:
                refuse(at, f"{name} of any source or tag")
            receive = f"{rank} recv {numbers(fields['source'])[0]} {numbers(fields['tag'])[0]}"
            if name == "MPI_Recv":
                out.append(receive)
            else:
                pending[numbers(fields["request"])[0]] = receive
        elif name in ("MPI_Wait", "MPI_Waitall"):
            for request in numbers(fields.get("request", fields.get("requests", ""))):
                if request in pending:
                    out.append(pending.pop(request))
        elif name in COLLECTIVES:
            root = [str(numbers(fields["root"])[0])] if "root" in fields else []
            if name == "MPI_Alltoall":
                size = [str(int(fields["sendcount"]) * size_of(at, fields["sendtype"]))]
            else:
                size = [] if name == "MPI_Barrier" else [str(amount())]
            out.append(" ".join([str(rank), COLLECTIVES[name], *root, *size]))
        elif OTHERS.match(name):
            refuse(at, f"{name} cannot be written as a trace")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--unit", type=float, required=True, metavar="SECONDS", help="seconds of a unit of virtual time")
    parser.add_argument("files", nargs="+", help="what dumpi2ascii printed, in order of ranks")
    given = parser.parse_args()
    out = ["triscope-trace 1"]
    for rank, path in enumerate(given.files):
        convert(rank, path, given.unit, out)
    print("\n".join(out))


main()
