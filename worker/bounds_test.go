package worker

import (
	"strings"
	"testing"

	"dodoor/internal/cluster"
)

// Every bound of a configuration is allowed itself, and nothing beyond it.
func TestBoundsOfTheConfiguration(t *testing.T) {
	for _, c := range []struct {
		what   string
		change func(*Config)
		wrong  string // part of the error; empty: none
	}{
		{"the least of everything", func(c *Config) {
			c.Node.Slots, c.Node.Incarnation, c.Node.Capacity = 1, 1, cluster.Resources{1}
			c.Limits.MaxQueue, c.Limits.RetainResults, c.Limits.RetainFor, c.Limits.TimeoutFactor = 1, 1, 1, 0
		}, ""},
		{"the most of everything", func(c *Config) {
			c.Node.Capacity[cluster.Memory], c.Limits.TimeoutFactor = cluster.MaxAmount, maxTimeoutFactor
		}, ""},
		{"no name", func(c *Config) { c.Node.Name = "" }, "no name"},
		{"no slot", func(c *Config) { c.Node.Slots = 0 }, "0 slots"},
		{"no incarnation", func(c *Config) { c.Node.Incarnation = 0 }, "incarnation 0"},
		{"no cores", func(c *Config) { c.Node.Capacity[cluster.Cores] = 0 }, "no cores"},
		{"no queue", func(c *Config) { c.Limits.MaxQueue = 0 }, "max queue 0"},
		{"no results", func(c *Config) { c.Limits.RetainResults = 0 }, "retains 0 results"},
		{"no time for results", func(c *Config) { c.Limits.RetainFor = 0 }, "for 0s"},
		{"a negative timeout", func(c *Config) { c.Limits.TimeoutFactor = -1 }, "timeout factor -1"},
		{"too long a timeout", func(c *Config) { c.Limits.TimeoutFactor = maxTimeoutFactor + 1 }, "timeout factor 1.000001e+06"},
		{"less than nothing", func(c *Config) { c.Node.Capacity[cluster.Memory] = -1 }, "capacity -1 in dimension 1"},
		{"too much", func(c *Config) { c.Node.Capacity[cluster.Memory] = cluster.MaxAmount + 1 }, "in dimension 1"},
		{"a resource without a name", func(c *Config) { c.Node.Capacity[c.Dimensions.Len()] = 1 }, "in dimension 3"},
		{"an executor that is not there", func(c *Config) { c.Executor = "nothing" }, "(there are: sleep, stress-ng)"},
	} {
		cfg := testConfig()
		c.change(&cfg)
		_, err := New(cfg)
		if (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%s: %v, want %q", c.what, err, c.wrong)
		}
	}
}
