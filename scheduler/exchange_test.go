package scheduler

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"dodoor/internal/cluster"
)

// told is what a table shows of its entries, without what is of the process alone.
func (x *experience) told() []string {
	var list []string
	for _, n := range x.names {
		for class, on := range n.classes {
			if on == nil {
				continue
			}
			for _, s := range on.entries {
				list = append(list, fmt.Sprint(n.name, x.classes.names[class], s.Scheduler, s.Incarnation, s.Number, s.Count, s.Runs, s.Off,
					s.SteadyLog, s.SteadyRuns))
			}
			list = append(list, fmt.Sprint(n.name, x.classes.names[class], on.count, on.median, on.usual))
		}
	}
	slices.Sort(list)
	return list
}

// Whatever order messages come in, and however often, the table is the one that the newest entries make: those of the
// newest process of every writer, of which those with the largest number. What a process goes on from is what was told before
// its first own run.
func TestTheOrderOfMessagesDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		written := map[string]cluster.Experience{} // by writer, process, name, class and number: all that was ever said
		for range rapid.IntRange(1, 20).Draw(t, "entries") {
			e := cluster.Experience{Scheduler: rapid.SampledFrom([]string{"me", "s2", "s3"}).Draw(t, "writer"),
				Incarnation: rapid.Int64Range(1, 3).Draw(t, "process"), Name: rapid.SampledFrom([]string{"k", "l"}).Draw(t, "name"),
				Class: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "class"), Number: rapid.Int64Range(1, 3).Draw(t, "number")}
			if e.Scheduler == "me" && e.Incarnation < 3 && e.Name == "k" && e.Class == "a" {
				e.Name = "l"
			}
			e.Count = e.Number
			e.SteadyRuns = rapid.Int64Range(0, cluster.MaxSteady).Draw(t, "steady runs")
			e.SteadyLog = rapid.Int64Range(0, 9999).Draw(t, "log")
			for i := range e.Number {
				e.Runs = append(e.Runs, cluster.Run{Took: rapid.Int64Range(1, 9).Draw(t, "took"), At: 10*e.Incarnation + e.Number - i})
			}
			key := fmt.Sprint(e.Scheduler, e.Incarnation, e.Name, e.Class, e.Number)
			if _, said := written[key]; !said {
				written[key] = e
			}
		}
		var all []cluster.Experience
		for _, e := range written {
			all = append(all, e)
		}
		slices.SortFunc(all, func(a, b cluster.Experience) int { return slices.Compare([]byte(fmt.Sprint(a)), []byte(fmt.Sprint(b))) })
		want := tableOf(t, "me", 3, Learned)
		want.runs("k", "a", 5)
		for _, e := range all { // the dumb oracle: of each entry the newest, once
			newest := e.Scheduler != "me" || e.Incarnation < 3
			for _, o := range all {
				same := o.Scheduler == e.Scheduler && o.Name == e.Name && o.Class == e.Class
				newer := o.Incarnation > e.Incarnation || o.Incarnation == e.Incarnation && o.Number > e.Number
				newest = newest && !(same && newer && (o.Scheduler != "me" || o.Incarnation < 3))
			}
			if newest {
				want.merge([]cluster.Experience{e})
			}
		}
		x := tableOf(t, "me", 3, Learned)
		order := rapid.Permutation(all).Draw(t, "order")
		ran := rapid.IntRange(0, len(order)).Draw(t, "the own run comes")
		x.merge(order[:ran])
		x.runs("k", "a", 5)
		x.merge(order[ran:])
		x.merge(rapid.SliceOf(rapid.SampledFrom(all)).Draw(t, "again"))
		if got, want := x.told(), want.told(); !slices.Equal(got, want) {
			t.Fatalf("%q, want %q", got, want)
		}
	})
}

// About 32 values make an estimate, the newest of all writers: 32 of a single one, 8 of each of four, one of each of the 32
// newest of a hundred.
func TestTheNewestOfAllWriters(t *testing.T) {
	for _, c := range []struct{ writers, each, want int64 }{{4, 8, 8}, {5, 8, 6}, {16, 2, 2}, {100, 1, 1}} {
		x := tableOf(t, "me", 1, Learned)
		for w := range c.writers {
			e := cluster.Experience{Scheduler: fmt.Sprintf("s%03d", w), Incarnation: 1, Name: "k", Class: "a", Number: 1, Count: c.each}
			for i := range c.each {
				e.Runs = append(e.Runs, cluster.Run{Took: 1000*w + i + 1, At: 1000 - 10*i + w%10})
			}
			x.merge([]cluster.Experience{e})
		}
		used, of := map[int64]int64{}, x.newest32(x.names["k"].classes[x.classes.Class("a")])
		for _, took := range of {
			used[took/1000]++
		}
		if int64(len(of)) != min(keptRuns, c.writers*c.each) {
			t.Errorf("%d writers: %d values", c.writers, len(of))
		}
		for w, n := range used {
			if n < c.want || n > c.want+1 {
				t.Errorf("%d writers: %d values of writer %d, want about %d", c.writers, n, w, c.want)
			}
		}
	}
	x := tableOf(t, "me", 1, Learned)
	x.runs("k", "a", slow(100, 1)...)
	if n := len(x.newest32(x.names["k"].classes[x.classes.Class("a")])); n != keptRuns {
		t.Errorf("a single writer: %d values", n)
	}
}

// exchange is replicas of one cluster whose deltas and snapshots may be lost.
type exchange struct {
	tables []*experience
	known  []cluster.Experience // newest first come
}

// flush lets a replica tell; lost: nobody hears, and the replica knows.
func (e *exchange) flush(i int, lost bool) {
	said := e.tables[i].take()
	if lost {
		e.tables[i].untaken(said)
		return
	}
	e.known = append(e.known, said...)
}

func (e *exchange) push() {
	for _, x := range e.tables {
		x.merge(e.known)
	}
	e.known = nil
}

// Five replicas take turns with the tasks of a name, a delta after every 8 and a snapshot after every 100 of the cluster's
// decisions: 50 executions of the name after it takes twice as long, one class in four, everybody knows.
func TestAChangeIsFollowedWithinFiftyExecutions(t *testing.T) {
	for _, names := range []int{4, 8} { // of so many names that are run in turn
		e := &exchange{}
		for i := range 5 {
			e.tables = append(e.tables, tableOf(t, fmt.Sprint("s", i), 1, Cold))
		}
		decisions, ended := int64(0), make([]int, names)
		took := func(name int) int64 {
			if ended[name] >= 200 {
				return 2000
			}
			return 1000
		}
		for ended[0] < 250 {
			x := e.tables[decisions%5]
			name := int(decisions/5) % names
			ended[name]++
			x.ran(x.name(fmt.Sprint("n", name)), x.classes.Class("a"), took(name), 0, decisions-decisions%100)
			decisions++
			if decisions/5%8 == 0 {
				e.flush(int(decisions%5), false)
			}
			if decisions%100 == 0 {
				e.push()
			}
			if ended[0] == 200 {
				for _, x := range e.tables {
					x.want(t, "n0", "a", 1000)
				}
			}
		}
		for _, x := range e.tables {
			x.want(t, "n0", "a", 2000)
		}
	}
}

// A delta carries a bounded number of entries; the others wait. What a lost one carried travels with a later one, and what
// a data service lost that was restarted.
func TestALostDeltaIsHealed(t *testing.T) {
	e := &exchange{tables: []*experience{tableOf(t, "s1", 1, Learned), tableOf(t, "s2", 1, Learned)}}
	for i := range 3*perDelta - 1 {
		e.tables[0].runs(fmt.Sprint("n", i), "a", int64(i+1))
	}
	lost := e.tables[0].take()
	e.tables[0].runs("n3", "a", 100, 100)
	e.tables[0].untaken(lost)
	if len(lost) != perDelta {
		t.Errorf("%d entries in a delta, want %d", len(lost), perDelta)
	}
	for range 3 {
		e.flush(0, false)
	}
	if more := e.tables[0].take(); more != nil {
		t.Errorf("%d entries travel twice", len(more))
	}
	e.push()
	for i := range 3*perDelta - 1 {
		want := int64(i + 1)
		if i == 3 {
			want = 100
		}
		e.tables[1].want(t, fmt.Sprint("n", i), "a", want)
	}
	e.tables[0].shareAll()
	n := 0
	for said := e.tables[0].take(); said != nil; said = e.tables[0].take() {
		n += len(said)
	}
	if n != 3*perDelta-1 {
		t.Errorf("a data service that was restarted hears of %d entries", n)
	}
}

// What a forgotten entry had to say does not travel, and its successor's number is higher.
func TestNumbersNeverGoBack(t *testing.T) {
	x := tableOf(t, "s1", 1, Learned)
	x.runs("k", "a", 1, 2)
	x.lose(x.name("k"), true, true)
	if said := x.take(); len(said) != 0 {
		t.Errorf("%+v", said)
	}
	x.runs("k", "a", 3)
	if said := x.take(); len(said) != 1 || said[0].Number != 3 || len(said[0].Runs) != 1 {
		t.Errorf("%+v", said)
	}
}

// A replica that was restarted knows what its former process knew, and goes on from there.
func TestARestartedReplicaInherits(t *testing.T) {
	x := tableOf(t, "s1", 2, Learned)
	former := cluster.Experience{Scheduler: "s1", Incarnation: 1, Name: "k", Class: "a", Number: 9, Count: 40,
		Runs: []cluster.Run{{Took: 5, At: 1000}, {Took: 6, At: 999}}, Off: 300, Cores: 150, Memory: 70, SteadyLog: 1500, SteadyRuns: 40}
	current := former
	current.Name, current.Incarnation = "l", 2
	x.merge([]cluster.Experience{former, current})
	x.want(t, "k", "a", 5)
	x.want(t, "l", "a", 10_000) // nobody else writes for this process
	x.runs("k", "a", 7)
	x.want(t, "k", "a", 6)
	if x.own != 1 || x.foreign != 0 || x.names["k"].entries != 1 {
		t.Errorf("%d own, %d foreign entries", x.own, x.foreign)
	}
	if cores, memory := x.names["k"].needs(); cores != 150 || memory != 70 {
		t.Errorf("needs %d, %d", cores, memory)
	}
	said := x.take()[0]
	if said.Incarnation != 2 || said.Count != 41 || said.Off != 300 || said.SteadyRuns != 41 || len(said.Runs) != 3 ||
		said.Runs[0].At < 1000 || said.Runs[2] != former.Runs[1] {
		t.Errorf("%+v", said)
	}
}

// A policy that flushes nothing keeps nothing to tell.
func TestWhoFlushesNothingLearnsAlone(t *testing.T) {
	classes := NewCatalog(nil, time.Second)
	classes.Class("a")
	x := newExperience(&Config{Name: "s1", Estimates: Learned}, classes, Wants{Loads: Unread})
	x.runs("k", "a", 5)
	x.want(t, "k", "a", 5)
	if len(x.changed) != 0 || x.take() != nil {
		t.Error("it has something to tell")
	}
}

// Of merged deltas the newest word about each entry is said, once.
func TestMergedDeltasSayEachEntryOnce(t *testing.T) {
	entry := func(name string, number int64) cluster.Experience {
		return cluster.Experience{Name: name, Class: "a", Number: number}
	}
	merged := Merge([]*cluster.Delta{{Experience: []cluster.Experience{entry("k", 1), entry("l", 2)}}, {},
		{Experience: []cluster.Experience{entry("k", 3)}}})
	if got := fmt.Sprint(merged.Experience); got != fmt.Sprint([]cluster.Experience{entry("k", 3), entry("l", 2)}) {
		t.Error(got)
	}
}
