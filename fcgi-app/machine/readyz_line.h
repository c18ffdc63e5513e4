/*
 * readyz_line — GET /readyz as the queue pool serves it: a PING in its pipeline, so that nobody
 * waits.
 */
#ifndef SLUICE_MACHINE_READYZ_LINE_H
#define SLUICE_MACHINE_READYZ_LINE_H

#include "fcgi-app/pool/line_handler.h"

line_begin readyz_line_begin;
line_finish readyz_line_finish;

#endif
