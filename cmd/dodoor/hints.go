package main

import (
	"flag"
	"strings"

	"dodoor/job"
)

// again is a command line about the same cluster, to be pasted: it has the flags with which the person found that.
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
	return job.Quote(append(line, args...))
}
