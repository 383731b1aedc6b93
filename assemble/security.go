package assemble

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"

	"dodoor/conf"
	"dodoor/internal/identity"
	"dodoor/internal/procgroup"
)

// ErrBundle is of a service that cannot prove who it is. Its certificate may be renewed, so that it can later.
var ErrBundle = errors.New("security.folder")

// ServiceBundle opens the bundle of a service of a role: of the name under which the inventory has it or, if that is empty, of the one in
// its own section. It returns nil for plaintext. The bundle must be that of its role and name, whom all others will take it for.
func ServiceBundle(c *conf.Config, role, service string) (*identity.Bundle, error) {
	name := cmp.Or(service, nameOf(c, role))
	kind, err := identity.ParseRole(role)
	if err != nil {
		return nil, err
	}
	id := identity.Identity{Role: kind, Name: name}
	b, err := open(c, id)
	if b == nil || err != nil {
		return nil, err
	}
	if err := id.Admits(b.Own()); err != nil {
		return nil, fmt.Errorf("%w: %s has another's bundle: %w", ErrBundle, b.Folder(), err)
	}
	return b, nil
}

// CommandBundle opens the bundle of who runs commands. It returns nil for plaintext.
func CommandBundle(c *conf.Config) (*identity.Bundle, error) {
	b, err := open(c, identity.Identity{Role: identity.Operator, Name: c.Security.User})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w, or name who has one with -set security.user=NAME", err)
	}
	return b, err
}

// open reads the bundle of a name. Of the identity it takes the name alone, and the role for what it says where there is none.
func open(c *conf.Config, id identity.Identity) (*identity.Bundle, error) {
	folder := c.Security.Bundle(id.Name)
	if folder == "" {
		return nil, nil
	}
	if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: no bundle of the %s (%w): make it with `dodoor certs issue %s %s -out %s`", ErrBundle, id, err,
			id.Role, id.Name, c.Security.Folder)
	}
	b, err := identity.Open(folder, c.Security.Domain)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBundle, err)
	}
	return b, nil
}

// exposes checks that a service of a role serves nobody in plaintext who reaches it from elsewhere, unless that is wanted: then it says so.
func exposes(c *conf.Config, role string, log *slog.Logger) error {
	listen := listenOf(c, role)
	if err := c.Security.Permits(role+".listen", listen); err != nil {
		return err
	}
	if c.Security.Folder == "" && !conf.Loopback(listen) {
		log.Warn("plaintext: whoever reaches this address may do anything, since security.insecure is true and security.folder is empty",
			"service", role, "listen", listen)
	}
	return nil
}

// readable warns where tasks could read the bundle of their worker, since they are programs that run as its account.
func readable(c *conf.Config, log *slog.Logger) error {
	if c.Security.Folder == "" || !slices.ContainsFunc(Executors(c), programs) {
		return nil
	}
	user, err := procgroup.FindUser(c.Process.User)
	if err != nil {
		return fmt.Errorf("process.user: %w", err)
	}
	if user == nil {
		log.Warn("tasks run as this worker's account and can read its key: run the worker as root, with process.user as another, or use "+
			"containers", "worker", c.Worker.Name, "folder", c.Security.Bundle(c.Worker.Name))
	}
	return nil
}

func listenOf(c *conf.Config, role string) string {
	switch role {
	case conf.RoleScheduler:
		return c.Scheduler.Listen
	case conf.RoleWorker:
		return c.Worker.Listen
	}
	return c.Datastore.Listen
}

// watch has a bundle follow its files until it is told to stop, which it then has.
func watch(b *identity.Bundle, log *slog.Logger) (stop func()) {
	if b == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		b.Watch(ctx, log)
	}()
	return func() {
		cancel()
		<-ended
	}
}
