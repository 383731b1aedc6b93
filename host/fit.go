package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"slices"
	"time"

	"dodoor/assemble"
	"dodoor/conf"
	"dodoor/internal/cgroup"
	"dodoor/internal/cluster"
	"dodoor/worker/executor/confine"
)

// Check finds what would keep this host's services from working, and prints it. It fails where there is a problem.
func (a *Agent) Check() error {
	if err := a.StopAnswering(); err != nil {
		return err
	}
	// Who asks knows when the question went out and when the answer came.
	fmt.Fprintln(a.Out, "clock", time.Now().UnixMilli())
	return a.tell(slices.Concat(CheckFolder(a.Folder), CheckPorts(a.Folder, a.addresses()), a.checkSecurity(time.Now()), a.checkWorker()))
}

// Reach dials every service of other hosts, and prints those that do not answer. It fails where there are some.
func (a *Agent) Reach(ctx context.Context, hosts []string) error {
	var others []string
	for _, s := range a.c.Services() {
		if s.Host.Name != a.Host && slices.Contains(hosts, s.Host.Name) {
			others = append(others, s.Dial())
		}
	}
	return a.tell(CheckReach(ctx, others))
}

func (a *Agent) tell(found []Finding) error {
	problems := 0
	for _, f := range found {
		kind := "problem"
		if f.Warning {
			kind = "warning"
		} else {
			problems++
		}
		fmt.Fprintf(a.Out, "%s: %s: %s\n", kind, f.Problem, f.Remedy)
	}
	if problems > 0 {
		return fmt.Errorf("problems found: %d", problems)
	}
	return nil
}

// addresses are where this host's services listen.
func (a *Agent) addresses() map[string]string {
	all := map[string]string{}
	for _, s := range a.services {
		all[s.Name] = s.Listen()
	}
	return all
}

// checkWorker checks what this host's worker needs to run its tasks.
func (a *Agent) checkWorker() []Finding {
	s, err := a.c.Service(conf.RoleWorker, a.Host)
	if err != nil {
		return nil // no worker here
	}
	c := a.c.As(s)
	required := c.Process.Cgroup == confine.Required
	if required {
		c.Process.Cgroup = confine.Auto // whether there are limits here is one question, whether it matters another
	}
	var found []Finding
	real := false
	for _, name := range assemble.Executors(c) {
		e, err := assemble.Executor(name, c, slog.New(slog.DiscardHandler))
		if err != nil {
			found = append(found, Finding{Problem: fmt.Sprintf("executor %s: %v", name, err), Remedy: "install it, or set worker.executor"})
			continue
		}
		real = real || !e.Emulates()
		found = append(found, a.unlimited(e.Unlimited(), required)...)
		if err := e.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
			found = append(found, Finding{Problem: fmt.Sprintf("executor %s: %v", name, err), Remedy: "see the message", Warning: true})
		}
	}
	if class, ok := c.Class(c.Worker.Class); ok && real {
		found = append(found, tooSmall(class)...)
	}
	return found
}

// unlimited judges why tasks would have no limits, if there is a reason: a problem only where the limits are required.
func (a *Agent) unlimited(reason error, required bool) []Finding {
	if reason == nil || a.elsewhere(reason) {
		return nil
	}
	return []Finding{{Problem: fmt.Sprintf("tasks may take more than their demand: %v", reason),
		Remedy: "run as root, or with a delegated control group", Warning: !required}}
}

// elsewhere reports whether what keeps this process from making control groups is where it runs, and the worker will run in a
// unit of systemd, which has a group of its own.
func (a *Agent) elsewhere(reason error) bool {
	_, err := os.Stat(a.systemd.booted)
	return errors.As(reason, &cgroup.PlaceError{}) && err == nil && a.c.Cluster.Supervision != conf.SupervisionOwn
}

// tooSmall compares a class with what the machine has.
func tooSmall(class conf.Class) []Finding {
	own, err := cgroup.Own("/", runtime.NumCPU())
	capacity := class.Capacity(cluster.Standard())
	if err != nil || capacity[cluster.Memory] <= own.Memory>>20 && capacity[cluster.Cores] <= own.Millicores {
		return nil
	}
	return []Finding{{
		Problem: fmt.Sprintf("it has %v cores and %d MiB, class %s says %v and %d", float64(own.Millicores)/1000, own.Memory>>20,
			class.Name, class.Cores, class.MemoryMB),
		Remedy: `set host.class to another one, or to "auto"`, Warning: true,
	}}
}
