package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"dodoor/conf"
	"dodoor/internal/identity/authority"
)

const certsExample = `dodoor certs create
dodoor certs all -conf lab.toml                 # certs/NAME for every service of the inventory, and the operator
dodoor certs issue user alice                   # certs/alice
dodoor certs issue user bob -csr bob.csr        # bob's key stays where bob made it
dodoor certs renew certs
dodoor certs revoke node-3 -to certs
dodoor certs show certs`

// certsCommand is `dodoor certs VERB`.
type certsCommand struct {
	*options
	ca, out, domain, csr string
	validity, within     lifetime
	to                   bool
	words                []string // what follows the verb and is no flag
	stdout               io.Writer
}

// certsVerb is what one verb takes.
type certsVerb struct {
	name        string
	words       string // as usage has them
	least, most int    // how many of them
	flags       []string
	run         func(o *certsCommand) int
}

var certsVerbs = []certsVerb{
	{"create", "", 0, 0, []string{"domain", "validity"}, (*certsCommand).create},
	{"issue", "ROLE NAME", 2, 2, []string{"out", "csr", "validity"}, (*certsCommand).issue},
	{"all", "", 0, 0, []string{"conf", "out", "validity", "within"}, (*certsCommand).all},
	{"renew", "FOLDER...", 1, math.MaxInt, []string{"validity", "within"}, (*certsCommand).renew},
	{"revoke", "NAME|SERIAL [-to FOLDER...]", 1, math.MaxInt, []string{"to"}, (*certsCommand).revoke},
	{"show", "FOLDER|FILE...", 1, math.MaxInt, nil, (*certsCommand).show},
}

func runCerts(args []string, stdout, stderr io.Writer) int {
	o := &certsCommand{stdout: stdout, within: lifetime(renewWithin)}
	o.options = newFlags("certs", "certifies who is who in a cluster: makes an authority (create), a bundle of certificate and key "+
		"for one role and name (issue) or for each service of a configuration (all), renews bundles that end soon (renew), "+
		"takes back what a name has (revoke), tells of them (show)",
		certsExample, stderr)
	folder := ""
	if home, err := os.UserConfigDir(); err == nil {
		folder = filepath.Join(home, "dodoor", "ca")
	}
	o.StringVar(&o.ca, "ca", folder, "`folder` of the authority, its key included: keep it off the cluster")
	o.StringVar(&o.out, "out", "", "issue, all: `folder` that gets one for each name (default: all: security.folder; else "+bundles+")")
	o.StringVar(&o.domain, "domain", conf.Default().Security.Domain, "create: `name` of the cluster or clusters, as security.domain has it")
	o.StringVar(&o.csr, "csr", "", "issue: sign the request in this `file`, so that the key stays where it was made; the bundle has none")
	o.StringVar(&o.conf, "conf", "", "all: configuration `file`, or the name of a shipped profile")
	o.Var(&o.validity, "validity", "`time` for which it is good, as in 30d or 12h (create: "+lifetime(authority.OwnValidity).String()+
		", others: "+lifetime(authority.ServiceValidity).String()+")")
	o.Var(&o.within, "within", "all, renew: renew what ends within this `time`")
	o.BoolVar(&o.to, "to", false, "revoke: copy the list to the bundles in the folders that follow")
	if len(args) == 0 {
		o.Usage()
		return exitUsage
	}
	if slices.Contains([]string{"-h", "-help", "--help"}, args[0]) {
		o.Usage()
		return exitDone
	}
	i := slices.IndexFunc(certsVerbs, func(v certsVerb) bool { return v.name == args[0] })
	if i < 0 {
		return o.fail(exitUsage, fmt.Errorf("no verb is called %q: it is create, issue, all, renew, revoke or show", args[0]))
	}
	return o.perform(&certsVerbs[i], args[1:])
}

// perform reads the rest of the command line, flags between words included, and does what the verb says.
func (o *certsCommand) perform(v *certsVerb, args []string) int {
	for {
		if code := o.parseFlags(args); code >= 0 {
			return code
		}
		args = o.Args()
		for len(args) > 0 && (args[0] == "-" || !strings.HasPrefix(args[0], "-")) {
			o.words, args = append(o.words, args[0]), args[1:]
		}
		if len(args) == 0 {
			break
		}
	}
	usage := strings.TrimSpace("usage: " + o.Name() + " " + v.name + " [flags] " + v.words)
	strange := ""
	o.Visit(func(f *flag.Flag) {
		if f.Name != "ca" && !slices.Contains(v.flags, f.Name) {
			strange = f.Name
		}
	})
	switch n := len(o.words); {
	case strange != "":
		return o.fail(exitUsage, fmt.Errorf("-%s is not for %s; %s", strange, v.name, usage))
	case n < v.least:
		return o.fail(exitUsage, errors.New(usage))
	case n > v.most:
		return o.fail(exitUsage, fmt.Errorf("unexpected argument %q; %s", o.words[v.most], usage))
	case slices.Contains(o.words, ""):
		return o.fail(exitUsage, errors.New("an argument is empty; "+usage))
	case o.ca == "":
		return o.fail(exitUsage, errors.New("where is the authority? -ca FOLDER: there is no home folder to have one"))
	}
	return v.run(o)
}

// bundles is the folder that gets bundles unless somebody says otherwise.
const bundles = "certs"

// lifetime is a flag of how long a certificate is good for; 0: as is usual for what it certifies.
type lifetime time.Duration

const day = 24 * time.Hour

// renewWithin is when `renew` finds that a certificate ends soon.
const renewWithin = 10 * day

func (l *lifetime) Set(text string) error {
	d, err := time.ParseDuration(text)
	if days, ok := strings.CutSuffix(text, "d"); ok {
		var n int64
		n, err = strconv.ParseInt(days, 10, 64)
		if err == nil && n > int64(math.MaxInt64/day) {
			err = strconv.ErrRange
		}
		d = time.Duration(n) * day
	}
	if err != nil || d <= 0 {
		return errors.New("it takes days or a duration above zero, as in 30d or 12h")
	}
	*l = lifetime(d)
	return nil
}

func (l lifetime) String() string {
	switch d := time.Duration(l); {
	case d == 0:
		return ""
	case d%day == 0:
		return fmt.Sprintf("%dd", d/day)
	default:
		return d.String()
	}
}
