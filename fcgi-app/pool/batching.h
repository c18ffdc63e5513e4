/*
 * batching — makes the kernel let requests accumulate before this process runs.
 *
 * An event-driven worker serves in one turn everything that has arrived, so the cost of a request
 * depends on how many arrive together. By default the kernel preempts nginx as soon as it hands
 * over a request, to run the worker that slept: one request a turn, and two context switches for
 * each. A process of the policy SCHED_BATCH preempts no one. It runs when a processor is free, as
 * before, and otherwise when the running process blocks or has used its slice (3 ms or so). Its
 * share of the processor stays the same. See docs/decisions/0057-queue-workers-sched-batch.md.
 */
#ifndef SLUICE_POOL_BATCHING_H
#define SLUICE_POOL_BATCHING_H

/** Sets the policy. To be called before the process is confined. If that is refused, or this
 *  process already has a policy other than the default, nothing changes: it is only an
 *  optimization. */
void batching_begin(void);

#endif
