package nemesis

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"dodoor/chaos"
	"dodoor/internal/cluster"
	"dodoor/sim"
)

// lag is how much longer a run may take by its worker's account than the task's program noted, on a busy machine: the program notes
// its beginning when it runs, which is a while after its start. With a load of 15 on two cores four runs of 7,000 took 2 to 3.2 s longer.
const lag = 5 * time.Second

// slack is how far times may be off in a scenario: a process that is stopped hears of an end when it goes on.
func slack(s *chaos.Scenario) time.Duration {
	most := lag
	for i := range s.Faults {
		if f := &s.Faults[i]; f.How == sim.Stalls {
			most += f.Until - f.At
		}
	}
	return most
}

// noted is what the clients of a scenario that began at start and its tasks have noted, each in its folder.
func noted(s *chaos.Scenario, start int64, clients, ledger string) (chaos.History, error) {
	h := chaos.History{{Kind: chaos.Began, Scenario: s, Slack: slack(s)}}
	var failures []error
	for _, c := range s.Clients {
		told, err := readRecords(filepath.Join(clients, c.Name+".history"))
		h, failures = append(h, told...), append(failures, err)
	}
	for i := range s.Workers {
		ran, err := readLedger(ledger, s.Workers[i].Name, start)
		h, failures = append(h, ran...), append(failures, err)
	}
	return h, errors.Join(failures...)
}

func readRecords(path string) (all chaos.History, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	lines := json.NewDecoder(file)
	for {
		var record chaos.Record
		switch err := lines.Decode(&record); {
		case err == io.EOF:
			return all, nil
		case err != nil:
			return all, fmt.Errorf("%s: %w", path, err)
		}
		all = append(all, record)
	}
}

// readLedger returns the executions at a worker. A worker that has run nothing has no ledger. An execution that has not noted its end
// was killed, with its worker or because it was cancelled: it counts until its last sign of life, of which it gives one every 50 ms. So
// what outlives its worker is seen, and what ran for less than that after its last sign is not.
func readLedger(folder, worker string, start int64) (all chaos.History, err error) {
	file, err := os.Open(filepath.Join(folder, worker+".ledger"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	type run struct {
		task         string
		process, pid int64
	}
	open := map[run]int{}
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var what string
		var about run
		var at int64
		var exit int
		n, _ := fmt.Sscan(lines.Text(), &what, &about.task, &about.process, &about.pid, &at, &exit)
		since := time.Duration(at - start)
		i, begun := open[about]
		switch {
		case what == "start" && n == 5:
			open[about] = len(all)
			all = append(all, chaos.Record{Kind: chaos.Executed, At: since, Task: about.task, Worker: worker, Process: about.process, Start: since,
				End: since})
		case what == "lives" && n == 5 && begun:
			all[i].End = since
		case what == "end" && n == 6 && begun:
			all[i].End, all[i].Exit, all[i].Outcome = since, exit, cluster.Finished.String()
			if exit != 0 {
				all[i].Outcome = cluster.Failed.String()
			}
			delete(open, about)
		default:
			return all, fmt.Errorf("the ledger of %s has a line that nobody understands: %q", worker, lines.Text())
		}
	}
	return all, lines.Err()
}
