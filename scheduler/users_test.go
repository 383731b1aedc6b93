package scheduler

import (
	"encoding/hex"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"dodoor/internal/cluster"
)

// A journal from before there were users is read, and its tasks are nobody's in particular.
func TestJournalsFromBeforeUsers(t *testing.T) {
	text, err := os.ReadFile("testdata/earlier/layout-1.txt")
	if err != nil {
		t.Fatal(err)
	}
	kept := disk{}
	for line := range strings.Lines(string(text)) {
		quoted, err := strconv.QuotedPrefix(line)
		if err != nil {
			t.Fatal(err)
		}
		key, err := strconv.Unquote(quoted)
		if err != nil {
			t.Fatal(err)
		}
		if kept[key], err = hex.DecodeString(strings.TrimSpace(line[len(quoted):])); err != nil {
			t.Fatal(err)
		}
	}
	r := restored(t, keeping(testConfig(), testIncarnation+1, 2*time.Hour), paperPolicy(t), kept)
	list, everybodys := r.Query(cluster.TaskQuery{Max: 100}), r.Query(cluster.TaskQuery{Max: 100, For: cluster.Everybody})
	if len(list) != len(everybodys) || len(list) < 6 {
		t.Errorf("%d of nobody in particular, %d of all", len(list), len(everybodys))
	}
	if alices := r.Query(cluster.TaskQuery{Max: 100, For: cluster.Asker{User: "alice"}}); len(alices) > 0 {
		t.Errorf("%+v", alices)
	}
	for key, value := range keptSample(t) {
		if err := unpackValue(key, append([]byte{2 * byte(layout+1)}, value[1:]...), func(*packer) {}); err == nil ||
			!strings.Contains(err.Error(), "it has layout 3, and this program knows 1 to 2: start a program that is newer") {
			t.Errorf("%q: %v", key, err)
		}
	}
}

// What a worker does not allow one user another may run there.
func TestBarsAreOfOneUser(t *testing.T) {
	r := replicaWith(t, testConfig(), paperPolicy(t), []cluster.Node{nodeOf("a", 8, 1000)})
	of := programOf("x")
	run := func(user string, index int64) (*Actions, *cluster.Refusal) {
		spec := commandOf("", index, of, of.Digest())
		spec.ID, spec.User = user+"."+strconv.FormatInt(index, 10), user
		return r.Submit(0, "client", spec)
	}
	first, refusal := run("alice", 1)
	if refusal != nil {
		t.Fatal(refusal)
	}
	d := first.Send[0]
	r.Acknowledged(0, []Dispatch{d}, &cluster.EnqueueReply{Refused: []cluster.Refusal{{TaskID: d.Assignment.TaskID,
		Number: d.Assignment.Number, Code: cluster.NotAllowed, Message: "not for alice"}}})
	if _, refusal := run("alice", 2); refusal == nil || refusal.Code != cluster.NotAllowed || refusal.Message != "not for alice" {
		t.Errorf("alice's: %+v", refusal)
	}
	if actions, refusal := run("bob", 1); refusal != nil || len(actions.Send) != 1 || actions.Send[0].Assignment.User != "bob" {
		t.Errorf("bob's: %+v, %+v", actions, refusal)
	}
	r.Tick(barredFor)
	if _, refusal := run("alice", 3); refusal != nil {
		t.Errorf("alice's, later: %+v", refusal)
	}
}

// A user's tasks run again as the user's, whoever asks for that, and a job cannot get tasks of another user.
func TestTasksStayTheirUsers(t *testing.T) {
	r := jobReplica(t)
	of := programOf("x")
	spec := commandOf("j", 1, of, of.Digest())
	spec.User = "alice"
	actions, refusal := r.SubmitJob(0, &cluster.Job{ID: "j"}, "", spec)
	if refusal != nil {
		t.Fatal(refusal)
	}
	finish(t, r, 0, actions.Send[0], cluster.Failed)
	again, n, err := r.RetryJob(0, cluster.Asker{User: "carol", All: true}, "j")
	if err != nil || n != 1 || again.Send[0].Assignment.User != "alice" {
		t.Errorf("%d, %v", n, err)
	}
	bobs := commandOf("j", 2, of, of.Digest())
	bobs.User = "bob"
	const want = "there is a job j of another user at this scheduler: give yours another name"
	if _, refusal := r.SubmitJob(0, &cluster.Job{ID: "j"}, "", bobs); refusal == nil || refusal.Message != want {
		t.Errorf("%+v", refusal)
	}
}

// A task of a job does not run again while another user's of the same id has ended here and is still known.
func TestEndedTasksOfOthersKeepTheirIDs(t *testing.T) {
	for user, want := range map[string]int64{"alice": 1, "bob": 0} {
		r := jobReplica(t)
		of := programOf("x")
		spec := commandOf("j", 1, of, of.Digest())
		spec.User = "alice"
		actions, refusal := r.SubmitJob(0, &cluster.Job{ID: "j"}, "", spec)
		if refusal != nil {
			t.Fatal(refusal)
		}
		id := actions.Send[0].Assignment.TaskID
		finish(t, r, 0, actions.Send[0], cluster.Failed)
		r.results.byID[id].user = user // as if alice's had been collected, and the id given anew
		if _, n, err := r.RetryJob(0, cluster.Asker{User: "alice"}, "j"); n != want || err != nil {
			t.Errorf("%s has an ended one: %d, %v", user, n, err)
		}
	}
}
