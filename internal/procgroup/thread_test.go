package procgroup

import (
	"os"
	"slices"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"dodoor/worker/executor/executortest"
)

// The process's first thread, whose control group is that of the process, is never taken, although there is
// none that would be idle longer.
func TestThreadsOfTheirOwn(t *testing.T) {
	var inside, work sync.WaitGroup
	all := make(chan struct{})
	for range 100 {
		inside.Add(1)
		work.Add(1)
		onThread(func() {
			defer work.Done()
			if unix.Gettid() == os.Getpid() {
				t.Error("the first thread was taken")
			}
			inside.Done()
			<-all // a thread each
		})
	}
	inside.Wait()
	close(all)
	work.Wait()
}

// A thread is there as long as one of its programs, retired or not, and none starts programs once it is retired.
func TestStartersOutliveTheirPrograms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, programs, retired := &nursery{}, map[*starter]int{}, map[*starter]bool{}
		var order []*starter // as they came, so that the same draws mean the same threads
		some := func(t *rapid.T) *starter {
			all := slices.DeleteFunc(slices.Clone(order), func(s *starter) bool { return programs[s] == 0 })
			if len(all) == 0 {
				t.Skip("no thread")
			}
			return rapid.SampledFrom(all).Draw(t, "thread")
		}
		leave := func(s *starter) {
			s.leave()
			if programs[s]--; programs[s] == 0 {
				delete(programs, s)
				if _, open := <-s.work; open {
					t.Fatal("a thread without programs stays")
				}
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"enter": func(t *rapid.T) {
				s := n.enter()
				if retired[s] {
					t.Fatal("a retired thread is to start a program")
				}
				if programs[s]++; !slices.Contains(order, s) {
					order = append(order, s)
				}
			},
			"leave":  func(t *rapid.T) { leave(some(t)) },
			"retire": func(t *rapid.T) { s := some(t); s.retire(); retired[s] = true },
			"": func(t *rapid.T) {
				inUse := 0
				for s := range programs {
					if s.do(func() error { return unix.EAGAIN }) != unix.EAGAIN {
						t.Fatal("a thread does not work")
					}
					if !retired[s] {
						inUse++
					}
				}
				if inUse > 1 {
					t.Fatalf("%d threads for programs", inUse)
				}
			},
		})
		for s, left := range programs {
			for range left {
				leave(s)
			}
		}
	})
}

// The end of a program is not that of its thread, with which the kernel would kill the others.
func TestProgramsOutliveTheirNeighbours(t *testing.T) {
	long := startShell(t, "sleep 1000")
	for range 20 {
		short := startShell(t, "exit 3")
		<-short.Done()
		if code, _ := short.Exit(); code != 3 || short.starter != long.starter {
			t.Fatalf("exit %d, of the same thread: %t", code, short.starter == long.starter)
		}
	}
	if !executortest.Alive(long.pid) {
		t.Error("the neighbour of programs that ended has died")
	}
}
