package scheduler

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"dodoor/internal/cluster"
)

// MetaKey is the key of what a shell asks [LastIncarnation] about.
const MetaKey = keyMeta

// LastIncarnation returns the incarnation of the last process that wrote a journal, from the value of [MetaKey]. The next
// process needs a higher one, whatever the clock says.
func LastIncarnation(value []byte) (int64, error) {
	var m keptMeta
	if err := unpackValue(keyMeta, value, func(p *packer) { p.meta(&m) }); err != nil {
		return 0, err
	}
	return m.incarnation, nil
}

// Restore returns a replica that goes on from what earlier processes of its name have told of; each calls yield for every pair
// that is kept, in any order. Without a pair it is [New]. It fails when a pair makes no sense, and names its key.
//
// Its first changes have to be durable before anybody hears of its incarnation. The first [Replica.Tick] connects it with the
// workers that have open placements; it asks them what became of those before it places any of them again.
func Restore(cfg Config, policy Policy, each func(yield func(key string, value []byte) error) error) (*Replica, error) {
	if !cfg.Keeps {
		return nil, fmt.Errorf("scheduler: only a replica that keeps something can be restored")
	}
	r, err := build(cfg, policy)
	if err != nil {
		return nil, err
	}
	x := restorer{r: r, workers: map[string]cluster.Node{}, words: map[string]string{}, again: map[*job]*batch{}}
	if err := each(x.take); err != nil {
		return nil, err
	}
	if x.meta == (keptMeta{}) {
		if x.pairs > 0 {
			return nil, broken(keyMeta, "it is missing")
		}
		r.begins(keptMeta{lineage: r.cfg.Incarnation})
		return r, nil
	}
	if cfg.Incarnation <= x.meta.incarnation {
		return nil, fmt.Errorf("scheduler: incarnation %d of %s is not above %d, that of the last process", cfg.Incarnation, cfg.Name,
			x.meta.incarnation)
	}
	if err := x.restore(); err != nil {
		return nil, err
	}
	return r, nil
}

// broken says that the value of a key makes no sense.
func broken(key, format string, args ...any) error {
	return fmt.Errorf("scheduler: the journal's key %.200q is broken: %s", key, fmt.Sprintf(format, args...))
}

// unpackValue reads a value as a whole.
func unpackValue(key string, value []byte, fill func(p *packer)) error {
	p := packer{from: string(value), unpacking: true}
	var version uint8
	if integer(&p, &version); !p.broken && version != layout {
		return broken(key, "it has layout %d, and this program knows %d: start a program that is newer", version, layout)
	}
	if fill(&p); p.broken || p.from != "" {
		return broken(key, "its %d bytes are too few, too many or out of range", len(value))
	}
	return nil
}

// restorer puts a replica together. Its journal is not on yet, so that nothing is told of twice.
type restorer struct {
	r       *Replica
	pairs   int
	meta    keptMeta
	workers map[string]cluster.Node
	jobs    []keptJob
	entries []pair
	tasks   []pair
	results []pair
	words   map[string]string // that very many values have in common
	again   map[*job]*batch
}

// restore builds up what the pairs say, each kind when everything is there that it refers to.
func (x *restorer) restore() error {
	r := x.r
	r.results.last, r.nodes.base = x.meta.ceiling, x.meta.ceiling
	r.results.spilled.inherited, r.results.spilled.durable = x.meta.ceiling, x.meta.ceiling
	x.restoreJobs()
	for _, step := range [...]func() error{x.restoreEntries, x.restoreTasks, x.restoreResults} {
		if err := step(); err != nil {
			return err
		}
	}
	x.closeJobs()
	r.grace = r.cfg.RosterGrace
	r.refreshCandidates()
	r.begins(x.meta)
	for _, name := range sortedKeys(x.workers) {
		if _, used := r.nodes.byName[name]; !used {
			r.journal.drop(workerKey(name))
		}
	}
	return nil
}

// restoreResults puts what nobody has acknowledged back, in order, each as old as it was when the last task ended.
func (x *restorer) restoreResults() error {
	r := x.r
	slices.SortFunc(x.results, byKey)
	for i := range x.results {
		p := &x.results[i]
		var k keptResult
		if err := unpackValue(p.key, p.value, func(p *packer) { p.result(&k) }); err != nil {
			return err
		}
		cursor := cursorOf(p.rest)
		if outcome := k.record.Outcome; cursor < 1 || cursor > x.meta.ceiling || k.record.ID == "" || outcome == cluster.NoOutcome ||
			outcome > cluster.Lost || k.at < 0 || k.at > mostNumber {
			return broken(p.key, "cursor %d of at most %d, task %.80q, outcome %d", cursor, x.meta.ceiling, k.record.ID, k.record.Outcome)
		}
		r.results.last = cursor - 1
		id := strings.Clone(k.record.ID) // the record's is a part of the whole value
		record := r.results.add(time.Duration(k.at), x.word(k.client), id, inJob{x.word(k.in.job), k.in.index})
		*record = k.record
		record.Received = r.receivedAt(cursor, record.Received)
		r.journal.ran = max(r.journal.ran, k.at)
		p.value = nil
		r.results.shrink(&r.results.claimed)
		r.results.shrink(&r.results.others)
	}
	for _, kept := range [...]*shelf{&r.results.claimed, &r.results.others} {
		for _, e := range kept.ring {
			e.at -= time.Duration(r.journal.ran)
		}
	}
	r.results.last = x.meta.ceiling
	return nil
}

// word is s, one copy of it for all.
func (x *restorer) word(s string) string {
	known, ok := x.words[s]
	if !ok {
		known = strings.Clone(s)
		x.words[known] = known
	}
	return known
}

// batch makes a batch again. What experience and profiles say of its tasks is what they say now.
func (x *restorer) batch(key, id string, k *kept) (*batch, error) {
	r := x.r
	b := batch{Kind: k.Kind, auto: k.auto, lists: k.lists, client: x.word(k.client)}
	b.Type, b.Mode = x.word(b.Type), x.word(b.Mode)
	if !amounts(&b.Uniform.Demand) || b.Uniform.Duration < 0 || b.Uniform.Duration > cluster.MaxDuration ||
		!(b.TimeScale >= 1 && b.TimeScale <= cluster.MaxTimeScale) {
		return nil, broken(key, "demand %v, %d ms, time scale %v", b.Uniform.Demand, b.Uniform.Duration, b.TimeScale)
	}
	if b.job = r.jobs.byID[k.job]; b.job == nil && k.job != "" {
		return nil, broken(key, "it belongs to job %.80q, which is missing", k.job)
	}
	if k.digest != "" {
		if b.template = r.templates.byDigest[k.digest]; b.template == nil || b.Type != cluster.CommandType {
			return nil, broken(key, "it runs template %.80q, which is missing, as type %.80q", k.digest, b.Type)
		}
		b.Barred = &b.template.bar.nodes
	} else if b.job != nil || b.lists != 0 {
		return nil, broken(key, "it belongs to job %.80q with %d entries, and has no command", k.job, b.lists)
	}
	r.expectOf(id, &b)
	return &b, nil
}

// expectOf says where the duration comes from that is expected of a batch that is made again.
func (r *Replica) expectOf(id string, b *batch) {
	known := false
	if b.template == nil {
		b.PerClass, known = r.catalog.profile(b.Type, b.Mode)
	}
	x := r.experience
	if x == nil {
		if r.cfg.Estimates == Exact {
			b.Learned = &cluster.Learned{Factor: r.cfg.Foresee(cluster.HashID(id))}
		}
		return
	}
	if b.template == nil {
		x.key = typeKey(x.key, b.Type, b.Mode)
	} else {
		x.key = commandKey(x.key, b.job, b.template)
	}
	if b.named = x.find(); known {
		x.profiled(b.named, &b.Kind)
	}
	b.Learned = &b.named.learned
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// byReceipt has tasks in the order in which they came.
func byReceipt(a, b *task) int {
	return cmp.Or(cmp.Compare(a.received, b.received), strings.Compare(a.spec.ID, b.spec.ID))
}

// began is the earliest moment since which a task waits: not 0, which is never.
const began = time.Nanosecond
