/*
 * readyz_line — GET /readyz in the queue pool: a PING in its pipeline, without blocking.
 */
#ifndef SLUICE_MACHINE_READYZ_LINE_H
#define SLUICE_MACHINE_READYZ_LINE_H

#include "fcgi-app/pool/line_handler.h"

line_begin readyz_line_begin;
line_finish readyz_line_finish;

#endif
