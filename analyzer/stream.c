// SPDX-License-Identifier: GPL-2.0-or-later
/* stream.c - one recording's events from parser to consumer in batches; see stream.h. */
#include "stream.h"

#include <pthread.h>
#include <signal.h>

#include "casefile.h"
#include "symbols.h"

#define QUEUE_DEPTH	8	/* batches of 256 KiB */
#define MAX_LOSS_ROWS	1000

struct loss_note {
	uint64_t	time, pos, events;
	uint16_t	cpu;
};

struct stream_priv {
	struct batch	*ring[QUEUE_DEPTH];
	size_t		head, tail;	/* batches put, batches taken */
	bool		closed, running, begun;
	pthread_mutex_t	lock;
	pthread_cond_t	more, room;
	pthread_t	thread;
	uint64_t	last_time;
	bool		any;		/* a counted event has come */
	struct loss_note *losses;
	size_t		n_losses, cap_losses;
	uint64_t	more_losses, more_lost;	/* beyond MAX_LOSS_ROWS */
};

/* Set by the SIGINT handler only: the one thing a handler can do. */
static volatile sig_atomic_t interrupted;

bool stream_interrupted(void)
{
	return interrupted;
}

void stream_interrupt(void)
{
	interrupted = 1;
}

static const struct catalogue_row {
	enum event_kind	kind;
	const char	*system, *names;
} catalogue[] = {
#define EVENT(kind, system, names, ...)	{ EV_##kind, system, names },
#include "../parsers/events.def"
#undef EVENT
};

/* Is @name one of the "a|b|c" in @names? */
static bool name_in(const char *names, const char *name)
{
	size_t len = strlen(name);
	const char *p = names;

	while (p) {
		const char *bar = strchr(p, '|');
		size_t n = bar ? (size_t)(bar - p) : strlen(p);

		if (n == len && !memcmp(p, name, n))
			return true;
		p = bar ? bar + 1 : NULL;
	}
	return false;
}

static enum event_kind catalogue_kind(const char *system, const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(catalogue); i++)
		if ((!system || name_in(catalogue[i].system, system)) &&
		    name_in(catalogue[i].names, name))
			return catalogue[i].kind;
	return EV_OTHER;
}

static bool has_suffix(const char *s, size_t len, const char *suffix)
{
	size_t n = strlen(suffix);

	return len > n && !memcmp(s + len - n, suffix, n);
}

/*
 * Function and direction of a probe event by the names tools give: kprobe_events' default
 * p_FUNC_OFFSET and r_FUNC_OFFSET, perf probe's FUNC, FUNC_1 and FUNC__return, and p_NAME/r_NAME
 * chosen by users.
 */
enum event_kind stream_probe_kind(struct stream *s, const char *name, uint32_t *func)
{
	size_t len = strlen(name), digits;
	bool ret = false;

	if (len > 2 && (name[0] == 'p' || name[0] == 'r') && name[1] == '_') {
		ret = name[0] == 'r';
		name += 2;
		len -= 2;
	}
	for (digits = 0;
	     digits < len && name[len - 1 - digits] >= '0' && name[len - 1 - digits] <= '9';)
		digits++;
	if (digits && digits < 4 && len > digits + 1 && name[len - 1 - digits] == '_')
		len -= digits + 1;
	if (has_suffix(name, len, "__return")) {
		ret = true;
		len -= strlen("__return");
	}
	*func = strtab_id(&s->strings, name, len);
	if (len == strlen("hv_track_root_tdp") && !memcmp(name, "hv_track_root_tdp", len) && !ret)
		return EV_PROBE_ROOT;
	return ret ? EV_PROBE_RETURN : EV_PROBE_ENTER;
}

/* kernel/rcu/update.c, tree.c, srcutree.c: they sleep until wakeme_after_rcu() completes them. */
static const char *const rcu_waits[STREAM_RCU_WAITS] = {
	"synchronize_rcu", "__wait_rcu_gp", "synchronize_srcu", "rcu_barrier",
};

static bool is_probe_system(const char *system)
{
	return !strcmp(system, "kprobes") || !strcmp(system, "uprobes") || !strcmp(system, "fprobes") ||
	       !strncmp(system, "probe", 5);
}

uint16_t stream_event_type(struct stream *s, const char *system, const char *name,
			   enum event_kind kind, enum cov_known known, enum cov_complete complete,
			   enum cov_scope scope)
{
	_cleanup_free_ char *full = system ? xasprintf("%s:%s", system, name) : xstrdup(name);
	struct event_type *t;
	size_t i;

	for (i = 0; i < s->n_types; i++)
		if (!strcmp(s->types[i].name, full))
			return (uint16_t)i;
	if (s->n_types >= STREAM_MAX_TYPES)
		return EVENT_TYPE_NONE;
	GROW(s->types, s->cap_types, s->n_types + 1);
	t = &s->types[s->n_types];
	memset(t, 0, sizeof(*t));
	t->name = full;
	full = NULL;
	t->func = STRTAB_NONE;
	t->known = known;
	t->complete = complete;
	t->scope = scope;
	t->kind = kind;
	if (system && is_probe_system(system)) {
		enum event_kind by_name = stream_probe_kind(s, name, &t->func);

		if (kind == EV_OTHER)
			t->kind = by_name;
	} else if (kind == EV_OTHER) {
		t->kind = catalogue_kind(system, name);
	}
	if (t->kind == EV_SCHED_WAKING)
		s->desc.wakings_recorded = true;
	return (uint16_t)s->n_types++;
}

uint32_t stream_reason(struct stream *s, const char *name, size_t len)
{
	uint32_t id = strtab_id(&s->strings, name, len);
	size_t i;

	for (i = 0; i < s->n_reasons; i++)
		if (s->reasons[i].name == id)
			return EXIT_PACK(i, s->reasons[i].class);
	if (s->n_reasons >= 0xffff)
		return EXIT_PACK(0, EXIT_OTHER);
	GROW(s->reasons, s->cap_reasons, s->n_reasons + 1);
	s->reasons[i].name = id;
	s->reasons[i].class = exit_class_of(strtab_str(&s->strings, id));
	s->n_reasons++;
	return EXIT_PACK(i, s->reasons[i].class);
}

/*
 * Stacks are interned as byte strings: 'A', the space and the addresses, or 'T' and the frames as
 * text.
 */
uint32_t stream_stack_id(struct stream *s, const uint64_t *ips, size_t n, uint32_t space)
{
	char key[STACK_KEY_HEAD + STACK_MAX_FRAMES * sizeof(*ips)] = "A";

	n = MIN(n, (size_t)STACK_MAX_FRAMES);
	if (!n)
		return EVENT_U32_NONE;
	memcpy(key + 1, &space, sizeof(space));
	memcpy(key + STACK_KEY_HEAD, ips, n * sizeof(*ips));
	return strtab_id(&s->stacks, key, STACK_KEY_HEAD + n * sizeof(*ips));
}

uint32_t stream_stack_text_id(struct stream *s, const char *frames, size_t len)
{
	char key[8192] = "T";

	if (!len)
		return EVENT_U32_NONE;
	len = MIN(len, sizeof(key) - 1);
	memcpy(key + 1, frames, len);
	return strtab_id(&s->stacks, key, 1 + len);
}

char *stream_stack_frames(const struct stream *s, uint32_t id)
{
	const char *key = strtab_str(&s->stacks, id);
	size_t len = id < s->stacks.n ? s->stacks.lens[id] : 0, i, n;
	char *out, *p;

	if (!len || *key == 'T')
		return xstrdup(len ? key + 1 : "");
	n = (len - STACK_KEY_HEAD) / sizeof(uint64_t);
	p = out = xmalloc(n * 20 + 1);
	*p = '\0';
	for (i = 0; i < n; i++) {
		uint64_t ip;

		memcpy(&ip, key + STACK_KEY_HEAD + i * sizeof(ip), sizeof(ip));
		if (!sym_is_mark(ip))
			p += sprintf(p, "%s0x%" PRIx64, p > out ? "\n" : "", ip);
	}
	return out;
}

int64_t stream_stack_row(struct stream *s, uint32_t id)
{
	_cleanup_free_ char *frames = NULL;
	_cleanup_error_ struct error *err = NULL;

	if (id >= s->stacks.n)
		return 0;
	if (!s->stack_rows)
		s->stack_rows =
			xcalloc(STREAM_MAX_STACKS,
				sizeof(*s->stack_rows)); /* stacks are still added in flush */
	if (s->stack_rows[id])
		return s->stack_rows[id];
	frames = stream_stack_frames(s, id);
	err = case_stack(s->db, &s->stack_rows[id], s->source_id, frames, "\n");
	if (err)
		return 0;
	if (*s->stacks.strings[id] == 'A')
		symbols_note_stack(s->db, s->source_id, s->stack_rows[id], s->stacks.strings[id],
				   s->stacks.lens[id]);
	return s->stack_rows[id];
}

void stream_set(const char **field, const char *value)
{
	free((char *)*field);
	*field = value ? xstrdup(value) : NULL;
}

static void *consume(void *arg)
{
	struct stream *s = arg;
	struct stream_priv *p = s->priv;

	for (;;) {
		struct batch *b;

		pthread_mutex_lock(&p->lock);
		while (p->head == p->tail && !p->closed)
			pthread_cond_wait(&p->more, &p->lock);
		if (p->head == p->tail) {
			pthread_mutex_unlock(&p->lock);
			return NULL;
		}
		b = p->ring[p->tail % QUEUE_DEPTH];
		pthread_mutex_unlock(&p->lock);
		s->consumer->batch(s->consumer_priv, s, b);
		pthread_mutex_lock(&p->lock);
		p->tail++;
		pthread_cond_signal(&p->room);
		pthread_mutex_unlock(&p->lock);
	}
}

/* Hand the current batch over and take a free one; waits while the consumer is behind. */
void stream_next_batch(struct stream *s)
{
	struct stream_priv *p = s->priv;

	if (s->consumer && s->consumer->before)
		s->consumer->before(s->consumer_priv, s, s->cur);
	if (s->consumer && s->consumer->sync) {
		s->consumer->batch(s->consumer_priv, s, s->cur);
		s->cur->n = 0;
		return;
	}
	if (s->consumer) {
		pthread_mutex_lock(&p->lock);
		p->head++;
		pthread_cond_signal(&p->more);
		while (p->head - p->tail >= QUEUE_DEPTH)
			pthread_cond_wait(&p->room, &p->lock);
		pthread_mutex_unlock(&p->lock);
	}
	s->cur = p->ring[p->head % QUEUE_DEPTH];
	s->cur->n = 0;
}

static struct error *write_source(struct stream *s)
{
	const struct source_desc *d = &s->desc;
	int64_t cpus = d->cpus, first = (int64_t)s->first_ns, last = (int64_t)s->last_ns;

	return case_insert(
		s->db, NULL,
		"UPDATE source SET kernel=?, arch=?, host=?, cpus=?, clock=?, clock_offset_ns=?,"
		" clock_uncertainty_ns=?, side=?, first_ns=?, last_ns=?, events=?, lost=? WHERE "
		"id=?",
		"sssIsIIsIIiii", d->kernel, d->arch, d->host, cpus > 0 ? &cpus : NULL,
		d->clock ? d->clock : "unknown", d->has_clock_offset ? &d->clock_offset_ns : NULL,
		d->has_clock_offset ? &d->clock_uncertainty_ns : NULL,
		d->side ? d->side : "unknown", s->n_events ? &first : NULL,
		s->n_events ? &last : NULL, (int64_t)s->n_events, (int64_t)s->n_lost, s->source_id);
}

struct error *stream_open(struct stream **ret, struct case_db *db, const struct source_desc *desc,
			  const struct stream_ops *ops, void *ops_priv,
			  const struct consumer *consumer, void *consumer_priv)
{
	struct stream *s = xcalloc(1, sizeof(*s));
	struct stream_priv *p = xcalloc(1, sizeof(*p));
	struct error *err;
	size_t i;

	s->db = db;
	s->desc = *desc;
	s->desc.format = xstrdup(desc->format);
	s->desc.path = xstrdup(desc->path);
	s->desc.kernel = desc->kernel ? xstrdup(desc->kernel) : NULL;
	s->desc.arch = desc->arch ? xstrdup(desc->arch) : NULL;
	s->desc.host = desc->host ? xstrdup(desc->host) : NULL;
	s->desc.command = desc->command ? xstrdup(desc->command) : NULL;
	s->desc.clock = desc->clock ? xstrdup(desc->clock) : NULL;
	s->desc.side = desc->side ? xstrdup(desc->side) : NULL;
	s->ops = ops;
	s->ops_priv = ops_priv;
	s->consumer = consumer;
	s->consumer_priv = consumer_priv;
	strtab_init(&s->strings, STREAM_MAX_STRINGS);
	for (i = 0; i < STREAM_RCU_WAITS; i++)
		strtab_id(&s->strings, rcu_waits[i], strlen(rcu_waits[i]));
	strtab_init(&s->stacks, STREAM_MAX_STACKS);
	s->stacks.max_bytes = STREAM_STACK_BYTES;
	s->priv = p;
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->more, NULL);
	pthread_cond_init(&p->room, NULL);
	for (i = 0; i < (consumer && !consumer->sync ? QUEUE_DEPTH : 1u); i++)
		p->ring[i] = xmalloc(sizeof(struct batch));
	s->cur = p->ring[0];
	s->cur->n = 0;
	err = case_source(db, &s->source_id, desc->member_id, desc->path, desc->format, desc->side);
	if (!err && consumer && consumer->begin)
		err = consumer->begin(consumer_priv, s);
	p->begun = !err && consumer;
	if (p->begun && !consumer->sync) {
		int code = pthread_create(&p->thread, NULL, consume, s);

		if (code)
			err = error_new(ERR_INTERNAL, "no thread for the engine: %s", strerror(code));
		else
			p->running = true;
	}
	*ret = s;
	return err;
}

/* Is the event inside --time? Relative bounds become absolute at the first counted event. */
static bool in_window(struct stream *s, const struct event *ev)
{
	struct stream_time *w = &s->window;

	if (ev->ev == EVENT_TYPE_NONE && ev->kind != EV_LOST && ev->kind != EV_STACK)
		return true;
	if (!s->priv->any && ev->ev != EVENT_TYPE_NONE) {
		w->from_ns += w->from_rel ? ev->time : 0;
		w->to_ns += w->to_rel ? ev->time : 0;
		w->from_rel = w->to_rel = false;
		s->priv->any = true;
	}
	return !(w->has_from && ev->time < w->from_ns) && !(w->has_to && ev->time > w->to_ns);
}

static void note_loss(struct stream *s, const struct event *ev)
{
	struct stream_priv *p = s->priv;

	s->n_lost += ev->a[0];
	if (p->n_losses >= MAX_LOSS_ROWS) {
		p->more_losses++;
		p->more_lost += ev->a[0];
		return;
	}
	GROW(p->losses, p->cap_losses, p->n_losses + 1);
	p->losses[p->n_losses++] = (struct loss_note){
		.time = ev->time, .pos = ev->pos, .events = ev->a[0], .cpu = ev->cpu };
}

void stream_push_other(struct stream *s)
{
	struct event *ev = &s->cur->ev[s->cur->n];

	if (unlikely(s->window.set) && !in_window(s, ev))
		return;
	s->cur->n++;
	if (likely(ev->ev != EVENT_TYPE_NONE)) {
		s->types[ev->ev].count++;
		if (unlikely(!s->n_events++))
			s->first_ns = s->last_ns = ev->time;
		if (likely(ev->time >= s->last_ns))
			s->last_ns = ev->time;
		else
			s->n_unordered++;
		if (unlikely(ev->time < s->first_ns))
			s->first_ns = ev->time;
	} else if (unlikely(ev->kind == EV_LOST)) {
		note_loss(s, ev);
	}
}

int64_t stream_cite(struct stream *s, const struct event *ev)
{
	const struct stream_ops *ops = s->ops;
	_cleanup_free_ char *text = ops && ops->cite_text ? ops->cite_text(s->ops_priv, ev) : NULL;
	int64_t member_id = s->desc.member_id;
	uint64_t pos = ev->pos, off = ev->pos, line = 0;
	bool known = true;

	if (ops && ops->lines_of)
		ops->lines_of(s->ops_priv, &pos, &line, 1);
	else if (ops && ops->place)
		known = ops->place(s->ops_priv, pos, &member_id, &off);
	return case_cite(s->db, member_id, line ? (int64_t)line : -1,
			 line || !known ? -1 : (int64_t)off, (int64_t)ev->time, text ? text : "",
			 text ? strlen(text) : 0);
}

static struct error *write_losses(struct stream *s)
{
	struct stream_priv *p = s->priv;
	size_t i;

	for (i = 0; i < p->n_losses; i++) {
		const struct loss_note *l = &p->losses[i];
		struct event ev = { .time = l->time,
				    .pos = l->pos,
				    .cpu = l->cpu,
				    .kind = EV_LOST,
				    .tid = -1,
				    .ev = EVENT_TYPE_NONE,
				    .a = { l->events } };
		int64_t cite = stream_cite(s, &ev);

		TRY(case_loss(s->db, s->source_id, l->cpu == EVENT_CPU_NONE ? -1 : l->cpu,
			      (int64_t)l->time, l->events ? (int64_t)l->events : -1,
			      "events lost by the recorder", cite));
	}
	if (p->more_losses) {
		_cleanup_free_ char *what = xasprintf("%" PRIu64 " further losses", p->more_losses);

		TRY(case_loss(s->db, s->source_id, -1, CASE_NO_TIME, (int64_t)p->more_lost, what,
			      0));
	}
	if (stream_interrupted())
		TRY(case_loss(s->db, s->source_id, -1,
			      s->n_events ? (int64_t)s->last_ns : CASE_NO_TIME, -1,
			      "kvmortem was interrupted: what comes later was not read", 0));
	return NULL;
}

static struct error *write_types(struct stream *s)
{
	static const char *const known[] = { "unknown", "seen", "listed" };
	static const char *const complete[] = { "all", "sampled", "filtered", "lossy" };
	static const char *const scope[] = { "system", "tasks", "cpus" };
	bool lossy = s->priv->n_losses || s->n_lost;
	int64_t first = (int64_t)s->first_ns, last = (int64_t)s->last_ns;
	size_t i;

	for (i = 0; i < s->n_types; i++) {
		const struct event_type *t = &s->types[i];
		enum cov_complete c = t->complete == COV_ALL && lossy ? COV_LOSSY : t->complete;

		if (t->count)
			TRY(case_insert(s->db, NULL, "INSERT INTO event_count(source_id, event, count) VALUES(?,?,?)",
					"isi", s->source_id, t->name, (int64_t)t->count));
		TRY(case_insert(s->db, NULL,
				"INSERT INTO coverage(source_id, event, known, complete, scope, "
				"from_ns, to_ns)"
				" VALUES(?,?,?,?,?,?,?)",
				"issssII", s->source_id, t->name, known[t->known], complete[c],
				scope[t->scope], s->n_events ? &first : NULL,
				s->n_events ? &last : NULL));
	}
	return NULL;
}

static void stream_free(struct stream *s)
{
	struct source_desc *d = &s->desc;
	struct stream_priv *p = s->priv;
	size_t i;

	for (i = 0; i < QUEUE_DEPTH; i++)
		free(p->ring[i]);
	for (i = 0; i < s->n_types; i++)
		free(s->types[i].name);
	free(s->types);
	free(s->reasons);
	free(s->stack_rows);
	free(p->losses);
	strtab_deinit(&s->strings);
	strtab_deinit(&s->stacks);
	stream_set(&d->format, NULL);
	stream_set(&d->path, NULL);
	stream_set(&d->kernel, NULL);
	stream_set(&d->arch, NULL);
	stream_set(&d->host, NULL);
	stream_set(&d->command, NULL);
	stream_set(&d->clock, NULL);
	stream_set(&d->side, NULL);
	pthread_mutex_destroy(&p->lock);
	pthread_cond_destroy(&p->more);
	pthread_cond_destroy(&p->room);
	free(p);
	free(s);
}

struct error *stream_close(struct stream *s)
{
	struct stream_priv *p = s->priv;
	struct error *err;

	if (p->begun && s->consumer->before && s->cur->n)
		s->consumer->before(s->consumer_priv, s, s->cur);
	if (p->running) {
		pthread_mutex_lock(&p->lock);
		p->head += s->cur->n > 0;
		p->closed = true;
		pthread_cond_signal(&p->more);
		pthread_mutex_unlock(&p->lock);
		pthread_join(p->thread, NULL);
	} else if (p->begun && s->consumer->sync && s->cur->n) {
		s->consumer->batch(s->consumer_priv, s, s->cur);
	}
	err = write_source(s);
	if (!err)
		err = case_insert(s->db, NULL,
				  "INSERT INTO recording(source_id, command, time_resolution_ns, unordered, interrupted)"
				  " VALUES(?,?,?,?,?)", "isiii", s->source_id, s->desc.command,
				  (int64_t)s->desc.time_resolution_ns, (int64_t)s->n_unordered,
				  (int64_t)stream_interrupted());
	if (!err)
		err = write_types(s);
	if (!err)
		err = write_losses(s);
	if (p->begun && (p->running || s->consumer->sync) && s->consumer->end) {
		if (!err)
			err = s->consumer->end(s->consumer_priv, s);
		else
			error_free(s->consumer->end(s->consumer_priv, s));
	}
	stream_free(s);
	return err;
}
