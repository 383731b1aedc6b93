package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"dodoor/conf"
)

// clusterVariable names the cluster that commands are about unless they are told another.
const clusterVariable = "DODOOR_CLUSTER"

const dataAddress = "datastore.address"

// visitFlags declares how a running cluster is found.
func (o *options) visitFlags() {
	o.dataFlags()
	o.Func("schedulers", "comma-separated `addresses` of schedulers, which are asked instead of the data service", func(value string) error {
		o.only = words(value)
		return nil
	})
}

// dataFlags declares how the data service of a running cluster is found.
func (o *options) dataFlags() {
	o.visits = true
	o.Func("datastore", "`address` of the data service ("+dataAddress+")", func(value string) error {
		o.datastore = value
		o.sets = append(o.sets, dataAddress+"="+quoted(value))
		return checkNumber(value)
	})
	o.String("cluster", "", "`name` of a cluster that dodoor conf clusters lists; without one, and without -datastore and -conf: "+
		"that of $"+clusterVariable+", or the default of the list")
}

// choose settles which cluster a command is about. What comes first decides: an address or a configuration on the command line,
// -cluster, DODOOR_CLUSTER, the default of the person's file, and the default of -conf. Nothing else looks into that file, so
// whatever is wrong with it, a command that was given an address works.
func (o *options) choose() error {
	given := map[string]string{}
	o.Visit(func(f *flag.Flag) { given[f.Name] = f.Value.String() })
	name, asked := given["cluster"]
	_, byConf := given["conf"]
	if byConf || o.addressed() || len(o.only) > 0 {
		if asked {
			return errors.New("-cluster names a cluster, and -datastore, -schedulers, -conf or -set says where one is: leave out one of them")
		}
		return nil
	}
	clusters, err := conf.UserClusters()
	if err != nil {
		return err
	}
	by := "-cluster"
	if !asked {
		if name, by = nameOf(clusters); name == "" {
			return nil
		}
	}
	k, err := clusters.Find(name)
	if err != nil {
		return fmt.Errorf("%s: %w", by, err)
	}
	o.named = fmt.Sprintf("cluster %s (by %s; %s)", k.Name, by, k.Where)
	switch o.others = k.Schedulers; {
	case k.Conf != "":
		o.conf = k.Conf
	case k.Datastore == "":
		o.only = k.Schedulers
	default:
		o.sets = append([]string{dataAddress + "=" + quoted(k.Datastore)}, o.sets...)
	}
	return nil
}

// byConf tells whether the command line names a configuration, or a cluster that has one.
func (o *options) byConf() bool {
	named := o.named != ""
	o.Visit(func(f *flag.Flag) { named = named || f.Name == "conf" })
	return named
}

// addressed tells whether an override, which -datastore is too, says where the data service is.
func (o *options) addressed() bool {
	return slices.ContainsFunc(o.sets, func(set string) bool { return overrides(set, dataAddress) || overrides(set, "datastore.listen") })
}

// nameOf returns the cluster that is meant where the command line names none, and what names it; "" where nothing does.
func nameOf(clusters *conf.Clusters) (name, by string) {
	if name = os.Getenv(clusterVariable); name != "" {
		return name, clusterVariable
	}
	return clusters.Default, "default"
}

// placeOf says where a cluster is whose data service has no address in the list.
func placeOf(k *conf.NamedCluster) string {
	if k.Conf == "" {
		return "schedulers " + strings.Join(k.Schedulers, ", ")
	}
	return "as " + k.Conf + " says"
}

// printClusters lists the clusters that have a name, and marks the one that commands are about.
func (o *options) printClusters(stdout io.Writer) int {
	clusters, err := conf.UserClusters()
	if err != nil {
		return o.fail(exitUsage, err)
	}
	if len(clusters.List) == 0 {
		return o.fail(exitUsage, errors.New("no clusters: "+clusters.Summary()))
	}
	name, by := nameOf(clusters)
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.AppendHeader(table.Row{"cluster", "data service", "chosen by"})
	for _, k := range clusters.List {
		chosen := ""
		if k.Name == name {
			chosen = by
		}
		t.AppendRow(table.Row{k.Name, cmp.Or(k.Datastore, placeOf(&k)), chosen})
	}
	fmt.Fprintln(stdout, t.Render())
	fmt.Fprintf(stdout, "%s in %s\n", count(len(clusters.List), "cluster", "clusters"), clusters.Path)
	return exitDone
}
