// SPDX-License-Identifier: GPL-2.0-or-later
/* cmd_query.c - `kvmortem query`: SQL over the case file. */
#include "command.h"
#include "redact.h"
#include "reports/query.h"
#include "view.h"

/*
 * A mistake in the SQL is told before the inputs are read, which may take long: any case file has
 * the same tables.
 */
static struct error *check_sql(const char *sql)
{
	struct case_db *empty;
	sqlite3_stmt *st;
	struct error *err;

	TRY(case_create(&empty, NULL));
	err = query_prepare(empty, &st, sql);
	if (!err)
		sqlite3_finalize(st);
	query_release(empty);
	case_close(empty);
	return err;
}

static int query_run(const struct options *opt, struct error **err)
{
	struct options inputs = *opt;
	struct case_db *db = NULL;
	sqlite3_stmt *st = NULL;
	int status = EXIT_OK;
	const char *sql;

	if (opt->n_args < 2) {
		*err = error_new(ERR_USAGE, "query needs an input and one SELECT statement, as in: "
				 "kvmortem query case.tar.xz 'SELECT * FROM source'");
		return EXIT_USAGE;
	}
	sql = opt->args[opt->n_args - 1];
	inputs.n_args--;
	*err = report_check(&inputs);
	if (!*err)
		*err = check_sql(sql);
	if (*err)
		return status_of((*err)->code);
	*err = run_inputs(&inputs, &db, NULL, NULL, &status);
	if (!*err)
		*err = case_redact(&db, &inputs);
	if (!*err)
		*err = query_prepare(db, &st, sql);
	if (!*err)
		*err = report_write(db, &inputs, "query", st);
	if (db) {
		sqlite3_finalize(st);
		query_release(db);
		case_close(db);
	}
	return *err ? status_of((*err)->code) : status;
}

static const struct command query_command = {
	.name = "query",
	.usage = "INPUT... SQL",
	.summary = "SQL over the case file",
	.help = "Analyses the inputs and runs one SELECT statement over the case file that comes out. The input may also be\n"
		"a case file saved before with `kvmortem INPUT -f sqlite -o FILE`; that is quick.\n"
		"doc/case-file.md explains all tables; `SELECT name FROM sqlite_schema` lists them.\n"
		"\n"
		"The case file is only read: statements other than SELECT are refused. -f json prints exact values.\n"
		"\n"
		"  kvmortem query case.tar.xz 'SELECT comm, halted_ns, waiting_ns FROM vcpu'\n"
		"  kvmortem query case.sqlite \"SELECT kind, COUNT(*), MAX(duration_ns) FROM stall GROUP BY kind\"\n"
		"  kvmortem query -f json trace.dat 'SELECT * FROM runq_delay ORDER BY max_delay_ns DESC LIMIT 5'",
	.run = query_run,
};
REGISTER(commands, &query_command);
