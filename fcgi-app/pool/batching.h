/*
 * batching — has the kernel let requests gather before this process takes its turn.
 *
 * An event-driven worker serves in one turn all that has come, so what a request costs depends on how many come in one. By
 * default the kernel interrupts nginx the moment that it hands over a request, to let the worker run that slept: one request a
 * turn, and two changes of process for each. A process of the policy SCHED_BATCH interrupts nobody. It runs when a processor is
 * free, as before, and else when whoever runs there has no more to do or has had its slice (3 ms or so). Its share of the
 * processor stays the same. See docs/decisions/0057-queue-workers-sched-batch.md.
 */
#ifndef SLUICE_POOL_BATCHING_H
#define SLUICE_POOL_BATCHING_H

/** Asks for that. To be called before the process is confined. Where it is refused, or somebody has given this process another
 *  policy than the usual one, nothing changes: it only saves work. */
void batching_begin(void);

#endif
