package main

import (
	"flag"
	"strings"

	"dodoor/job"
)

// again is a command line about the same cluster, to be pasted: it has the flags with which the person found that, and says who this is.
func (o *options) again(verb string, args ...string) string {
	line := []string{"dodoor", verb}
	o.Visit(func(f *flag.Flag) {
		value := f.Value.String()
		switch f.Name {
		case "datastore":
			value = o.datastore
		case "schedulers":
			value = strings.Join(o.only, ",")
		case "cluster", "conf":
		default:
			return
		}
		line = append(line, "-"+f.Name, value)
	})
	for _, set := range o.sets {
		if strings.HasPrefix(strings.TrimSpace(set), "security.") { // who this is
			line = append(line, "-set", set)
		}
	}
	return job.Quote(append(line, args...))
}
