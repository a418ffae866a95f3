# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random cases of a test, each drawn from its number: 20 of them, 200 where EVERY is set, or as the command line asks."""
import argparse
import os
from unittest import mock


def check(test, draw, run):
    for number in range(200 if "EVERY" in os.environ else 20):
        case = draw(number, False)
        with test.subTest(str(case)), mock.patch.dict(os.environ, DSLC_PTXAS="none"):
            test.assertIsNone(run(case, "cpu", [case.schedule]))


def main(text, draw, run, schedules):
    """Cases in large and on a device, each under all the schedules that schedules(case) names."""
    options = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--cases", type=int, default=20)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--large", action="store_true")
    options.add_argument("--device", default="cpu")
    given = options.parse_args()
    if given.device == "cpu":
        os.environ["DSLC_PTXAS"] = "none"
    bad = 0
    for number in range(given.seed, given.seed + given.cases):
        case = draw(number, given.large)
        said = run(case, given.device, schedules(case) if given.device != "cpu" else [case.schedule])
        if said:
            bad += 1
            print(f"WRONG {case}: {said}", flush=True)
    print(f"{given.cases} cases, {bad} wrong")
    return bad > 0
