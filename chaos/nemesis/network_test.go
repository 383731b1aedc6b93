package nemesis

import (
	"fmt"
	"strings"
)

// rule is a line of the host's iptables, which is added and removed again. What holds for a host holds for nobody else.
type rule struct {
	*host
	table, chain string
	match        []string
}

func (r rule) do(verb string) error {
	args := append(r.within("-n"), "iptables", "-w", "-t", r.table, verb, r.chain)
	args = append(args, r.match...)
	_, err := try(args[0], args[1:]...)
	return err
}

// filter is a rule about the packets that match.
func (h *host) filter(chain, match string) rule {
	return rule{h, "filter", chain, strings.Fields(match)}
}

// put adds rules, all or none.
func put(rules []rule) error {
	for i, r := range rules {
		if err := r.do("-A"); err != nil {
			drop(rules[:i])
			return err
		}
	}
	return nil
}

// drop removes rules; one that is not there is as good as removed.
func drop(rules []rule) {
	for _, r := range rules {
		_ = r.do("-D")
	}
}

// calm removes every rule of the host.
func (h *host) calm() error {
	for _, table := range []string{"filter", "nat"} {
		args := append(h.within("-n"), "iptables", "-w", "-t", table, "-F")
		if table == "nat" { // the engine's own rules, for its resolver, stay in the others
			args = append(args, "PREROUTING")
		}
		if _, err := try(args[0], args[1:]...); err != nil {
			return err
		}
	}
	return nil
}

// refusing breaks connections to a service, and those that were there as soon as they are used.
func (h *host) refusing() []rule {
	return []rule{h.filter("INPUT", fmt.Sprintf("-p tcp --dport %d -j REJECT --reject-with tcp-reset", port))}
}

// deaf loses what is sent to a service.
func (h *host) deaf() []rule {
	return []rule{h.filter("INPUT", fmt.Sprintf("-p tcp --dport %d -j DROP", port))}
}

// mute loses what a service answers.
func (h *host) mute() []rule {
	return []rule{h.filter("OUTPUT", fmt.Sprintf("-p tcp --sport %d -j DROP", port))}
}

// parted loses what the hosts of one side send to the other, in one direction or in both.
func parted(from, to []*host, oneWay bool) []rule {
	var rules []rule
	for _, h := range to {
		rules = append(rules, h.filter("INPUT", "-s "+addresses(from)+" -j DROP"))
	}
	if !oneWay {
		rules = append(rules, parted(to, from, true)...)
	}
	return rules
}

// dropping loses a share of the messages between two sides: its sender learns that the connection is broken, and the other
// side when it speaks next.
func dropping(one, other []*host, share float64) []rule {
	var rules []rule
	for _, sides := range [][2][]*host{{one, other}, {other, one}} {
		for _, h := range sides[1] {
			rules = append(rules, h.filter("INPUT", fmt.Sprintf("-s %s -p tcp --tcp-flags PSH PSH -m statistic --mode random "+
				"--probability %.3f -j REJECT --reject-with tcp-reset", addresses(sides[0]), share)))
		}
	}
	return rules
}

// redirected sends what arrives from some hosts at the service through the proxy that listens in front of it. Connections that
// do not go through it break.
func (h *host) redirected(from string, proxy int) []rule {
	about := fmt.Sprintf("%s ! -i lo -p tcp --dport %d", from, port)
	return []rule{
		{h, "nat", "PREROUTING", strings.Fields(fmt.Sprintf("%s -j REDIRECT --to-ports %d", about, proxy))},
		h.filter("INPUT", about+" -j REJECT --reject-with tcp-reset"),
	}
}

// addresses are those of hosts, as iptables wants them.
func addresses(hosts []*host) string {
	all := make([]string, len(hosts))
	for i, h := range hosts {
		all[i] = h.address
	}
	return strings.Join(all, ",")
}
