/* interrupt.c - Ctrl-C ends training after the present batch, so that nothing is left half done. The second one ends the
 * process at once, which is safe too: files are written under temporary names. */
#include <signal.h>
#include <string.h>

#include "cli.h"

static volatile sig_atomic_t interrupted;

static void note(int number)
{
    (void)number;
    interrupted = 1;
}

void cli_catch_interrupt(void)
{
    struct sigaction action;

    memset(&action, 0, sizeof action);
    action.sa_handler = note;
    action.sa_flags = (int)(SA_RESETHAND | SA_RESTART);
    sigaction(SIGINT, &action, NULL);
}

bool cli_interrupted(void)
{
    return interrupted != 0;
}
