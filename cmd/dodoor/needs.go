package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"dodoor/conf"
	"dodoor/internal/cluster"
)

// extras are demands of extra resources, by name, in thousandths.
type extras map[string]int64

// add reads NAME=AMOUNT.
func (n extras) add(s string) error {
	name, text, given := strings.Cut(s, "=")
	amount, err := strconv.ParseFloat(text, 64)
	thousandths := math.Round(amount * float64(cluster.PerUnit(cluster.FirstExtra)))
	switch _, twice := n[name]; {
	case !given || name == "" || err != nil:
		return errors.New("NAME=AMOUNT is expected, as in gpu=1 or gpu=0.5")
	case twice:
		return fmt.Errorf("%s is given twice", name)
	case !(thousandths >= 1 && thousandths <= float64(cluster.MaxAmount)):
		return fmt.Errorf("allowed are amounts from 0.001 to %d", cluster.MaxAmount/cluster.PerUnit(cluster.FirstExtra))
	}
	n[name] = int64(thousandths)
	return nil
}

// demand puts the needs into a demand, in the dimensions of a configuration: without it nobody knows which dimension is whose.
func (n extras) demand(into *cluster.Resources, c *conf.Config) error {
	dims, err := c.Dimensions()
	if err != nil {
		return err
	}
	for name, amount := range n {
		k, known := dims.Index(name)
		if !known || k < cluster.FirstExtra {
			return fmt.Errorf("-need %s: the configuration has no such extra resource (it has: %s); name that of the cluster, -cluster or -conf",
				name, strings.Join(append(dims.Extras(), "cores and memory by -cores and -memory"), ", "))
		}
		into[k] = amount
	}
	return nil
}
