package rpc

import (
	"testing"

	"dodoor/internal/cluster"
	"dodoor/internal/identity"
)

// Users see their own, operators and schedulers all, and so does everybody over plaintext; no other service sees tasks of users.
func TestAskers(t *testing.T) {
	for role, want := range map[identity.Role]cluster.Asker{
		identity.User: {User: "n"}, identity.Operator: {User: "n", All: true}, identity.Scheduler: cluster.Everybody,
		identity.Worker: {}, identity.DataService: {},
	} {
		if got := Asker(WithCaller(t.Context(), identity.Identity{Role: role, Name: "n"})); got != want {
			t.Errorf("%s: %+v", role, got)
		}
	}
	if got := Asker(t.Context()); got != cluster.Everybody {
		t.Errorf("nobody: %+v", got)
	}
	if (cluster.Asker{User: "alice"}).Sees("") || (cluster.Asker{User: "alice"}).Sees("bob") || !(cluster.Asker{User: "alice"}).Sees("alice") {
		t.Error("alice sees another's, or not her own")
	}
}
