package conf

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
)

// manifest is what a CloudLab experiment got (GENI RSpec 3): the parts that an inventory needs.
type manifest struct {
	Nodes []struct {
		Name     string `xml:"client_id,attr"`
		Hardware struct {
			Name string `xml:"name,attr"`
		} `xml:"hardware_type"`
		Machine struct { // says what the node is, where hardware_type may say "pc"
			Type string `xml:"hardware_type,attr"`
		} `xml:"vnode"`
		Logins []struct {
			Host string `xml:"hostname,attr"`
			Port string `xml:"port,attr"`
			User string `xml:"username,attr"`
		} `xml:"services>login"`
		Addresses []struct {
			Address string `xml:"address,attr"`
		} `xml:"interface>ip"`
		Public struct {
			Address string `xml:"ipv4,attr"`
		} `xml:"host"`
	} `xml:"node"`
}

// FromCloudLab turns the manifest of a CloudLab experiment into a configuration with an inventory. The first node runs the
// data service and the schedulers, as the paper's control node did (Sec. 6.1), and a worker where it is the only node; the
// others are workers. Hardware that the profile paper describes keeps its class there, other hardware is counted by its
// worker. It fails where the text is no such manifest, or a node has no way to log in.
func FromCloudLab(text io.Reader) ([]byte, error) {
	var m manifest
	if err := xml.NewDecoder(text).Decode(&m); err != nil {
		return nil, fmt.Errorf("read the manifest: %w", err)
	}
	if len(m.Nodes) == 0 {
		return nil, errors.New("the manifest has no nodes: it is what the experiment's page shows under Manifest once it is ready")
	}
	paper, err := Load("paper", nil)
	if err != nil {
		return nil, err
	}
	c := *Default()
	users := map[string]bool{}
	for i, n := range m.Nodes {
		if len(n.Logins) == 0 {
			return nil, fmt.Errorf("node %q of the manifest has no login: the experiment is not ready, or is none of bare machines", n.Name)
		}
		login := n.Logins[0]
		h := Host{Name: n.Name, Address: cmp.Or(n.Public.Address, login.Host), SSH: login.Host, Roles: []string{RoleWorker}, Schedulers: 1}
		if len(n.Addresses) > 0 {
			h.Address = n.Addresses[0].Address
		}
		if login.Port != "" && login.Port != "22" {
			h.SSH = net.JoinHostPort(login.Host, login.Port)
		}
		for _, login := range n.Logins {
			users[login.User] = true
			c.Cluster.User = login.User
		}
		if i == 0 {
			h.Roles, h.Schedulers = []string{RoleDatastore, RoleScheduler}, paper.Scheduler.Replicas
			if len(m.Nodes) == 1 {
				h.Roles = Roles
			}
		}
		if h.Has(RoleWorker) {
			h.Class = c.hardware(paper, cmp.Or(n.Machine.Type, n.Hardware.Name))
		}
		c.Hosts = append(c.Hosts, h)
	}
	if len(users) > 1 {
		c.Cluster.User = "" // everybody of the project may log in: ssh knows who this is
	}
	return c.inventory()
}

// hardware returns the class of a hardware type, which it adds to the configuration's.
func (c *Config) hardware(paper *Config, name string) string {
	class, known := paper.Class(name)
	if !known {
		return AutoClass
	}
	if _, there := c.Class(name); !there {
		c.Classes = append(c.Classes, class)
	}
	return name
}

// inventory prints the cluster, hosts and classes of c as the beginning of a configuration, and checks that it loads.
func (c *Config) inventory() ([]byte, error) {
	var out bytes.Buffer
	fmt.Fprintf(&out, "include = [\"functionbench\"]\n\n[cluster]\nuser = %q\n\n[security]\nfolder = \"certs\"\n", c.Cluster.User)
	for _, class := range c.Classes {
		fmt.Fprintf(&out, "\n[[class]]\nname = %q\ncores = %v\nmemory_mb = %d\n", class.Name, class.Cores, class.MemoryMB)
	}
	for _, h := range c.Hosts {
		fmt.Fprintf(&out, "\n[[host]]\nname = %q\naddress = %q\nssh = %q\nroles = [", h.Name, h.Address, h.SSH)
		for i, role := range h.Roles {
			fmt.Fprintf(&out, "%s%q", []string{"", ", "}[min(i, 1)], role)
		}
		out.WriteString("]\n")
		if h.Schedulers != 1 {
			fmt.Fprintf(&out, "schedulers = %d\n", h.Schedulers)
		}
		if h.Class != "" {
			fmt.Fprintf(&out, "class = %q\n", h.Class)
		}
	}
	text := slices.Clone(out.Bytes())
	base, err := read(source{"the inventory", text}, openEmbedded)
	if err == nil {
		_, err = base.With(nil)
	}
	if err != nil {
		return nil, fmt.Errorf("the manifest makes no valid inventory:\n%w", err)
	}
	return text, nil
}
