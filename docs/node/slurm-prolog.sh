#!/bin/sh
# Slurm prolog of a node (slurm.conf: Prolog=/etc/slurm/prolog.d/triscope.sh), run as root before a job starts here.
# With several jobs on a node each is begun and ended by itself. A sample is never a reason to drain a node: hence the
# time limit, and the last line.
export PATH="${TRISCOPE_PATH:-/usr/local/bin}:/usr/bin:/bin"
timeout 40 triscope node begin "$SLURM_JOB_ID" 2>&1 | logger -t triscope
exit 0
