/*
 * status_line — one line that is redrawn in place on a terminal, and separate lines if standard
 * output is something else.
 */
#ifndef SLUICE_DEMO_STATUS_LINE_H
#define SLUICE_DEMO_STATUS_LINE_H

/** Shows `text`: on a terminal in place of the previous line, cut to its width; else as a line of
 *  its own. Write errors on standard output are ignored. */
void status_line_show(const char *text);

/** Ends the line on a terminal, so that other output can follow. */
void status_line_end(void);

#endif
