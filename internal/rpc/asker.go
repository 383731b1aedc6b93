package rpc

import (
	"context"

	"dodoor/internal/cluster"
	"dodoor/internal/identity"
)

// Asker is on whose behalf a request comes: users see their own tasks and jobs, operators and schedulers all, and over plaintext,
// where nobody proves who they are, everybody sees everything. Other services have no business with tasks of users.
func Asker(ctx context.Context) cluster.Asker {
	switch caller := Caller(ctx); caller.Role {
	case identity.User:
		return cluster.Asker{User: caller.Name}
	case identity.Operator:
		return cluster.Asker{User: caller.Name, All: true}
	case identity.None, identity.Scheduler:
		return cluster.Everybody
	}
	return cluster.Asker{}
}
