/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * command.h - subcommands (one cmd_NAME.c each), the options they share, and report formats (one
 * file in reports/ each).
 */
#ifndef KM_COMMAND_H
#define KM_COMMAND_H

#include "bundle.h"
#include "casefile.h"
#include "engine.h"
#include "parser.h"

struct report;

enum exit_status {
	EXIT_OK = 0,
	EXIT_NOTHING = 1,
	EXIT_USAGE = 2,
	EXIT_FAILED = 3,
	EXIT_MATCH = 10,
	EXIT_INTERRUPTED = 130
};

struct options {
	const char	*format;	/* -f; NULL: by the ending of -o, else text */
	const char	*output;	/* -o; NULL or "-": stdout */
	const char	**signature_dirs;	/* --signatures, may be repeated */
	size_t		n_signature_dirs;
	const char	*vm;		/* --vm: id, tgid or name */
	const char	*vcpu;		/* --vcpu: vCPU number or tid */
	const char	*time;		/* --time FROM,TO */
	double		stall_threshold_ms;	/* --stall-threshold; 0: adaptive */
	unsigned int	jobs;		/* -j */
	const char	*temp_dir;
	uint64_t	max_temp;
	const char	*color;		/* auto | always | never */
	int		progress;	/* -1 auto, 0 no, 1 yes */
	bool		strict, quiet, fail_on_match;
	bool		redact;		/* --redact */
	const char	*redact_map;	/* --redact-map FILE; implies redact */
	const char	*plots;		/* --plots DIR */
	const char	*guest_kallsyms;	/* --guestkallsyms FILE */
	const char	*symfs, *debug_dir;	/* --symfs DIR, --debug-dir DIR */
	int		verbose;
	/* of single commands */
	const char	*exits_event, *exits_by;	/* exits */
	long		chain_stall;			/* chain --stall N; -1 none */
	const char	*chain_at;			/* chain --at TIME */
	const char	**args;		/* positional */
	size_t		n_args;
};

struct command {
	const char	*name;
	const char	*usage;		/* what follows "kvmortem NAME" */
	const char	*summary;	/* one line */
	const char	*help;		/* --help text with examples */
	/* run() - returns the exit status; *err is printed once by main(). */
	int		(*run)(const struct options *opt, struct error **err);
};
SET_DECLARE(commands, struct command);

/* What the reports get: the case file after verdicts, and where to print. */
struct report_ctx {
	struct case_db	*db;
	const struct options *opt;
	FILE		*out;
	bool		color;
	int		width;		/* columns of the terminal; 80 where there is none */
	const char
		*view; /* analyze | info | exits | latency | stalls | chain | query | signatures */
	void		*view_arg;	/* query: sqlite3_stmt * ... */
};

struct report {
	const char	*format;	/* text | json | ... as -f names it */
	const char	*ending;	/* of -o: ".html" */
	struct error	*(*render)(struct report_ctx *ctx);	/* for the view named in ctx */
};
SET_DECLARE(reports, struct report);

/*
 * run_inputs() - the way of the data up to the case file: walks all inputs of opt->args, parses,
 * feeds engines. With @consumer NULL the engine is used; `events` gives its own. *status becomes
 * EXIT_NOTHING, EXIT_INTERRUPTED or EXIT_OK (EXIT_FAILED with --strict and missing inputs). If the
 * only input is a case file, it is opened instead.
 */
struct error *run_inputs(const struct options *opt, struct case_db **ret,
			 struct error *(*open_stream)(struct parse_ctx *, struct stream **,
						      const struct source_desc *,
						      const struct stream_ops *, void *),
			 void *open_arg, int *status);
/*
 * report_check() - what of report_write() can fail before the inputs are read, which may take long:
 * the format's name, and output_check() (view.h).
 */
struct error *report_check(const struct options *opt);
/* report_write() - pick the report by opt->format / opt->output, open the output, render @view. */
struct error *report_write(struct case_db *db, const struct options *opt, const char *view,
			   void *view_arg);
/*
 * plot_files_write() - all plots of the case into opt->plots, four files each: NAME.gp, NAME.dat,
 * NAME.svg and NAME.png. Without gnuplot NAME.svg is the program's own and there is no NAME.png.
 * Links are not followed; only files that an earlier run wrote and nobody changed are replaced.
 * plot_files_check() - what of it can fail before the inputs are read; makes the directory. Both do
 * nothing without --plots. ERR_IO.
 */
struct error *plot_files_write(struct case_db *db, const struct options *opt);
struct error *plot_files_check(const struct options *opt);

#endif
