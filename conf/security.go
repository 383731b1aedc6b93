package conf

import (
	"fmt"
	"net"

	"dodoor/internal/identity"
)

// Security says by which certificates services and commands prove who they are.
type Security struct {
	Folder   string `toml:"folder"`   // of bundles, a folder for each name; empty: plaintext
	Domain   string `toml:"domain"`   // of all identities of the cluster
	User     string `toml:"user"`     // whose bundle commands use
	Insecure bool   `toml:"insecure"` // plaintext on addresses that others reach
}

// Bundle is the folder of the bundle of a service or a person; empty: plaintext.
func (s *Security) Bundle(name string) string {
	if s.Folder == "" {
		return ""
	}
	return identity.Folder(s.Folder, name)
}

// Permits fails where a service, whose address is of the key listen, would serve in plaintext whoever reaches this machine.
func (s *Security) Permits(key, listen string) error {
	if s.Folder != "" || s.Insecure || Loopback(listen) {
		return nil
	}
	return fmt.Errorf("%s is %q, which other machines reach, and security.folder is empty: in plaintext whoever connects may do anything; "+
		"make certificates (dodoor certs create, dodoor certs all -conf FILE) and set security.folder, listen on 127.0.0.1, "+
		"or set security.insecure = true where everybody who reaches it may", key, listen)
}

// Loopback tells whether an address is reached from its own machine alone.
func Loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}

func (s *Security) validate(r *report) {
	folderOrNone(r, "security.folder", s.Folder)
	if err := identity.CheckDomain(s.Domain); err != nil {
		r.add("security.domain", "%v", err)
	}
	if err := (identity.Identity{Role: identity.Operator, Name: s.User}).Check(); err != nil {
		r.add("security.user", "%v", err)
	}
}

// validateBundles checks, for an inventory, the folder of its bundles, and that no two services, or one and who runs commands, would have
// the same.
func (c *Config) validateBundles(r *report) {
	if c.Security.Folder == "" || len(c.Hosts) == 0 {
		return
	}
	if !folderPattern.MatchString(c.Security.Folder) { // shells get to see it
		r.add("security.folder", "must be a folder of letters, digits, dots, dashes, underscores and slashes, found %.80q", c.Security.Folder)
	}
	taken := map[string]string{c.Security.User: "security.user"}
	for _, s := range c.Services() {
		role, err := identity.ParseRole(s.Role)
		if err == nil {
			err = identity.Identity{Role: role, Name: s.Name}.Check()
		}
		if other, ok := taken[s.Name]; err == nil && ok {
			err = fmt.Errorf("the %s %q is called as %s is, and security.folder keeps bundles by name", s.Role, s.Name, other)
		}
		if err != nil {
			r.add("host", "%v: call the host something else", err)
		}
		taken[s.Name] = "the " + s.Role
	}
}
