package keeper

import (
	"os"
	"runtime"
	"sync"

	"dodoor/internal/procfs"
)

// earlier are the descendants that this process had before it had a child, by number: a shell that becomes a command leaves
// it some. They are none of a worker's.
var earlier map[int]string

// noteEarlier notes them. What the last of them leave, once they are gone, cannot be told from what a worker left.
func noteEarlier() {
	if reap(mostReaped) {
		return // the rule
	}
	earlier = map[int]string{}
	var visit func(pid int)
	visit = func(pid int) {
		children, _ := procfs.Children(pid) // none, if it has just ended
		for _, child := range children {
			if identity, err := procfs.Identity(child); err == nil {
				earlier[child] = identity
			}
			visit(child)
		}
	}
	visit(os.Getpid())
}

func spared(pid int) bool {
	noted, is := earlier[pid]
	if !is {
		return false
	}
	now, err := procfs.Identity(pid)
	return err == nil && now == noted
}

// mostThreads is more than a keeper needs at a time.
const mostThreads = 8

// reserve has Go start all threads that this process will need: among processes that multiply there may be no room for one
// more, and Go ends without it.
func reserve() {
	runtime.GOMAXPROCS(1)
	var started, ended sync.WaitGroup
	release := make(chan struct{})
	for range mostThreads {
		started.Add(1)
		ended.Go(func() {
			runtime.LockOSThread() // so that each takes one of its own, which stays for others
			defer runtime.UnlockOSThread()
			started.Done()
			<-release
		})
	}
	started.Wait()
	close(release)
	ended.Wait()
}
