#!/bin/sh
# Slurm epilog of a node (slurm.conf: Epilog=/etc/slurm/epilog.d/triscope.sh), run as root after a job has ended here.
export PATH="${TRISCOPE_PATH:-/usr/local/bin}:/usr/bin:/bin"
timeout 40 triscope node end "$SLURM_JOB_ID" 2>&1 | logger -t triscope
exit 0
