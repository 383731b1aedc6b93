package main

import (
	"strings"
	"testing"

	"dodoor/conf"
	"dodoor/internal/cluster"
)

func TestNeeds(t *testing.T) {
	n := extras{}
	for text, want := range map[string]string{
		"gpu=0.5": "", "fpga=2": "",
		"gpu": "NAME=AMOUNT", "=1": "NAME=AMOUNT", "a=": "NAME=AMOUNT", "b=0": "allowed are", "b=-1": "allowed are", "b=NaN": "allowed are",
		"b=1e300": "allowed are",
	} {
		if err := n.add(text); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	if err := n.add("fpga=1"); err == nil || !strings.Contains(err.Error(), "twice") {
		t.Errorf("%v", err)
	}
	c := conf.Default()
	demand := cluster.Resources{cluster.Cores: 1000}
	if err := n.demand(&demand, c); err == nil || !strings.Contains(err.Error(), "no such extra resource") {
		t.Errorf("%v", err)
	}
	c.Classes = []conf.Class{{Name: "a", Cores: 1, MemoryMB: 1, Count: 1, Extra: map[string]float64{"gpu": 2, "fpga": 2}}}
	if err := n.demand(&demand, c); err != nil || demand != (cluster.Resources{1000, 0, 0, 2000, 500}) {
		t.Errorf("%v, %v", demand, err)
	}
	if err := (extras{"memory": 1}).demand(&demand, c); err == nil || !strings.Contains(err.Error(), "-memory") {
		t.Errorf("%v", err)
	}
}
