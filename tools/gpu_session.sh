#!/usr/bin/env bash
# All that this project wants to know from a GPU, in one go of about half an hour on an H100; most wanted first.
#
#   tools/gpu_session.sh [OUT]          default OUT: reports/gpu-session
#   DRY_RUN=1 tools/gpu_session.sh      print the commands
#   WHEELS=DIR                          a folder of wheels and source archives, where no index can be reached:
#                                       pycuda-*.tar.gz, setuptools, numpy and what else pyproject.toml names
#   PYTHON=python3.12                   the interpreter, with torch, cupy, jax or triton where those are to be measured
#
# Every stage has a time limit, writes OUT/STAGE.log, and the next one goes on whatever it did. OUT/summary.tsv says how
# each ended. To copy back: OUT, and the new folder in data/runs. Run in the root of a checkout.
set -u
OUT=${1:-reports/gpu-session}
case $OUT in /*) ;; *) OUT=$PWD/$OUT ;; esac
PYTHON=${PYTHON:-python3}
DRY_RUN=${DRY_RUN:-}
if [ -n "${WHEELS:-}" ]; then PIP_FROM="--no-index --find-links $WHEELS"; else PIP_FROM=""; fi
FAILED=0

# stage NAME SECONDS COMMAND: the command is a line of shell
stage() {
    local name=$1 seconds=$2 command=$3 start rc
    if [ -n "$DRY_RUN" ]; then
        printf '%s\t%s\t%s\n' "$name" "$seconds" "$command"
        return
    fi
    start=$(date +%s)
    printf '%s: %s\n' "$name" "$command"
    timeout --kill-after=20 "$seconds" bash -c "$command" >"$OUT/$name.log" 2>&1 </dev/null
    rc=$?
    [ $rc -eq 0 ] || FAILED=$((FAILED + 1))
    printf '%s\t%s\t%s s\t%s\n' "$name" "$rc" "$(($(date +%s) - start))" "$command" >>"$OUT/summary.tsv"
    tail -n 3 "$OUT/$name.log"
}

if [ -z "$DRY_RUN" ]; then
    mkdir -p "$OUT"
    : >"$OUT/summary.tsv"
    # NVIDIA's folder holds nvcc and compute-sanitizer, and is often not in PATH
    export PATH="$OUT/venv/bin:$PATH:/usr/local/cuda/bin" GELU_VERIFY_REQUIRE=gpu
fi

# ---- what is here ----
stage device 60 "nvidia-smi && nvidia-smi -q -d CLOCK,POWER,ECC && nvcc --version"
stage install 420 "$PYTHON -m venv --system-site-packages $OUT/venv && pip install $PIP_FROM setuptools wheel numpy && \
pip install $PIP_FROM .[\$(command -v nvcc >/dev/null && echo test || echo test,nvcc)]"
# PyCUDA reads its configuration from HOME: the toolkit that nvcc belongs to; no curand, which nothing here needs
stage pycuda 420 "python -c 'import pycuda.driver' || { mkdir -p $OUT/pycuda-settings && : >$OUT/pycuda-settings/empty.cu && printf \
\"CUDA_ENABLE_CURAND = False\nCUDA_ROOT = '%s'\nCUDADRV_LIB_DIR = ['%s', CUDA_ROOT + '/lib64/stubs']\n\" \
\"\$(nvcc -dryrun -c $OUT/pycuda-settings/empty.cu 2>&1 | sed -n 's/^#. TOP=//p')\" \
\"\$(dirname \"\$(ldconfig -p | sed -n 's/.*libcuda.so.1 .*=> //p' | head -1)\")\" >$OUT/pycuda-settings/.aksetup-defaults.py && \
HOME=$OUT/pycuda-settings pip install $PIP_FROM --no-build-isolation 'pycuda>=2025.1'; } && python -c 'import pycuda.driver'"
stage compile 300 "gelu-verify list"

# ---- is it right? ----
stage tests 300 "python -P -m pytest -p no:cacheprovider tests/gpu/test_cuda_device.py -m gpu -k 'not every_answer'"
stage bits-16 120 "python -P -m pytest -p no:cacheprovider tests/gpu/test_cuda_device.py -m gpu -k 'every_answer and float16'"
stage bits-32 240 "python -P -m pytest -p no:cacheprovider tests/gpu/test_cuda_device.py -m gpu -k 'every_answer and float32-gelu]'"

stage stochastic 120 "gelu-verify stochastic cuda.gelu --quick"

# ---- how fast is it? ----
stage verify-time 240 "python tools/time_on_device.py gelu gelu_tanh silu"
stage throughput 180 "gelu-verify run cuda.gelu_cr --function gelu --plan quick --out $OUT/throughput"

# ---- what it measures ----
stage exhaustive 300 "gelu-verify run cuda --dtype float32 --plan exhaustive --no-throughput --out $OUT/exhaustive"
stage record 420 "gelu-verify run --device cuda --record data/runs --out $OUT/record"
stage gate 60 "gelu-verify gate --own --require cuda"

# ---- what only a sanitizer sees: kernels, then the judge, on few inputs ----
for tool in memcheck racecheck initcheck synccheck; do
    stage "$tool" 150 "compute-sanitizer --tool $tool --error-exitcode 9 python -P -m pytest -p no:cacheprovider \
tests/gpu/test_cuda_device.py -m gpu -k 'length or ordinary'"
    stage "$tool-judge" 150 "compute-sanitizer --tool $tool --error-exitcode 9 python tools/time_on_device.py \
--buckets 16 --kernel cuda.gelu_cr gelu"
done

# ---- failures are results: ends with 1, says `illegal address`, and cuda.gelu_cr runs ----
stage failure 120 "printf 'extern \"C\" __global__ void bad(const float *x, float *y, size_t n) { *(float *)0 = x[0]; }' \
>$OUT/bad.cu && gelu-verify run $OUT/bad.cu:bad cuda.gelu_cr --function gelu --dtype float32 --out $OUT/failure"

# ---- LLVM's published figures for CUDA, distances in floats: erff 1, tanhf 2, expf 2 (max_rank) ----
for name in erf tanh exp; do
    stage "llvm-$name" 240 "gelu-verify run torch_cuda.$name --dtype float32 --plan exhaustive --no-throughput \
--out $OUT/llvm-$name --json"
done

# ---- what takes longest: the bits of the other functions ----
stage bits-all 900 "python -P -m pytest -p no:cacheprovider tests/gpu/test_cuda_device.py -m gpu -k 'every_answer and float32'"

[ -n "$DRY_RUN" ] || echo "$FAILED stages failed; copy back: $OUT data/runs"
