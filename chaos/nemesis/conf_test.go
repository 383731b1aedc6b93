package nemesis

import (
	"fmt"
	"strings"
	"time"

	"dodoor/chaos"
)

// port is where every service listens, each at its own address. A proxy in front of one listens behind it.
const port = 20500

// tempo is how soon services and clients notice that somebody does not answer.
type tempo struct {
	Dial time.Duration `json:"dial"` // timeout
	Call time.Duration `json:"call"` // likewise
	Beat time.Duration `json:"beat"` // between two reports of an idle worker
}

// Impatient services show in some seconds what takes minutes in a calm cluster. An emulated machine is too slow for that.
var (
	hasty = tempo{300 * time.Millisecond, 700 * time.Millisecond, 200 * time.Millisecond}
	calm  = tempo{3 * time.Second, 6 * time.Second, time.Second}
)

// settings are those of one service.
const settings = `
[scheduler]
listen = "ADDRESS"
name = "NAME"
policy = "POLICY"
replicas = SCHEDULERS
b_delta = 1
max_staleness = "100ms"
node_grace = "GRACE"
drain_timeout = "2s"
probe_timeout = "PROBE"
JOURNAL

[datastore]
listen = "DATA"
b = 4
max_staleness = "100ms"
node_timeout = "SILENCE"

[worker]
listen = "ADDRESS"
name = "NAME"
class = "CLASS"
executor = "process"
heartbeat = "BEAT"
drain_timeout = "2s"

[rpc]
dial_timeout = "DIAL"
call_timeout = "CALL"

# Clocks jump here by more than a certificate allows for, and packets are cut below TLS all the same.
[security]
insecure = true

[process]
allow = ["TASK"]
cgroup = "off"
`

// setup is what distinguishes a service from the others of a scenario.
type setup struct {
	name, class   string // class: of a worker, or any
	address, data string // hosts: its own, and the data service's
	task          string // the program that tasks run
	tempo         tempo
}

// conf is its configuration.
func (u *setup) conf(s *chaos.Scenario) string {
	journal := ""
	if s.Shape.Journal {
		journal = fmt.Sprintf("journal = %q", disk)
	}
	listen := func(host string) string { return fmt.Sprintf("%s:%d", host, port) }
	text := strings.NewReplacer("ADDRESS", listen(u.address), "DATA", listen(u.data), "NAME", u.name, "CLASS", u.class, "TASK", u.task,
		"POLICY", s.Policy, "SCHEDULERS", fmt.Sprint(s.Schedulers), "JOURNAL", journal, "DIAL", u.tempo.Dial.String(),
		"CALL", u.tempo.Call.String(), "BEAT", u.tempo.Beat.String(), "GRACE", (3 * u.tempo.Beat).String(),
		"SILENCE", (5 * u.tempo.Beat).String(), "PROBE", (u.tempo.Beat / 2).String()).Replace(settings)
	seen := map[string]bool{}
	for i := range s.Workers {
		if w := &s.Workers[i]; !seen[w.Class] {
			seen[w.Class] = true
			text += fmt.Sprintf("\n[[class]]\nname = %q\ncores = %g\nmemory_mb = %d\nslots = %d\n", w.Class, float64(w.Cores)/1000, w.Memory,
				w.Slots)
		}
	}
	return text
}
