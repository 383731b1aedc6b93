package conf

import "strings"

// HostLine is one host of the inventory as scripts and programs get it.
type HostLine struct {
	Name     string        `json:"name"`
	Address  string        `json:"address"`
	SSH      string        `json:"ssh"`
	SSHPort  string        `json:"ssh_port,omitempty"`
	User     string        `json:"user,omitempty"`
	Jump     string        `json:"jump,omitempty"`
	Folder   string        `json:"folder"`
	Class    string        `json:"class,omitempty"`
	Services []ServiceLine `json:"services"`
	Stops    Duration      `json:"stops_within"` // all of them, one after the other
}

// ServiceLine is one of its services.
type ServiceLine struct {
	Role    string `json:"role"`
	Name    string `json:"name"`
	Address string `json:"address"`
	HTTP    int    `json:"http_port,omitempty"`
	Digest  string `json:"digest"` // of its configuration
}

// Names lists a host's services by role and name, and what else is asked for.
func (h *HostLine) Names(separator string, more func(ServiceLine) string) string {
	var all []string
	for _, s := range h.Services {
		all = append(all, s.Role+":"+s.Name+more(s))
	}
	return strings.Join(all, separator)
}

// Listing returns the inventory, host by host.
func (c *Config) Listing() ([]HostLine, error) {
	var lines []HostLine
	for i := range c.Hosts {
		h := &c.Hosts[i]
		line := HostLine{Name: h.Name, Address: h.Address, User: h.User, Jump: h.Jump, Folder: h.Folder, Class: h.Class}
		line.SSH, line.SSHPort = h.SSHTarget()
		for _, s := range c.servicesOn(h) {
			digest, err := c.DigestOf(&s)
			if err != nil {
				return nil, err
			}
			line.Stops += Duration(c.StopsWithin(&s))
			line.Services = append(line.Services, ServiceLine{s.Role, s.Name, s.Dial(), s.HTTP, digest})
		}
		lines = append(lines, line)
	}
	return lines, nil
}
