#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The commands of docs/tutorial-hang.md, run in order in a copy of its folder, print what stands there.
#   tutorial.sh DSLC ROOT SCRATCH [NVCC]
# nvcc gives the kept files, the n-th call scale.n.ptx; with NVCC it really runs, and must give them.
set -eu
dslc=$1 root=$2 scratch=$3
page=$root/docs/tutorial-hang.md
rm -rf "$scratch"
mkdir -p "$scratch/bin" "$scratch/work"
cp "$root"/examples/hang/* "$scratch/work"
ln -s "$dslc" "$scratch/bin/dslc"
cat >"$scratch/bin/nvcc" <<EOF
#!/bin/sh
set -eu
calls=\$((\$(cat ../calls) + 1))
echo \$calls >../calls
if [ -n "${4:-}" ]; then
	"${4:-}" "\$@"
	sed "s,\"\$PWD/,\",;/\.section/,\\\$d" scale.ptx >real.ptx
	diff real.ptx scale.\$calls.ptx
fi
cp scale.\$calls.ptx scale.ptx
EOF
chmod +x "$scratch/bin/nvcc"
echo 0 >"$scratch/calls"
PATH=$scratch/bin:$PATH
cd "$scratch/work"

awk '/^```/ { on = $0 == "```console"; next } on' "$page" >../expected
commands=0
: >../printed
grep '^\$ ' ../expected >../commands
while read -r line; do
	printf '%s\n' "$line" >>../printed
	printf '%s\n' "${line#\$ }" >../command
	sh ../command >>../printed 2>&1 </dev/null || true
	commands=$((commands + 1))
done <../commands
[ "$commands" -ge 8 ]
diff ../expected ../printed
# The page shows lines of the kernel as they are.
awk '/^```/ { on = $0 == "```cpp"; next } on' "$page" >../shown
[ -s ../shown ]
while IFS= read -r line; do
	grep -qxF -e "$line" "$root/examples/hang/scale.cu" || { echo "not in scale.cu: $line"; exit 1; }
done <../shown
