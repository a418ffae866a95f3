#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Command lines that make no sense: exit code 2, a sentence, and the nearest thing that would be
# right; nothing is written.
. "$(dirname "$0")/lib.sh"

usage()
{
	message=$1
	shift
	expect 2 "$@"
	has err "$message"
	empty out
	[ "$(ls)" = "$before" ] || fail "dslc $* left files after"
}
touch out err
before=$(ls)

usage "no input file"
usage "unknown option '--emitt=ptx'; did you mean '--emit'?" --emitt=ptx small.gemm
usage "unknown option '--time-raport'; did you mean '--time-report'?" --time-raport small.gemm
usage "unknown option '-fsyntax-onli'; did you mean '-fsyntax-only'?" -fsyntax-onli small.gemm
usage "unknown option '--zzzzzzzz'" --zzzzzzzz small.gemm
lacks err "did you mean"
usage "--emit does not accept 'ptxx'; did you mean 'ptx'?" --emit=ptxx small.gemm
usage "--emit=ir: does not accept 'selct'; did you mean 'select'?" --emit=ir:selct small.gemm
usage "--emit does not accept ''" --emit=ptx,,ir small.gemm
usage "--only does not accept 'snyc'; did you mean 'sync'?" --only=snyc small.gemm
usage "--only does not accept 'frontend'" --only=frontend small.gemm
usage "--stop-after does not accept 'lowre'; did you mean 'lower'?" --stop-after=lowre small.gemm
usage "--print-after does not accept 'tile'; did you mean 'tiles'?" --print-after=tile small.gemm
usage "-o names one output, but there are 2 inputs" -o x small.gemm small.gemm
usage "-MF names one file, but there are 2 inputs" -MF x small.gemm small.gemm
usage "-o - takes one kind of output" --emit=ptx,ir -o - small.gemm
usage "--stop-after and --only end in IR" --stop-after=tiles -S small.gemm
usage "--only and --stop-after exclude each other" --only=tiles --stop-after=tiles small.gemm
usage "-fsyntax-only writes nothing" -fsyntax-only -o x small.gemm
usage "-fsyntax-only writes nothing" -fsyntax-only -S small.gemm
usage "-D takes NAME=VALUE, not 'bM'" -DbM small.gemm
usage "-D takes NAME=VALUE, not '=3'" -D =3 small.gemm
usage "-o needs an argument: FILE" small.gemm -o
usage "--emit needs an argument: KIND,..." small.gemm --emit
usage "--ptxas-path needs an argument: FILE" small.gemm --ptxas-path=
usage "-O is a number from 0 to 3, not '4'" -O4 small.gemm
usage "-O is a number from 0 to 3, not 'fast'" -Ofast small.gemm
usage "--ptxas-timeout is a number from 1 to 86400, not '0'" --ptxas-timeout=0 small.gemm
usage "--ptxas-timeout is a number from 1 to 86400, not '1s'" --ptxas-timeout=1s small.gemm
usage "-x does not accept 'c'; it takes gemm, ir" -x c small.gemm
usage "--target accepts sm_80, sm_86, sm_89, sm_90, sm_90a or sm_120, not 'sm_100a'" --target=sm_100a small.gemm
usage "--diagnostics does not accept 'jason'; did you mean 'json'?" --diagnostics=jason small.gemm
usage "--color does not accept 'blue'; it takes auto, always, never" --color=blue small.gemm
usage "there is no warning 'W0614'; did you mean 'W06" -Wno-W0614 small.gemm
usage "there is no warning 'E0601'" -Werror=E0601 small.gemm
usage "-ffile-prefix-map takes OLD=NEW, not 'x'" -ffile-prefix-map=x small.gemm
usage "--help has no category 'nothing'" --help=nothing
usage "there is no message 'E9999'" --explain E9999
usage "--size is not an option of dslc; dslc run takes it" --size M=1 small.gemm
usage "-o is not an option of dslc run" run small.gemm -o x
usage "dslc run takes one file, not 2" run small.gemm small.gemm
usage "--size: 'M' is no size" run small.gemm --size M
usage "--size: 'M=-1' is no size, a name and a number up to 2147483647" run small.gemm --size M=-1
usage "--for: 'N' is no size, a name and a number up to 2147483647: write M=16,N=4096,K=4096" small.gemm --for M=1,N
usage "--for: M is given twice" small.gemm --for M=1,M=2
usage "--then: '' is no size" run small.gemm --size M=1 --then ,
usage "--arg alpha takes a number, not 'x'" run small.gemm --arg alpha=x
usage "--tiles is a number from 1 to" run small.gemm --tiles 0
usage "--seed is a number from 0 to" run small.gemm --seed -3

# a first word that was meant as a command; a file of that name is a file
usage "there is no command 'rnu'; did you mean 'dslc run'?" rnu small.gemm
usage "there is no command 'chekc'; did you mean 'dslc check'?" help chekc
usage "there is no command and no file 'something'; dslc --help lists the commands" something
usage "dslc help takes one command" help run check
cp small.gemm rnu
expect 0 -S rnu -o rnu.ptx
rm -f rnu rnu.ptx

# several outputs are named after one stem
usage "-o names them without one, as x" --emit=ptx,header -o x.out small.gemm
usage "-o names them without one, as a.b/x" --emit=ptx,header -o a.b/x.cubin small.gemm
expect 0 --emit=ptx,header -o stem small.gemm
exists stem.ptx stem.h
absent stem
expect 0 --emit=ptx,header -o other.h small.gemm
exists other.ptx other.h
