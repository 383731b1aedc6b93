package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"dodoor/conf"
	"dodoor/internal/cluster"
	"dodoor/internal/identity"
	"dodoor/internal/identity/authority"
)

func (o *certsCommand) create() int {
	a, err := authority.Create(o.ca, o.domain, time.Duration(cmp.Or(o.validity, lifetime(authority.OwnValidity))))
	if err != nil {
		return o.fail(exitFailed, err)
	}
	fmt.Fprintf(o.stdout, "%s: the authority of the domain %s, until %s\n", o.ca, a.Domain(), identity.Written(a.Certificate().NotAfter))
	fmt.Fprintf(o.stdout, "who has its %s can be anybody: keep it off the cluster, and a copy where nobody else reads it\n", authority.KeyFile)
	return exitDone
}

// lasting is how long what is issued is good for.
func (o *certsCommand) lasting(role identity.Role) time.Duration {
	usual := authority.ServiceValidity
	if role == identity.User || role == identity.Operator {
		usual = authority.PersonValidity
	}
	return time.Duration(cmp.Or(o.validity, lifetime(usual)))
}

func (o *certsCommand) issue() int {
	role, err := identity.ParseRole(o.words[0])
	if err != nil {
		return o.fail(exitUsage, err)
	}
	id := identity.Identity{Role: role, Name: o.words[1]}
	if err := id.Check(); err != nil {
		return o.fail(exitUsage, err)
	}
	a, err := authority.Open(o.ca)
	if err != nil {
		return o.fail(exitFailed, err)
	}
	folder := identity.Folder(cmp.Or(o.out, bundles), id.Name)
	if err := o.vacant(folder); err != nil {
		return o.fail(exitFailed, err)
	}
	if o.csr == "" {
		err = a.Issue(id, folder, o.lasting(role))
	} else {
		err = o.sign(a, id, folder)
	}
	if err != nil {
		return o.fail(exitFailed, err)
	}
	return o.told(a, folder)
}

// sign answers a request.
func (o *certsCommand) sign(a *authority.Authority, id identity.Identity, folder string) error {
	request, err := authority.Read(o.csr)
	if err != nil {
		return err
	}
	if err := a.IssueFor(request, id, folder, o.lasting(id.Role)); err != nil {
		return fmt.Errorf("%s: %w", o.csr, err)
	}
	return nil
}

// vacant fails where a bundle is already. With a request, the key may be there: it was made there, perhaps.
func (o *certsCommand) vacant(folder string) error {
	names := []string{identity.CertFile, identity.KeyFile}
	if o.csr != "" {
		names = names[:1]
	}
	for _, name := range names {
		switch _, err := os.Lstat(filepath.Join(folder, name)); {
		case err == nil:
			return fmt.Errorf("%s has a bundle: `dodoor certs renew %[1]s` renews it, another -out or its removal makes room", folder)
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
	}
	return nil
}

// told says what was issued.
func (o *certsCommand) told(a *authority.Authority, folder string) int {
	s, err := a.In(folder)
	if err != nil {
		return o.fail(exitFailed, err)
	}
	fmt.Fprintf(o.stdout, "%s: %s, until %s\n", folder, s.Identity, untilWhen(a, &s))
	return exitDone
}

// untilWhen says when a certificate ends, and that it is the authority that makes it.
func untilWhen(a *authority.Authority, s *authority.Signed) string {
	text := identity.Written(s.Cert.NotAfter)
	if s.Cert.NotAfter.Equal(a.Certificate().NotAfter) {
		text += ", with its authority"
	}
	return text
}

func (o *certsCommand) all() int {
	if o.conf == "" {
		return o.fail(exitUsage, errors.New("for which cluster? -conf FILE"))
	}
	c, err := conf.Load(o.conf, nil)
	if err != nil {
		return o.fail(exitUsage, err)
	}
	ids, err := identitiesOf(c)
	if err != nil {
		return o.fail(exitUsage, fmt.Errorf("%s: %w", o.conf, err))
	}
	a, err := authority.Open(o.ca)
	if err != nil {
		return o.fail(exitFailed, err)
	}
	if a.Domain() != c.Security.Domain {
		return o.fail(exitUsage, fmt.Errorf("%s has the domain %q (security.domain), the authority in %s is of %q: take another -ca, "+
			"or that domain", o.conf, c.Security.Domain, o.ca, a.Domain()))
	}
	report := newCertsReport()
	for _, id := range ids {
		folder := identity.Folder(cmp.Or(o.out, o.besideConf(c.Security.Folder), bundles), id.Name)
		var s authority.Signed
		what := "issued"
		if _, err = os.Lstat(filepath.Join(folder, identity.CertFile)); errors.Is(err, fs.ErrNotExist) {
			if err = a.Issue(id, folder, o.lasting(id.Role)); err == nil {
				s, err = a.In(folder)
			}
		} else if err == nil {
			s, what, err = o.renewed(a, folder, id)
		}
		report.add(a, folder, &s, what, err)
	}
	return report.print(o)
}

// identitiesOf is everybody in a configuration: the services of its inventory, or those that it names itself, and an operator.
func identitiesOf(c *conf.Config) ([]identity.Identity, error) {
	services := c.Services()
	if len(c.Hosts) == 0 {
		services = append(services, conf.Service{Role: conf.RoleDatastore, Name: conf.RoleDatastore},
			conf.Service{Role: conf.RoleScheduler, Name: c.Scheduler.Name})
		for i := range c.Scheduler.Replicas {
			if name := cluster.SchedulerName(i); name != c.Scheduler.Name && i > 0 {
				services = append(services, conf.Service{Role: conf.RoleScheduler, Name: name})
			}
		}
		services = append(services, conf.Service{Role: conf.RoleWorker, Name: c.Worker.Name})
	}
	var ids []identity.Identity
	seen := map[string]identity.Identity{}
	add := func(id identity.Identity) error {
		if other, twice := seen[id.Name]; twice {
			return fmt.Errorf("%s and %s have one name, and bundles are kept by name: rename one", other, id)
		}
		seen[id.Name], ids = id, append(ids, id)
		return id.Check()
	}
	for _, s := range services {
		role, err := identity.ParseRole(s.Role)
		if err == nil {
			err = add(identity.Identity{Role: role, Name: s.Name})
		}
		if err != nil {
			return nil, err
		}
	}
	return ids, add(identity.Identity{Role: identity.Operator, Name: c.Security.User})
}
