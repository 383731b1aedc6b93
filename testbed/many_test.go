package testbed

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// crowd counts the processes of ssh that are there at once. It lets those of one round go when the round is full, so a script
// that starts fewer at once than it may never ends.
type crowd struct {
	mu         sync.Mutex
	live, most int
	all        int // since the last look
	round      int // how many there are in one; 0: nobody waits
	expected   int // that have not begun
	rounds     int
	waiting    []chan struct{}
}

// begin takes note of a process, and returns what it has to wait for.
func (c *crowd) begin() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.live++
	c.all++
	c.most = max(c.most, c.live)
	c.waiting = append(c.waiting, make(chan struct{}))
	mine := c.waiting[len(c.waiting)-1]
	if len(c.waiting) < min(c.round, c.expected) {
		return mine
	}
	for _, other := range c.waiting {
		close(other)
	}
	c.expected -= len(c.waiting)
	c.rounds++
	c.waiting = nil
	return mine
}

func (c *crowd) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.live--
}

// look returns what was counted so far, the processes since the last look. From now on nobody waits for a round to be full.
func (c *crowd) look() (rounds, all, most int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	all = c.all
	c.all, c.round = 0, 0
	return c.rounds, all, c.most
}

// serve talks to one process: it says that it has begun, is told to go on, says that it is about to end, and ends when that is
// noted. So nobody counts as gone who is there.
func (c *crowd) serve(connection net.Conn) {
	defer connection.Close()
	lines := bufio.NewScanner(connection)
	if lines.Scan() {
		<-c.begin()
		fmt.Fprintln(connection, "go on")
		lines.Scan()
		c.end()
		fmt.Fprintln(connection, "noted")
	}
}

// fakeSSH is an ssh that reaches nobody. It answers as a host does on which everything is well.
const fakeSSH = `exec 3<>/dev/tcp/%s
echo begin >&3 && read -r line <&3
case "${*//"'"/}" in
*uname*) echo "$(uname -sm | tr ' ' _) 99999999" ;;
*'host check -host'*[0-9]\ ) echo "clock $(date +%%s%%3N)" ;;
*'host status'*) echo '{"running":true}' ;;
esac
echo end >&3 && read -r line <&3`

// A hundred hosts are worked on in rounds of as many as the inventory allows, and never more at once.
func TestAHundredHosts(t *testing.T) {
	const hosts, parallel = 100, 16
	l := without(t)
	l.build(l.binary, "one")
	var all []labHost
	for i := range hosts {
		all = append(all, labHost{name: fmt.Sprintf("node-%d", i+1), address: fmt.Sprintf("10.0.0.%d", i+1)})
	}
	l.inventory(all, work+fmt.Sprintf("[cluster]\nparallel = %d\n", parallel))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &crowd{round: parallel, expected: hosts}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			serving.Go(func() { c.serve(connection) })
		}
	})
	defer serving.Wait()
	defer listener.Close()
	ssh := l.script("ssh", fmt.Sprintf(fakeSSH, strings.Replace(listener.Addr().String(), ":", "/", 1)))
	begin := time.Now()
	output, code := l.clusterAs(ssh, l.binary, "status")
	rounds, _, most := c.look()
	if want := (hosts + parallel - 1) / parallel; code != 0 || strings.Count(output, `"running":true`) != hosts || rounds != want {
		t.Errorf("exit code %d after %d rounds, want %d\n%s", code, rounds, want, output)
	}
	t.Logf("%d hosts in %d rounds took %v", hosts, rounds, time.Since(begin).Round(time.Millisecond))
	for _, verb := range []string{"doctor", "up"} {
		begin := time.Now()
		output, code := l.clusterAs(ssh, l.binary, verb)
		var all int
		if _, all, most = c.look(); code != 0 || all < hosts {
			t.Errorf("%s: exit code %d after %d connections\n%s", verb, code, all, output)
		}
		t.Logf("%s: %d connections in %v", verb, all, time.Since(begin).Round(time.Millisecond))
	}
	if most != parallel {
		t.Errorf("%d at once, want %d", most, parallel)
	}
}

// A command on a host takes as long as it takes, and its exit code comes back; everything else has a time limit.
func TestOnlyRunTakesItsTime(t *testing.T) {
	l := without(t)
	l.build(l.binary, "one")
	plaintext := strings.Replace(work, `"certs"`, `""`, 1)
	l.inventory([]labHost{{name: "node-1", address: "10.0.0.1"}}, plaintext+"[cluster]\nssh_timeout = \"1s\"\n")
	ssh := l.script("ssh", `case "${*//"'"/}" in
*'host run -- nodes -conf cluster.toml -plain '*) sleep 2 && echo "node-1 is there" && exit 3 ;;
*'host status'*) exec sleep 60 ;;
*find*) exec tar -cf - -T /dev/null ;;
esac`)
	if output, code := l.clusterAs(ssh, l.binary, "run", "-from", "node-1", "-out", t.TempDir(), "--", "nodes", "-plain"); code != 3 ||
		output != "node-1 is there\n" {
		t.Errorf("exit code %d\n%s", code, output)
	}
	late := "node-1: it did not answer within 1 s: is the host up, and its sshd?\n"
	if output, code := l.clusterAs(ssh, l.binary, "status"); code != 1 || output != late {
		t.Errorf("exit code %d\n%s", code, output)
	}
}

func TestWrongUsage(t *testing.T) {
	l := without(t)
	l.build(l.binary, "one")
	l.inventory([]labHost{{name: "node-1", address: "10.0.0.1"}}, work)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"frob"}, "no verb is called frob"},
		{[]string{"up", "-frob"}, "no flag is called -frob"},
		{[]string{"up", "node-1"}, "up is for all hosts: leave out node-1"},
		{[]string{"up", "-allow-missing", "some"}, "-allow-missing needs a number, found some"},
		{[]string{"up", "-from", "node-1"}, "-from is for run"},
		{[]string{"drain"}, "which host: scripts/cluster drain"},
		{[]string{"drain", "node-9"}, "the inventory has no host node-9: there are node-1"},
		{[]string{"run"}, "what to run: "},
		{[]string{"run", "node-1", "--", "nodes"}, "to run it on node-1: -from node-1"},
		{[]string{"run", "-from", "node-9", "--", "nodes"}, "the inventory has no host node-9: there are node-1"},
	} {
		if output, code := l.clusterAs("false", l.binary, c.args[0], c.args[1:]...); code != 2 || !strings.Contains(output, c.want) {
			t.Errorf("%v: exit code %d\n%s", c.args, code, output)
		}
	}
}
