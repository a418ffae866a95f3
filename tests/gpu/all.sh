#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Everything that needs a GPU, in one run, on a machine that has a Hopper GPU, nvcc and cuBLAS but
# need not have LLVM or this project's build tools.
#   all.sh DIR [RESULTS] [STEP...]
# DIR is what tests/gpu/pack.sh gathered, or its .tar.gz; RESULTS (default ./results) gets a log a step. Steps:
#   run        dslc run on the example, where dslc itself starts here
#   host       examples/gemm/host.c
#   embed      examples/embed
#   overhead   what dsl_launch costs the host
#   grid       the correctness grid against the reference interpreter and cuBLAS
#   both       the same grid on the GPU and on the simulator: the two outputs against each other
#   random     random kernels and schedules on the GPU and on the simulator: integers, equal in every bit
#   soak       random schedules and epilogues at real sizes, launched again and again, whole outputs bit for bit
#   functions  every function of elementwise.def on all bf16 numbers and 2^24 f32 numbers, within its stated error
#   constant   weights read while the launch ahead still runs, 10,000 launches a chain, bit for bit (constant.cu)
#   torch      DIR/works.txt beside torch, interleaved (against_torch.py); not among the default steps
#   repeat     DIR/works.txt a hundred times on the same numbers, beside another stream: the same bits (repeat.py); not among the default steps
#   layers     32 layers of few rows in a CUDA graph, beside torch (layers.py); not among the default steps
#   ways       operands that TMA cannot take where they lie (ways.sh); not among the default steps
#   epilogues  bias + GELU, SwiGLU, residual and scales beside torch (epilogues.sh); not among the default steps
#   times      dslc bench: the example's schedules beside cuBLASLt, at SIZES (default 4096 and 8192)
# and, only when asked for, with what tests/gpu/pack_tool.sh gathered:
#   python     the wheel: what must hold, and host time (python_speed.py)
#   ptxas12    cubins of ptxas 12.9
#   programs   the rows of tests/matrix, and other programs, compiled there (programs.sh)
# The exit code is the number of steps that failed; a step that cannot run here is a failure.
set -u
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH= cd -- "$here/../.." && pwd)
if [ -f "$1" ]; then
	dir=$(mktemp -d)
	tar -C "$dir" -xzf "$1" || exit 1
else
	dir=$(CDPATH= cd -- "$1" && pwd)
fi
results=${2:-results}
[ $# -gt 2 ] && shift 2 || set -- run host embed overhead grid both random functions soak constant times
mkdir -p "$results"
results=$(CDPATH= cd -- "$results" && pwd)
failures=0
parts=${PARTS:-$(nproc)}
[ "$parts" -le 12 ] || parts=12

{
	nvidia-smi --query-gpu=name,driver_version,clocks.max.sm,power.limit --format=csv
	nvcc --version | tail -n 2
	date -u
} >"$results/machine.txt" 2>&1
cat "$results/machine.txt"

run_example()
{
	for size in 512,512,512 4096,4096,4096 1,8,8 77,264,136 300,1000,2048; do
		echo $size | {
			IFS=, read -r m n k
			"$dir/dslc" run "$root/examples/gemm/gemm.gemm" --size M=$m,N=$n,K=$k
		} || return 1
	done
}

run_host()
{
	cp "$dir/bench/gemm.cubin" "$results/gemm.cubin" && (cd "$results" && "$dir/host" gemm.cubin)
}

run_embed()
{
	"$dir/embed"
}

# The grid, or the cases of $2, in parts on the devices $1, a log a part.
run_grid()
{
	i=0
	while [ $i -lt "$parts" ]; do
		(
			"$dir/gpu_check" "$dir/${2:-cases}" $i "$parts" "$1" >"$results/grid.$i" 2>&1
			echo $? >"$results/grid.$i.code"
		) &
		i=$((i + 1))
	done
	wait
	bad=0
	for code in "$results"/grid.*.code; do
		[ "$(cat "$code")" = 0 ] || bad=1
	done
	cat "$results"/grid.[0-9]*[0-9] "$results"/grid.[0-9] 2>/dev/null | sort -u
	rm -f "$results"/grid.[0-9]*
	return $bad
}

# The last line adds up the parts.
run_both()
{
	run_grid cuda:0+sim:threads=1 "${1:-cases}" >"$results/both.parts"
	code=$?
	cat "$results/both.parts"
	awk '/^part / {
		cases += $5; checks += $7; failures += $9; equal += $11; differ += $16
		elements += $18; if ($23 > ulp) ulp = $23; n++
	} END {
		printf "cuda:0 and sim: %d parts, %d cases, %d comparisons, %d failures; ", n, cases,
			checks, failures
		printf "%d equal in every bit, %d of %d elements differ; ", equal, differ, elements
		printf "largest difference %g ulp\n", ulp
	}' "$results/both.parts"
	rm -f "$results/both.parts"
	return $code
}

run_soak()
{
	nvcc -std=c++17 -O2 -gencode arch=compute_90a,code=sm_90a "$here/soak.cu" -I"$root/runtime" -L"$dir" \
		-Xlinker -rpath -Xlinker "$dir" -ldsl_runtime -ldl -o "$results/soak" || return 1
	"$results/soak" "$dir/soak" --launches "${LAUNCHES:-16}"
	code=$?
	rm -f "$results/soak"
	return $code
}

# In parts, each with its own functions.
run_functions()
{
	"$dir/test_functions" names | sed 's/ .*//' | xargs -P "$parts" -I NAME "$dir/test_functions" "$dir/functions" cuda:0 "${SAMPLES:-16777216}" NAME
}

run_constant()
{
	nvcc -std=c++17 -O2 -gencode arch=compute_90a,code=sm_90a "$here/constant.cu" -I"$root/runtime" -L"$dir" \
		-Xlinker -rpath -Xlinker "$dir" -ldsl_runtime -ldl -o "$results/constant" || return 1
	"$results/constant" "$dir/constant" --launches "${CHAINS:-10000}"
	code=$?
	rm -f "$results/constant"
	return $code
}

# Where dslc bench does not find cuBLASLt by itself, PyTorch's.
find_cublaslt()
{
	ldconfig -p | grep -q 'libcublasLt.so.1[23]' && return
	for lib in /usr/local/cuda/lib64/libcublasLt.so.1[23] "$(python3 -c 'import glob, site
for folder in site.getsitepackages():
    print(*glob.glob(folder + "/nvidia/*/lib/libcublasLt.so.1[23]"), sep="\n")' | head -n 1)"; do
		[ ! -f "$lib" ] || { export DSLC_CUBLASLT="$lib"; return; }
	done
}

run_times()
{
	bad=0
	[ -n "${DSLC_CUBLASLT:-}" ] || find_cublaslt
	for n in ${SIZES:-4096 8192}; do
		"$dir/dslc" bench "$root/examples/gemm/gemm.gemm" --size M=$n,N=$n,K=$n --against cublaslt \
			--schedules "$root/examples/gemm/schedules.txt" --rounds "${ROUNDS:-30}" \
			--csv "$results/times-$n.csv" --json "$results/times-$n.json" || bad=1
	done
	return $bad
}

run_python()
{
	site=$(mktemp -d)
	python3 -m pip install -q --no-index --no-deps --no-cache-dir --target "$site" "$dir"/dslc-*.whl || return 1
	PYTHONPATH=$site PYTHONUNBUFFERED=1 python3 "$here/python_speed.py" --launch-overhead "$dir/launch_overhead" \
		"$dir/bench/gemm.cubin"
}

step()
{
	echo "== $1"
	case $1 in
	run) run_example ;;
	host) run_host ;;
	embed) run_embed ;;
	overhead) "$dir/launch_overhead" "$dir/bench/gemm.cubin" ;;
	grid) run_grid cuda:0 ;;
	both) run_both ;;
	random) run_both random ;;
	functions) run_functions ;;
	soak) run_soak ;;
	constant) run_constant ;;
	torch) python3 "$here/against_torch.py" "$dir" --rounds "${ROUNDS:-30}" ;;
	repeat) python3 "$here/repeat.py" "$dir" --runs "${RUNS:-100}" ;;
	layers) python3 "$here/layers.py" "$dir" --rounds "${ROUNDS:-30}" ;;
	ways) "$here/ways.sh" "$dir" "$results" "${ROUNDS:-30}" ;;
	epilogues) "$here/epilogues.sh" "$dir" "$results" "${ROUNDS:-30}" ;;
	times) run_times ;;
	python) run_python ;;
	ptxas12) "$here/ptxas12.sh" "$dir/dslc" "$dir/ptxas12" "$root" ;;
	programs) "$here/programs.sh" "$dir/dslc" "$root" "$results/programs" ;;
	*) echo "no such step"; false ;;
	esac >"$results/$1.log" 2>&1
	code=$?
	tail -n 40 "$results/$1.log"
	if [ $code = 0 ]; then
		echo "== $1: passed"
	else
		echo "== $1: FAILED ($code)"
		failures=$((failures + 1))
	fi
}

for s in "$@"; do
	step "$s"
done
exit $failures
