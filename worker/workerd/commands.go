package workerd

import (
	"context"

	"dodoor/internal/cluster"
)

// Refuses says why this worker would not run a command.
func (d *Daemon) Refuses(context.Context, cluster.Template) (string, error) { return "", nil }

// Output returns part of what a task printed.
func (d *Daemon) Output(context.Context, cluster.OutputRequest) (cluster.OutputChunk, error) {
	return cluster.OutputChunk{}, nil
}

// ForgetJob removes what the tasks of a job printed.
func (d *Daemon) ForgetJob(context.Context, string) error { return nil }
