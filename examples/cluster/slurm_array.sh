#!/bin/bash
# Parts of a run as an array of jobs, without Dask; of 4096 chunks (float32, exhaustive) 64 in each:
#     sbatch slurm_array.sh torch.gelu --function gelu --dtype float32 --plan exhaustive
#     gelu-verify merge parts/*
#SBATCH --array=0-63
#SBATCH --cpus-per-task=4
#SBATCH --mem=8G
#SBATCH --time=02:00:00
#SBATCH --requeue
set -eu
chunks=${CHUNKS:-64}
first=$((SLURM_ARRAY_TASK_ID * chunks))
mkdir -p parts
exec gelu-verify run "$@" --chunks "$first:$((first + chunks))" --out "parts/$SLURM_ARRAY_TASK_ID"
