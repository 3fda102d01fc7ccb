"""Workers that Slurm starts, as many as there is work for: `python slurm.py my_gelu.py:gelu --plan exhaustive ...`.

Needs `pip install 'gelu-verify[distributed]' dask-jobqueue`. Started on a login node (or in a job of its own, of which
no other is needed), it stays there until the run is stored. Whatever ends it, the same command continues.
"""

from __future__ import annotations

import subprocess
import sys

from dask_jobqueue import SLURMCluster

MOST = 100  # jobs, of 32 workers each


def cluster(**more: object) -> SLURMCluster:
    """Jobs of one node each; say here what your site needs."""
    return SLURMCluster(
        queue="cpu",
        cores=32,
        processes=32,  # workers of a job: one core for each
        memory="64GB",
        walltime="04:00:00",
        worker_extra_args=["--lifetime", "230m", "--lifetime-stagger", "5m"],  # ends before Slurm ends it
        local_directory="$TMPDIR",
        job_script_prologue=["export MALLOC_TOP_PAD_=67108864 MALLOC_MMAP_THRESHOLD_=67108864"],  # docs/scale.md
        job_extra_directives=["--constraint=avx512"],  # one kind of processor: a library may choose its code by it
        **more,
    )


def main() -> int:
    with cluster() as workers:
        workers.adapt(minimum_jobs=1, maximum_jobs=MOST)
        command = ["gelu-verify", "run", *sys.argv[1:], "--executor", workers.scheduler_address]
        return subprocess.run([*command, "--item-seconds", "60"]).returncode


if __name__ == "__main__":
    sys.exit(main())
