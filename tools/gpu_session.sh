#!/usr/bin/env bash
# All that this project wants to know from a GPU, most wanted first: some 15 minutes on an H100 with 16 cores. What an H100
# took on 2026-11-26 is in docs/gpu-todo.md.
#
#   tools/gpu_session.sh [OUT]          default OUT: reports/gpu-session
#   DRY_RUN=1 tools/gpu_session.sh      print the commands
#   WHEELS=DIR                          a folder of wheels and source archives, where no index can be reached:
#                                       pycuda-*.tar.gz, setuptools, numpy and what else pyproject.toml names
#   PYTHON=python3.12                   the interpreter, with torch, cupy, jax or triton where those are to be measured
#   STAGES='record-.* bits'             only stages whose names match one of these
#
# Every stage has a time limit, writes OUT/STAGE.log, and the next one goes on whatever it did. OUT/summary.tsv says how
# each ended. To copy back: OUT, and the new folder in data/runs. Run in the root of a checkout.
set -u
OUT=${1:-reports/gpu-session}
case $OUT in /*) ;; *) OUT=$PWD/$OUT ;; esac
PYTHON=${PYTHON:-python3}
DRY_RUN=${DRY_RUN:-}
if [ -n "${WHEELS:-}" ]; then PIP_FROM="--no-index --find-links $(realpath "$WHEELS")"; else PIP_FROM=""; fi
FAILED=0

# stage NAME SECONDS COMMAND: the command is a line of shell
stage() {
    local name=$1 seconds=$2 command=$3 start rc
    [[ -z ${STAGES:-} || $name =~ ^(${STAGES// /|})$ ]] || return
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
# PyCUDA reads its configuration from HOME: the toolkit that nvcc belongs to; no curand, which nothing here needs. The
# driver's folder often has libcuda.so.1 alone. All files are compiled at once: 20 s instead of 3 minutes
stage pycuda 420 "python -c 'import pycuda.driver' || { mkdir -p $OUT/pycuda-settings && cd $OUT/pycuda-settings && \
ln -sf \"\$(ldconfig -p | sed -n 's/.*libcuda.so.1 .*=> //p' | head -1)\" libcuda.so && \
printf \"CUDA_ENABLE_CURAND = False\nCUDA_ROOT = '%s'\nCUDADRV_LIB_DIR = ['%s']\n\" \
\"\$(nvcc -dryrun -c -x cu /dev/null 2>&1 | sed -n 's/^#. TOP=//p')\" \$PWD >.aksetup-defaults.py && \
HOME=\$PWD CC=$PWD/tools/cxx_at_once CXX=$PWD/tools/cxx_at_once pip install $PIP_FROM --no-build-isolation 'pycuda>=2025.1'; } && \
cd / && python -c 'import pycuda.driver'"
stage compile 300 "gelu-verify list"

# ---- is it right? ----
stage tests 300 "python -P -m pytest -p no:cacheprovider tests/gpu/test_cuda_device.py -m gpu -n 4 -k 'not every_answer'"
stage verify-time 240 "python tools/time_on_device.py gelu gelu_grad gelu_tanh gelu_tanh_grad gelu_sigmoid gelu_sigmoid_grad silu silu_grad"
stage stochastic 120 "gelu-verify stochastic cuda.gelu --quick"
stage params 60 "gelu-verify run cuda --function 'gelu[mu=0.5,sigma=1/3]' --no-throughput --out $OUT/params"

# ---- what it measures: a run for each family, so that one that takes too long costs itself alone ----
for family in cuda torch_cuda jax_cuda triton cupy; do
    stage "record-$family" 180 "gelu-verify run $family --device cuda --budget 0 --record data/runs --out $OUT/record-$family"
done
stage gate 60 "gelu-verify gate --own --require cuda"

# ---- what approximate instructions return ----
stage approximations 180 "nvcc -O2 -std=c++17 -arch=native -Isrc -Xcompiler=-ffp-contract=off,-pthread tools/approximations.cu \
-o $OUT/approximations && $OUT/approximations >$OUT/approximations.json"

stage outputs 120 "python tools/outputs_on_device.py $OUT/outputs.npz"

# ---- the bits of all 2^16 and 2^32 inputs ----
stage bits-16 120 "python -P -m pytest -p no:cacheprovider tests/gpu/test_cuda_device.py -m gpu -n 4 -k 'every_answer and float16'"
stage bits-32 400 "python -P -m pytest -p no:cacheprovider tests/gpu/test_cuda_device.py -m gpu -n 4 -k 'every_answer and float32'"

# ---- what only a sanitizer sees: kernels, then the judge, on few inputs. That a module has no gv_prepare is asked of the
# driver, which a sanitizer would count as an error ----
for tool in memcheck racecheck initcheck synccheck; do
    sanitizer="compute-sanitizer --tool $tool --report-api-errors no --error-exitcode 9 python"
    stage "$tool" 150 "$sanitizer -P -m pytest -p no:cacheprovider tests/gpu/test_cuda_device.py -m gpu -k 'length or ordinary'"
    stage "$tool-judge" 150 "$sanitizer tools/time_on_device.py --buckets 16 --kernel cuda.gelu_cr gelu"
done

# ---- failures are results: ends with 1, says `illegal address`, and cuda.gelu_cr runs ----
stage failure 120 "printf 'extern \"C\" __global__ void bad(const float *x, float *y, size_t n) { \
size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; if (i < n) *(float *)8 = x[i]; }' \
>$OUT/bad.cu && gelu-verify run $OUT/bad.cu:bad cuda.gelu_cr --function gelu --dtype float32 --out $OUT/failure"

# ---- LLVM's published figures for CUDA, distances in floats: erff 1, tanhf 2, expf 2 (max_rank) ----
for name in erf tanh exp; do
    stage "llvm-$name" 240 "gelu-verify run torch_cuda.$name --dtype float32 --plan exhaustive --no-throughput \
--out $OUT/llvm-$name --json"
done

[ -n "$DRY_RUN" ] || echo "$FAILED stages failed; copy back: $OUT data/runs"
