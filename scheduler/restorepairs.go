package scheduler

import (
	"slices"
	"strings"

	"dodoor/internal/cluster"
)

// pair is a value that others have to be there for.
type pair struct {
	key, rest string // rest is the key less its first letter
	value     []byte
}

func byKey(a, b pair) int { return strings.Compare(a.key, b.key) }

// take keeps a pair for later, or reads it at once.
func (x *restorer) take(key string, value []byte) error {
	x.pairs++
	if key == "" {
		return broken(key, "it is empty")
	}
	rest := key[1:]
	switch key[:1] {
	case keyMeta:
		return x.takeMeta(key, value)
	case keyWorker:
		return x.takeWorker(key, value)
	case keyTemplate:
		return x.takeTemplate(key, value)
	case keyJob:
		return x.takeJob(key, value)
	case keyEntry:
		x.entries = append(x.entries, pair{key, rest, slices.Clone(value)})
	case keyTask:
		x.tasks = append(x.tasks, pair{key, rest, slices.Clone(value)})
	case keyResult:
		x.results = append(x.results, pair{key, rest, slices.Clone(value)})
	default:
		return broken(key, "this program does not know what it means: start a program that is newer")
	}
	return nil
}

func (x *restorer) takeMeta(key string, value []byte) error {
	m := &x.meta
	if err := unpackValue(key, value, func(p *packer) { p.meta(m) }); err != nil {
		return err
	}
	if key != keyMeta || m.lineage < 1 || m.incarnation < m.lineage || m.ceiling < 0 || m.ceiling > mostNumber {
		return broken(key, "lineage %d, incarnation %d, ceiling %d", m.lineage, m.incarnation, m.ceiling)
	}
	return nil
}

// mostNumber is far above any number that is ever given.
const mostNumber = 1 << 60

func (x *restorer) takeWorker(key string, value []byte) error {
	var n cluster.Node
	if err := unpackValue(key, value, func(p *packer) { p.worker(&n) }); err != nil {
		return err
	}
	if n.Name == "" || key != workerKey(n.Name) || n.Incarnation < 1 || n.Slots < 1 || !amounts(&n.Capacity) {
		return broken(key, "worker %.80q, incarnation %d, %d slots, capacity %v", n.Name, n.Incarnation, n.Slots, n.Capacity)
	}
	x.workers[n.Name] = n
	return nil
}

// amounts reports whether all of them are in range.
func amounts(r *cluster.Resources) bool {
	for _, amount := range r {
		if amount < 0 || amount > cluster.MaxAmount {
			return false
		}
	}
	return true
}

func (x *restorer) takeTemplate(key string, value []byte) error {
	shared := &cluster.Template{}
	if err := unpackValue(key, value, func(p *packer) { p.template(shared) }); err != nil {
		return err
	}
	digest := key[1:]
	if err := shared.Check(); err != nil || digest != shared.Digest() {
		return broken(key, "it is not the template of this digest (%v)", err)
	}
	t := x.r.templates.find(&cluster.Command{Digest: digest, Template: shared})
	t.kept = true
	return nil
}

func (x *restorer) takeJob(key string, value []byte) error {
	var j keptJob
	if err := unpackValue(key, value, func(p *packer) { p.job(&j) }); err != nil {
		return err
	}
	if j.ID == "" || key != jobKey(j.ID) {
		return broken(key, "it is about job %.80q", j.ID)
	}
	x.jobs = append(x.jobs, j)
	return nil
}
