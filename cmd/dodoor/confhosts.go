package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"dodoor/conf"
)

// fromCloudLab prints the inventory of an experiment.
func (o *options) fromCloudLab(stdout io.Writer) int {
	manifest, err := os.Open(o.conf)
	if err != nil {
		return o.fail(exitUsage, err)
	}
	defer manifest.Close()
	text, err := conf.FromCloudLab(manifest)
	if err != nil {
		return o.fail(exitUsage, fmt.Errorf("%s: %w", o.conf, err))
	}
	stdout.Write(text)
	return exitDone
}

func (o *options) printHosts(c *conf.Config, stdout io.Writer, asJSON, plain bool) int {
	if len(c.Hosts) == 0 {
		return o.fail(exitUsage, errors.New("this configuration has no [[host]]: dodoor conf show cluster-example shows one that has"))
	}
	lines, err := c.Listing()
	if err != nil {
		return o.fail(exitFailed, err)
	}
	switch {
	case asJSON:
		encoder := json.NewEncoder(stdout)
		encoder.SetIndent("", "  ")
		if err := encoder.Encode(lines); err != nil {
			return o.fail(exitFailed, err)
		}
	case plain:
		for _, h := range lines {
			fmt.Fprintln(stdout, strings.Join([]string{h.Name, h.SSH, cmp.Or(h.SSHPort, "-"), cmp.Or(h.User, "-"), cmp.Or(h.Jump, "-"),
				h.Folder, h.Names(",", func(s conf.ServiceLine) string { return ":" + s.Digest }),
				strconv.FormatFloat(math.Ceil(time.Duration(h.Stops).Seconds()), 'f', 0, 64)}, "\t"))
		}
	default:
		t := table.NewWriter()
		t.SetStyle(table.StyleLight)
		t.AppendHeader(table.Row{"host", "address", "ssh", "class", "services", "folder"})
		for _, h := range lines {
			ssh := h.SSH
			if h.User != "" {
				ssh = h.User + "@" + ssh
			}
			t.AppendRow(table.Row{h.Name, h.Address, ssh, h.Class, h.Names("\n", func(conf.ServiceLine) string { return "" }), h.Folder})
		}
		fmt.Fprintln(stdout, t.Render())
	}
	return exitDone
}
