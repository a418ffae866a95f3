/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* watch.h - how far a launch on the simulator is, for the driver; not installed.
 *   sim_watch(dev, show, bar)  ->  show(bar, 3, 8): 3 of 8 clusters have ended */
#ifndef DSL_RUNTIME_WATCH_H
#define DSL_RUNTIME_WATCH_H

#include "runtime/dsl.h"

typedef void SimWatch(void *user, int64_t done, int64_t all);
/* sim/device.c: dev is a simulator. Calls come from threads of a launch, one at a time. */
void sim_watch(dsl_device *dev, SimWatch *watch, void *user);

#endif
