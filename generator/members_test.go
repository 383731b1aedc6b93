package generator

import (
	"strings"
	"testing"
	"time"

	"dodoor/internal/cluster"
)

// Patience is with those that are registered: who left takes nothing, who came back does.
func TestPatienceIsWithTheMembers(t *testing.T) {
	a, b, elsewhere := named("a"), named("b"), cluster.SchedulerRef{Name: "b", Address: "elsewhere", Incarnation: 2}
	c := expecting(2, 2, nil)
	c.PollFailed(time.Second, 1, Gone, errTest)
	c.Members(time.Second, []cluster.SchedulerRef{a, elsewhere})
	if drop := c.PollFailed(time.Second, 1, Gone, errTest).Drop; len(drop) != 1 || drop[0] != 1 {
		t.Fatalf("drops %v, want the one that left", drop)
	}
	c.PollFailed(2*time.Second, 0, Gone, errTest)
	if got := c.PollFailed(3*time.Second, 2, Gone, errTest).Wake; got != 3*time.Second+defaultPatience {
		t.Errorf("nobody is left: wakes at %v", got)
	}
	if got := c.Members(4*time.Second, []cluster.SchedulerRef{a, b}).Wake; got != Never {
		t.Errorf("one came back: wakes at %v", got)
	}
	sends(t, c.Submit(4*time.Second, 0, 1), "b[0]") // one at a time
}

// Why no scheduler takes tasks is what one said that is registered.
func TestReasonOfAMember(t *testing.T) {
	c := expecting(1, 1, nil)
	c.Members(time.Second, []cluster.SchedulerRef{{Name: "a", Address: "elsewhere", Incarnation: 2}})
	c.PollFailed(time.Second, 1, Gone, errTest)
	actions := c.Tick(time.Second + defaultPatience)
	if len(actions.Ended) != 1 || !strings.Contains(actions.Ended[0].Reason, errTest.Error()) {
		t.Errorf("ended %+v", actions.Ended)
	}
}

// With a share for the first scheduler, the first that is registered has it.
func TestSharesAreThoseOfMembers(t *testing.T) {
	c := expecting(3, 0, func(cfg *ClientConfig) { cfg.Skew = 0.5 })
	c.Members(0, []cluster.SchedulerRef{named("b"), named("c"), {Name: "a", Address: "elsewhere", Incarnation: 2}})
	var got [4]int
	for i := range int32(100) {
		got[c.preferred(i)]++
	}
	if want := [4]int{0, 50, 25, 25}; got != want {
		t.Errorf("shares %v, want %v", got, want)
	}
}

// A poll of who joined does not wait: it asks first which process that is.
func TestFirstPollOfAMember(t *testing.T) {
	c := expecting(1, 0, nil)
	actions := c.Members(time.Second, []cluster.SchedulerRef{named("a"), named("b")})
	if len(actions.Poll) != 1 || actions.Poll[0] != (Poll{Scheduler: 1, At: time.Second, Max: pollMax}) {
		t.Errorf("polls %+v", actions.Poll)
	}
}
