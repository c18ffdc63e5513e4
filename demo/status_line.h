/*
 * status_line — one line that is redrawn in place on a terminal, and a line each where standard
 * output goes elsewhere.
 */
#ifndef SLUICE_DEMO_STATUS_LINE_H
#define SLUICE_DEMO_STATUS_LINE_H

/** Shows `text`: over the line before on a terminal, cut to its width; else as a line of its
 *  own. A standard output that cannot be written to any more is overlooked. */
void status_line_show(const char *text);

/** Ends a line that stands on a terminal, so that something else can follow. */
void status_line_end(void);

#endif
