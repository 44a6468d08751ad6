#!/bin/sh
# Slurm prolog of a node (slurm.conf: Prolog=/etc/slurm/prolog.d/triscope.sh), run as root before a job starts here.
# `--only`: a job whose epilog was missed ends here. Leave it out where jobs share nodes: each is begun and ended by itself then. A sample is never a reason to drain a node: hence the
# time limit, and the last line.
export PATH="${TRISCOPE_PATH:-/usr/local/bin}:/usr/bin:/bin"
timeout 40 triscope node begin --only "$SLURM_JOB_ID" 2>&1 | logger -t triscope
exit 0
