# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Which of seven schedules a program meets on the simulator where a commit is checked; it meets all with EVERY=1
# (tools/hours.sh suite). The first three of turn N are N, N + 1 and N + 3 modulo 7: of seven programs in a row each two
# schedules meet one together, and each schedule meets three. The others follow, for where one of the three is excluded.
#   . turns.sh; turns 4     4 5 0 6 1 2 3, of which the first $most are run
#   some 4 5                4 0 2: of five, three; all with EVERY=1
#   every COMMAND...        runs it with EVERY=1
#   simulate FILE ARGUMENTS...  dslc run: the first kernel that a script runs is assembled; of the others the simulator runs
#                           the PTX. A program runs on integers and normal numbers when a script meets it first, then on either
#                           in turn. With EVERY=1 or on a GPU each is assembled and runs on both.
#   in_order 2              sim:seed=2, where 0 is the plain order; sim --schedules 2 with EVERY=1; DEVICE where it is given
if [ "${EVERY:-0}" = 1 ]; then most=7; else most=3; fi
in_order()
{
	if [ -n "${DEVICE:-}" ]; then echo "$DEVICE"; elif [ "${EVERY:-0}" = 1 ]; then echo sim --schedules 2; else echo "sim:seed=$1"; fi
}
turns()
{
	for more in 0 1 3 2 4 5 6; do
		echo $((($1 + more) % 7))
	done
}
some()
{
	for more in 0 1 3 2 4; do
		echo $((($1 + more) % $2))
	done | head -n "$most"
}
every()
{
	[ "${EVERY:-0}" != 1 ] || "$@"
}
as=${DSLC_PTXAS:-} met= numbers= one=--numbers=normal
# FILE: what this run is on; files of which $same says one thing are one program
turn_numbers()
{
	[ "${EVERY:-0}" != 1 ] && [ -z "${DEVICE:-}" ] || return 0
	program=${same:-$(cksum <"$1")}
	case $met in
	*" $program;"*)
		case $one in --numbers=integers) one=--numbers=normal ;; *) one=--numbers=integers ;; esac
		numbers=$one
		;;
	*) numbers= met="$met $program;" ;;
	esac
}
spare()
{
	[ "${EVERY:-0}" = 1 ] || [ -n "${DEVICE:-}" ] || as=none
}
simulate()
{
	turn_numbers "$1"
	DSLC_PTXAS=$as "$dslc" run $numbers "$@" || return 1
	spare
}
