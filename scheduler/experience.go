package scheduler

import "dodoor/internal/cluster"

// Bounds of what is kept. At its largest an experience takes about 20 MB: 1,300 bytes for an own entry that has
// everything, 450 for a foreign one, and what their names take.
const (
	ownEntries     = 4096  // of a name on a class
	foreignEntries = 16384 // of a name on a class, by another scheduler
	keptRuns       = 32    // the latest of an own entry; an estimate is of about as many
	perDelta       = 16    // entries in one delta; the others wait for the next one
	sharedWriters  = 1024  // names of other schedulers that entries share
)

// experience is what a replica knows of how long tasks run, by name and class: its own executions, and what other
// schedulers tell of theirs. There is one writer for every entry, and its entries are numbered, so that messages may be
// repeated, lost or overtaken without harm.
type experience struct {
	names          map[string]*named
	oldest, newest *named // of the names with entries, by use
	own, foreign   int    // entries
	changed        []*seen
	number         int64 // of the latest change

	writer    string
	process   int64 // its incarnation
	classes   *Catalog
	otherwise int64 // duration of what nobody knows, milliseconds
	cold      bool  // profiles are not looked at
	silent    bool  // nothing travels: the policy flushes no deltas
	writers   map[string]string
	clock     int64 // the largest stamp heard of

	completions int64
	epoch       int // of the ratios between classes
	next        int64
	ratios      map[[2]cluster.ClassID]float64

	key     []byte // memory of the last lookup
	scratch [keptRuns]int64
	shares  [ratioNames]float64
}

// named is what is known of the tasks of one name.
type named struct {
	name    string
	learned cluster.Learned // what their kinds read
	classes []*onClass      // by ClassID; nil: nothing was seen
	entries int
	said    []said    // of what they need, by writer
	own     *ownNeeds // nil: nothing was seen here
	tasks   int       // open ones: their kinds hold on to it
	typed   bool
	mode    *resolvedMode // of a type with modes: whose profile is the prior
	epoch   int           // of the ratios that learned rests on

	older, newer *named
}

// onClass is what is known of a name on one class.
type onClass struct {
	entries []*seen // by writer; the own one first
	count   int64   // executions, by all of them
	median  int64   // of the newest; 0: none
	usual   int64   // what is expected, milliseconds; 0: nothing
	against int64   // executions since their mean last agreed with the profile
}

// seen is one writer's entry.
type seen struct {
	cluster.Experience
	of    *named
	class cluster.ClassID
	own   *ownRuns // nil: it is another writer's
	at    int      // runs taken, while the newest of all are gathered
}

// ownRuns are the latest executions of an own entry.
type ownRuns struct {
	runs   []cluster.Run // a ring, once it is full
	next   int
	off    float64
	steady float64 // mean of the logarithms of about the latest run times since they last changed
	since  int64   // how many those are
	waits  bool    // for the next delta
}

func newExperience(cfg *Config, classes *Catalog, wants Wants) *experience {
	if !cfg.Estimates.learned() {
		return nil
	}
	return &experience{names: map[string]*named{}, writer: cfg.Name, process: cfg.Incarnation, classes: classes,
		otherwise: cfg.DefaultDuration.Milliseconds(), cold: cfg.Estimates == Cold, silent: wants.Loads == Unread,
		writers: map[string]string{}, next: 1,
		ratios: map[[2]cluster.ClassID]float64{}}
}

// find returns what is known of the name in key, which may be nothing yet.
func (x *experience) find() *named {
	n := x.names[string(x.key)]
	if n == nil {
		name := string(x.key)
		n = &named{name: name, epoch: -1, learned: cluster.Learned{Otherwise: x.otherwise, Overrides: x.cold}}
		x.names[name] = n
	}
	return n
}

// use marks a name as used just now.
func (x *experience) use(n *named) {
	if n.entries == 0 || x.newest == n {
		return
	}
	x.unlink(n)
	n.older = x.newest
	if x.newest != nil {
		x.newest.newer = n
	} else {
		x.oldest = n
	}
	x.newest = n
}

func (x *experience) unlink(n *named) {
	if n.older != nil {
		n.older.newer = n.newer
	} else if x.oldest == n {
		x.oldest = n.newer
	}
	if n.newer != nil {
		n.newer.older = n.older
	} else if x.newest == n {
		x.newest = n.older
	}
	n.older, n.newer = nil, nil
}

// retain counts an open task of a batch. Its name may have been forgotten while none was open.
func (x *experience) retain(b *batch) {
	if x == nil || b.named == nil {
		return
	}
	if known := x.names[b.named.name]; known == nil {
		x.names[b.named.name] = b.named
	} else if known != b.named {
		b.named, b.Learned = known, &known.learned
	}
	b.named.tasks++
}

// release ends what retain began.
func (x *experience) release(b *batch) {
	if x != nil && b.named != nil {
		b.named.tasks--
		x.drop(b.named)
	}
}

// drop forgets a name of which nothing is known, and that no open task has.
func (x *experience) drop(n *named) {
	if n != nil && n.entries == 0 && n.tasks == 0 && x.names[n.name] == n {
		delete(x.names, n.name)
	}
}
