package schedulerd

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"dodoor/internal/cluster"
	"dodoor/internal/rpc"
)

// childOf makes the test binary a scheduler: the address of its data service, and the folder of its journal.
const childOf = "DODOOR_TEST_SCHEDULER"

func TestMain(m *testing.M) {
	if data, folder, child := strings.Cut(os.Getenv(childOf), " "); child {
		beScheduler(data, folder)
	}
	goleak.VerifyTestMain(m)
}

func beScheduler(data, folder string) {
	policy := dodoor(&testing.T{})
	cfg := replicaConfig(data, policy)
	cfg.Journal, cfg.Replica.RosterGrace = folder, time.Minute
	d, err := New(cfg)
	if err != nil {
		fmt.Println("failed:", err)
		os.Exit(1)
	}
	fmt.Println(d.Addr())
	fmt.Println(d.Run(context.Background()))
	os.Exit(1)
}

// startChild starts a scheduler in a process of its own.
func startChild(t *testing.T, data, folder string) (child *exec.Cmd, addr string) {
	t.Helper()
	child = exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), childOf+"="+data+" "+folder)
	out, err := child.StdoutPipe()
	if err == nil {
		err = child.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if addr = strings.TrimSpace(line); err != nil || strings.HasPrefix(addr, "failed") {
		t.Fatal(addr, err)
	}
	return child, addr
}

// However often a scheduler is killed while it accepts tasks, the next one knows all that were acknowledged.
func TestKilledAgainAndAgain(t *testing.T) {
	data := newData(t, "127.0.0.1:0")
	start(t, data)
	startWorker(t, "w1", data.Addr())
	folder := t.TempDir()
	var acknowledged []string
	for round := range 4 {
		child, addr := startChild(t, data.Addr(), folder)
		enough := make(chan struct{})
		var group sync.WaitGroup
		var mu sync.Mutex
		taken := 0
		for client := range 4 {
			group.Go(func() {
				c := rpc.NewSchedulerClient(addr, cluster.Standard(), rpc.Default())
				defer c.Close()
				for i := 0; ; i++ {
					id := fmt.Sprintf("t-%d-%d-%d", round, client, i)
					refused, err := c.Submit(t.Context(), cluster.SubmitRequest{Client: "c", Tasks: []cluster.TaskSpec{spec(id)}})
					switch cluster.CodeOf(err) {
					case cluster.Overloaded: // it has not heard of the worker yet
						continue
					case 0:
						if err != nil {
							return
						}
					}
					if len(refused) > 0 {
						t.Error(refused)
						return
					}
					mu.Lock()
					acknowledged = append(acknowledged, id)
					if taken++; taken == 50*(round+1) {
						close(enough)
					}
					mu.Unlock()
				}
			})
		}
		select {
		case <-enough:
		case <-time.After(30 * time.Second):
			t.Error("no tasks were accepted")
		}
		if err := child.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		group.Wait()
		child.Wait()
	}
	d := newDaemon(t, keeping(t, data.Addr(), folder))
	defer d.record.close()
	defer d.server.Close()
	known := map[string]bool{}
	for _, s := range d.replica.Query(cluster.TaskQuery{Max: 1 << 20}) {
		known[s.ID] = true
	}
	for _, id := range acknowledged {
		if !known[id] {
			t.Errorf("%s was acknowledged, and is gone", id)
		}
	}
}
