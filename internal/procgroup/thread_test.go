package procgroup

import (
	"os"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
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
