/* main.c - the command "lockstep": finds the subcommand, reads its options, runs it. Exit codes: 0 done, 1 failed,
 * 2 not understood. */
#include <stdio.h>
#include <string.h>

#include "cli.h"

static const cli_command *const commands[] = { &cli_fit,  &cli_evaluate, &cli_predict, &cli_summary,
                                               &cli_plan, &cli_bench,    &cli_data };
enum { N_COMMANDS = sizeof commands / sizeof *commands };

static const cli_command *find(const char *name)
{
    for (size_t i = 0; i < N_COMMANDS; i++)
        if (strcmp(commands[i]->name, name) == 0) return commands[i];
    return NULL;
}

static int unknown(const char *word)
{
    const char *names[N_COMMANDS + 1];

    for (size_t i = 0; i < N_COMMANDS; i++) names[i] = commands[i]->name;
    names[N_COMMANDS] = NULL;
    return cli_usage("", "there is no command \"%s\"%s", word, cli_suggestion(word, names));
}

static int print_overview(void)
{
    puts("lockstep - trains Keras models on this machine's processors: the same weights, bit for bit,\n"
         "on any number of threads.\n\n"
         "Usage: lockstep COMMAND [OPTION...]\n\nCommands:");
    for (size_t i = 0; i < N_COMMANDS; i++) printf("  %-10s %s\n", commands[i]->name, commands[i]->line);
    puts("\n\"lockstep COMMAND --help\" explains a command. A first try:\n"
         "  lockstep fit --model builtin:mnist_cnn --data mnist --save mnist.keras\n\n"
         "Exit codes: 0 done, 1 failed, 2 the command line was not understood.");
    return CLI_OK;
}

int main(int argc, char **argv)
{
    static char help_word[] = "--help";
    const cli_command *command;
    cli_options options;
    bool help;
    int code;

    cli_measure_start();
    cli_install_hooks();
    if (argc < 2) {
        print_overview();
        return CLI_USAGE;
    }
    if (strcmp(argv[1], "--version") == 0) return printf("lockstep %s\n", lks_version()) < 0;
    if (strcmp(argv[1], "help") == 0 && argc > 2) {
        argv[1] = argv[2];
        argv[2] = help_word;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0)
        return print_overview();
    command = find(argv[1]);
    if (command == NULL) return unknown(argv[1]);
    code = cli_parse(command, argc - 2, argv + 2, &options, &help);
    if (code != CLI_OK) return code;
    if (help) {
        cli_print_help(command);
        return CLI_OK;
    }
    code = command->run(&options);
    if ((fflush(stdout) != 0 || ferror(stdout)) && code == CLI_OK) return cli_fail("cannot write to standard output");
    return code;
}
