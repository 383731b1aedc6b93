package workerd

import (
	"net"
	"strings"
	"testing"

	"dodoor/internal/rpc/rpctest"
)

func TestBadConfiguration(t *testing.T) {
	busy := listenTCP(t)
	defer busy.Close()
	for what, test := range map[string]struct {
		change func(*Config)
		want   string
	}{
		"port in use":            {func(c *Config) { c.Listen = busy.Addr().String() }, "address already in use"},
		"no port":                {func(c *Config) { c.Listen = "127.0.0.1" }, "missing port"},
		"every interface":        {func(c *Config) { c.Listen = "0.0.0.0:0" }, "set the address that others dial"},
		"every interface (IPv6)": {func(c *Config) { c.Listen = ":0" }, "set the address that others dial"},
		"no slots":               {func(c *Config) { c.Node.Node.Slots = 0 }, "0 slots"},
		"empty notices":          {func(c *Config) { c.MaxBatch = 0 }, "0 completions per notice"},
		"no heartbeat":           {func(c *Config) { c.Heartbeat = 0 }, "heartbeat every 0s"},
	} {
		t.Run(what, func(t *testing.T) {
			cfg := config(tcp())
			test.change(&cfg)
			d, err := New(cfg)
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), "worker") {
				t.Fatalf("error %v, want one of the worker that says %q", err, test.want)
			}
			if d != nil {
				t.Error("a worker came with the error")
			}
		})
	}
}

// A configuration that is refused leaves no port bound.
func TestRefusedConfigurationFreesThePort(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.7.3:0") // an address that no other test uses
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	cfg := config(tcp())
	cfg.Listen, cfg.MaxBatch = l.Addr().String(), 0
	if _, err := New(cfg); err == nil {
		t.Fatal("accepted")
	}
	again, err := net.Listen("tcp", cfg.Listen)
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
}

func TestAdvertisedAddress(t *testing.T) {
	cfg := config(tcp())
	cfg.Listen, cfg.Address = "0.0.0.0:0", "node-17:20501"
	d, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if _, port, _ := net.SplitHostPort(d.Addr()); d.self.Address != cfg.Address || port == "0" {
		t.Errorf("bound to %s, advertised as %s", d.Addr(), d.self.Address)
	}
	running(t, d)()
}

// A worker listens where its configuration says, in memory for one.
func TestListensElsewhere(t *testing.T) {
	cfg := config(tcp())
	cfg.Listen, cfg.RPC.Listen = "w1:1", rpctest.NewNetwork().Listen
	d, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if d.Addr() != "w1:1" || d.self.Address != "w1:1" {
		t.Errorf("bound to %s, advertised as %s", d.Addr(), d.self.Address)
	}
	running(t, d)()
}
