package host

import (
	"fmt"
	"path/filepath"
	"time"

	"dodoor/assemble"
	"dodoor/conf"
	"dodoor/internal/identity"
)

// endsSoon is how long before a certificate's end there is a warning.
const endsSoon = 7 * 24 * time.Hour

const renewal = "scripts/cluster up gives it a new one; without scripts/cluster, dodoor certs renew does"

// here is the configuration as services see it, which are started in the folder.
func (a *Agent) here() *conf.Config {
	c := *a.c
	if folder := c.Security.Folder; folder != "" && !filepath.IsAbs(folder) {
		c.Security.Folder = filepath.Join(string(a.Folder), folder)
	}
	return &c
}

// checkSecurity finds services of this host that would serve everybody in plaintext, or cannot prove who they are, or soon cannot.
func (a *Agent) checkSecurity(now time.Time) (found []Finding) {
	for i := range a.services {
		found = append(found, a.checkBundle(&a.services[i], now)...)
	}
	return found
}

func (a *Agent) checkBundle(s *conf.Service, now time.Time) []Finding {
	c := a.here()
	if err := c.Security.Permits("the address of "+s.Name, s.Listen()); err != nil {
		return []Finding{{Problem: err.Error(), Remedy: "see docs/security.md"}}
	}
	b, err := assemble.ServiceBundle(c, s.Role, s.Name)
	switch {
	case err != nil:
		return []Finding{{Problem: fmt.Sprintf("%s cannot prove who it is: %v", s.Name, err), Remedy: renewal}}
	case b != nil && b.NotAfter().Sub(now) < endsSoon:
		return []Finding{{Problem: fmt.Sprintf("the certificate of %s ends %s", s.Name, identity.Written(b.NotAfter())), Remedy: renewal,
			Warning: true}}
	case b != nil && !b.ListsDue().IsZero() && now.After(b.ListsDue()):
		return []Finding{{Problem: fmt.Sprintf("a revocation list of %s should have been replaced %s", s.Name, identity.Written(b.ListsDue())),
			Remedy: "copy the authority's newest revoked.pem into the bundle", Warning: true}}
	}
	return nil
}
