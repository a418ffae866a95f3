# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Combinations of types, homes and orders in memory, as types_table lists them: what works is right on the simulator, what
does not is refused with the error that the table says.
   types_walk.py DSLC TABLE SCRATCH pairs|all [DEVICE] [PART/PARTS]
Of pairs every seventh row where no part is named, and of these every fourth assembled; each with EVERY=1."""
import concurrent.futures
import os
import re
import subprocess
import sys

dslc, table, scratch, which = sys.argv[1:5]
device = sys.argv[5] if len(sys.argv) > 5 else "sim"
every = which != "pairs" or os.environ.get("EVERY") == "1"
some_rows = "0/1" if every else "0/7"
part, parts = map(int, (sys.argv[6] if len(sys.argv) > 6 else some_rows).split("/"))
os.makedirs(scratch, exist_ok=True)
BITS = {"s8": 8, "u8": 8, "s32": 32, "s64": 64, "f16": 16, "bf16": 16, "tf32": 32, "f32": 32, "f64": 64, "e4m3": 8, "e5m2": 8}
ATOMS = {"wgmma": "wgmma<64,32,{}>", "mma_sync": "mma_sync<16,8,{}>"}
FEW = 16  # errors that one compilation reports
DEEP = {8: 64, 16: 64, 32: 32, 64: 16}

SHARED = """kernel types(A : {a} {A}, B : {b} {B}, D : out {d} {D}) where {where} {{
    let gA = A / (64,{deep}), gB = B / (32,{deep}), gD = D / (64,32);
    mma mm = {atom}({a}, {b}, {c});
    smem sA : {a} (64,{deep}), sB : {b} (32,{deep});
    pipeline ab(2) {{ sA, sB }}
    for (m,n) in gD {{
        acc : {c} mm.C(64,32) = 0;
        for k in gA[m] {{ sA <- gA[m,k]; sB <- gB[n,k]; acc += mm(sA, sB); }}
        gD[m,n] <- {value};
    }}
}}
"""
REGISTERS = """kernel types(P : {a} (M,L):(L,1), Q : {a} (K,L):(L,1), B : {b} {B}, D : out {d} {D})
    where {where}, L % 16 == 0, L <= {deep} {{
    let gP = P / (64,{deep}), gQ = Q / ({deep},{deep}), gB = B / (32,{deep}), gD = D / (64,32);
    mma pq = {atom}({a}, {a}, {s}), mm = {atom}({a}, {b}, {c});
    smem sP : {a} (64,{deep}), sQ : {a} ({deep},{deep}), sB : {b} (32,{deep});
    pipeline ab(2) {{ sP, sQ, sB }}
    for (m,n) in gD {{
        acc : {c} mm.C(64,32) = 0;
        for k in gB[n] {{
            sP <- gP[m,0]; sQ <- gQ[k,0]; sB <- gB[n,k];
            s : {s} pq.C(64,{deep}) = 0;
            s += {first};
            acc += mm({operand}, sB);
        }}
        gD[m,n] <- {value};
    }}
}}
"""


def program(atom, a, b, c, d, a_order, b_order, home, d_order, k):
    order = {"k": "({0},K):(K,1)", "mn": "({0},K):(1,{0})"}
    whole = a in ("s8", "u8")
    double = c == "s32" and d in ("f16", "bf16", "tf32", "f64", "e4m3", "e5m2") or c == "f64" and d not in ("f32", "s64")
    return (REGISTERS if home == "registers" else SHARED).format(
        atom=ATOMS[atom].format(k), a=a, b=b, c=c, d=d, deep=DEEP[BITS[a]], A=order[a_order].format("M"), B=order[b_order].format("N"),
        D="(M,N):(N,1)" if d_order == "rows" else "(M,N):(1,M)", operand="f64(f32(s))" if a == "f64" else f"{a}(s)", s="s32" if whole else "f64" if a == "f64" else "f32",
        first="fast(pq(sP, sQ))" if a[0] == "e" else "pq(sP, sQ)",
        where="K % 16 == 0, M % 8 == 0, N % 8 == 0",
        value="acc" if c == d else f"{d}(f32(acc))" if double else f"{d}(acc)")


def walk(number, words):
    name = f"{scratch}/{number}.gemm"
    verdict = words[-1]
    with open(name, "w", encoding="ascii") as f:
        f.write(program(*words[:-1]))
    sizes = "M=72,N=40,K=80" + (f",L={DEEP[BITS[words[1]]]}" if words[7] == "registers" else "")
    command = [dslc, "run", name, "--size", sizes, "--device", device] if verdict == "works" else \
        [dslc, name, "-o", f"{name}.cubin"]
    environment = dict(os.environ)
    if device == "sim" and not every and number // parts % 4:
        environment["DSLC_PTXAS"] = "none"
    got = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if verdict == "works":
        good = got.returncode == 0 and "right as the source says: integers and normal numbers" in got.stdout
    else:
        good = got.returncode == 1 and re.findall(r"error\[(E\d+)\]", got.stderr)[:1] == [verdict]
    if good:
        os.remove(name)
    return "" if good else f"{' '.join(words)}: {name}\n{got.stdout}{got.stderr}"


def none(lines):
    """Operands that no instruction takes, each in a line of one of the files that are compiled together."""
    names = {}
    for i, words in enumerate(lines):
        name = f"{scratch}/none{i // FEW}.gemm"
        with open(name, "a" if i % FEW else "w", encoding="ascii") as f:
            f.write(f"mma m{i} = wgmma<64,32,16>({words[1]}, {words[2]}, {words[3]});\n")
        names[name, i % FEW + 1] = words
    files = dict.fromkeys(name for name, _ in names)
    got = subprocess.run([dslc, "-fsyntax-only", *files], capture_output=True, text=True, check=False)
    refused = {(name, int(n)) for name, n in re.findall(r"^(.*):(\d+):\d+: error\[E0302\]", got.stderr, re.MULTILINE)}
    return [f"{' '.join(words)}: not refused\n" for at, words in names.items() if at not in refused]


lines = [line.split() for line in
         subprocess.run([table, which], capture_output=True, text=True, check=True).stdout.splitlines()]
some = [words for words in lines if words[0] != "-"]
without = [words for words in lines if words[0] == "-"]
mine = [(i, words) for i, words in enumerate(some) if i % parts == part]
wrong = none(without)
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    wrong += [w for w in pool.map(lambda at: walk(*at), mine) if w]
print("".join(wrong), end="")
works = sum(words[-1] == "works" for _, words in mine)
print(f"{works} work, {len(mine) - works} are refused, and {len(without)} of no instruction: {len(wrong)} wrong")
sys.exit(bool(wrong) or works < 100 // parts)
