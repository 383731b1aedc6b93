// Package identity says who a process is, by its certificate, and has two processes prove it to each other.
//
// A certificate names one identity, in one URI: spiffe://DOMAIN/ROLE/NAME. Nothing else in it matters: neither its subject, nor the
// host names and addresses that it is good for, so that a service may move and a certificate may come from anybody's authority.
package identity

import (
	"crypto/x509"
	"fmt"
	"path/filepath"
	"strings"
)

// Role is what an identity may do. The zero value is nobody: what arrives over plaintext.
type Role uint8

const (
	None Role = iota
	DataService
	Scheduler
	Worker
	Operator
	User

	numRoles
)

var roleNames = [numRoles]string{"nobody", "datastore", "scheduler", "worker", "operator", "user"}

// Roles lists the roles that a certificate can have.
func Roles() []Role { return []Role{DataService, Scheduler, Worker, Operator, User} }

func (r Role) String() string {
	if r < numRoles {
		return roleNames[r]
	}
	return fmt.Sprintf("role %d", uint8(r))
}

// ParseRole reads a role as URIs and people write it.
func ParseRole(text string) (Role, error) {
	for _, r := range Roles() {
		if r.String() == text {
			return r, nil
		}
	}
	return None, fmt.Errorf("%.64q is no role: it is one of %s", text, strings.Join(roleNames[DataService:], ", "))
}

// Identity is who a process is. Names are unique within a role.
type Identity struct {
	Role Role
	Name string
}

// String is "scheduler scheduler-1", "user alice", or "nobody".
func (i Identity) String() string {
	if i.Name == "" {
		return i.Role.String()
	}
	return i.Role.String() + " " + i.Name
}

const (
	scheme  = "spiffe://"
	maxName = 64 // bytes of a name or a domain
)

// URI is how a certificate says it.
func (i Identity) URI(domain string) string {
	return scheme + domain + "/" + i.Role.String() + "/" + i.Name
}

// Check fails for what no certificate can say: an unknown role, or a name of other characters than letters, digits, dot, hyphen and
// underscore.
func (i Identity) Check() error {
	if i.Role == None || i.Role >= numRoles {
		return fmt.Errorf("%s has no role", i)
	}
	if err := spelled(i.Name); err != nil {
		return fmt.Errorf("the name %.80q of a %s %w", i.Name, i.Role, err)
	}
	return nil
}

// CheckDomain fails for what is no domain of identities.
func CheckDomain(domain string) error {
	if err := spelled(domain); err != nil {
		return fmt.Errorf("the domain %.80q %w", domain, err)
	}
	return nil
}

// spelled says what is wrong with a name or domain. One that begins with a dot or a hyphen would be a hidden file, or a flag.
func spelled(text string) error {
	switch {
	case text == "":
		return fmt.Errorf("is empty")
	case len(text) > maxName:
		return fmt.Errorf("has %d bytes: at most %d are allowed", len(text), maxName)
	case text[0] == '.', text[0] == '-':
		return fmt.Errorf("begins with %q: a letter, digit or underscore is needed there", text[0])
	}
	for _, c := range []byte(text) {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '-' || c == '_') {
			return fmt.Errorf("has the character %q: letters, digits, dot, hyphen and underscore are allowed", c)
		}
	}
	return nil
}

// Parse reads a URI of a domain.
func Parse(uri, domain string) (Identity, error) {
	rest, ok := strings.CutPrefix(uri, scheme)
	parts := strings.Split(rest, "/")
	if !ok || len(parts) != 3 {
		return Identity{}, fmt.Errorf("%.160q is not spiffe://%s/ROLE/NAME", uri, domain)
	}
	if parts[0] != domain {
		return Identity{}, fmt.Errorf("%.160q is of the domain %.64q: this cluster's is %q (security.domain)", uri, parts[0], domain)
	}
	role, err := ParseRole(parts[1])
	if err != nil {
		return Identity{}, fmt.Errorf("%.160q: %w", uri, err)
	}
	id := Identity{role, parts[2]}
	if err := id.Check(); err != nil {
		return Identity{}, fmt.Errorf("%.160q: %w", uri, err)
	}
	return id, nil
}

// Of reads the identity in a certificate: its only URI.
func Of(leaf *x509.Certificate, domain string) (Identity, error) {
	if n := len(leaf.URIs); n != 1 {
		return Identity{}, fmt.Errorf("%s has %d URIs: exactly one, spiffe://%s/ROLE/NAME, says who it is", called(leaf), n, domain)
	}
	id, err := Parse(leaf.URIs[0].String(), domain)
	if err != nil {
		return Identity{}, fmt.Errorf("%s: %w", called(leaf), err)
	}
	return id, nil
}

// called is a certificate whose identity is not known, for people.
func called(leaf *x509.Certificate) string {
	return fmt.Sprintf("certificate %.40s", leaf.SerialNumber.Text(16))
}

// certificateOf is one whose identity is.
func certificateOf(id Identity) string { return "the certificate of " + id.String() }

// Folder is where the bundle of a name is kept, below the root of all.
func Folder(root, name string) string { return filepath.Join(root, name) }
