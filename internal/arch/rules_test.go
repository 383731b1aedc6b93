package arch

import (
	"strings"
	"testing"
)

// Each case is one file, and a part of the only finding that it must cause; "" when it breaks
// nothing.
var cases = []struct {
	name string
	rule rule
	path string
	text string
	want string
}{
	{"lower row", layering, "scheduler/schedulerd/a.go", `package p; import _ "dodoor/internal/rpc"`, ""},
	{"higher row", layering, "scheduler/a.go", `package p; import _ "dodoor/internal/rpc"`, "scheduler must not import internal/rpc"},
	{"policies reach the shell as values", layering, "scheduler/schedulerd/a.go", `package p; import _ "dodoor/baselines"`,
		"must not import baselines"},
	{"a shell does not see another's pure package", layering, "worker/workerd/a.go", `package p; import _ "dodoor/scheduler"`,
		"must not import scheduler"},
	{"test of a higher row", layering, "scheduler/a_test.go", `package p; import _ "dodoor/baselines"`, ""},
	{"standard library", layering, "internal/cluster/a.go", `package p; import _ "os"`, ""},
	{"unlisted package", layering, "internal/extra/a.go", `package p`, "add it to the table"},
	{"unlisted package, test", layering, "internal/extra/a_test.go", `package p`, "add it to the table"},
	{"root package", layering, "main.go", `package main`, "add it to the table"},

	{"thrift in rpc", thriftStaysInRPC, "internal/rpc/a.go", `package p; import _ "github.com/apache/thrift/lib/go/thrift"`, ""},
	{"thrift below rpc", thriftStaysInRPC, "internal/rpc/rpctest/a.go", `package p; import _ "dodoor/gen-go/dodoor"`, ""},
	{"thrift elsewhere", thriftStaysInRPC, "worker/workerd/a.go", `package p; import _ "github.com/apache/thrift/lib/go/thrift"`,
		"only internal/rpc knows Thrift"},
	{"generated code elsewhere", thriftStaysInRPC, "cmd/dodoor/a.go", `package p; import _ "dodoor/gen-go/dodoor"`,
		"only internal/rpc knows Thrift"},
	{"generated code in a test", thriftStaysInRPC, "worker/a_test.go", `package p; import _ "dodoor/gen-go/dodoor"`,
		"only internal/rpc knows Thrift"},
	{"generated code itself", thriftStaysInRPC, "gen-go/dodoor/a.go", `package p; import _ "github.com/apache/thrift/lib/go/thrift"`, ""},

	{"pure import", purity, "scheduler/a.go", `package p; import _ "math/bits"`, ""},
	{"own vocabulary", purity, "scheduler/a.go", `package p; import _ "dodoor/internal/cluster"`, ""},
	{"io.Reader", purity, "generator/a.go", `package p; import "io"; var r io.Reader`, ""},
	{"os", purity, "worker/a.go", `package p; import _ "os"`, "must not import os"},
	{"os/exec", purity, "worker/a.go", `package p; import _ "os/exec"`, "must not import os/exec"},
	{"net/http", purity, "datastore/a.go", `package p; import _ "net/http"`, "must not import net/http"},
	{"log/slog", purity, "sim/a.go", `package p; import _ "log/slog"`, "must not import log/slog"},
	{"sync", purity, "baselines/a.go", `package p; import _ "sync"`, "must not import sync"},
	{"sync/atomic", purity, "internal/cluster/a.go", `package p; import _ "sync/atomic"`, "must not import sync/atomic"},
	{"context", purity, "scheduler/a.go", `package p; import _ "context"`, "must not import context"},
	{"syscall", purity, "scheduler/a.go", `package p; import _ "syscall"`, "must not import syscall"},
	{"runtime/debug", purity, "scheduler/a.go", `package p; import _ "runtime/debug"`, "must not import runtime/debug"},
	{"a name that begins like a forbidden one", purity, "scheduler/a.go", `package p; import _ "dodoor/oscillation"`, ""},
	{"library", purity, "scheduler/a.go", `package p; import _ "github.com/rcrowley/go-metrics"`, "not github.com/rcrowley/go-metrics"},
	{"dot import", purity, "scheduler/a.go", `package p; import . "time"`, "dot import"},
	{"shell", purity, "scheduler/schedulerd/a.go", `package p; import _ "os"`, ""},
	{"test of a pure package", purity, "scheduler/a_test.go", `package p; import _ "os"`, ""},

	{"durations", purity, "scheduler/a.go", `package p; import "time"; const d time.Duration = time.Second`, ""},
	{"time.Now", purity, "scheduler/a.go", `package p; import "time"; var t = time.Now()`, "no time.Now"},
	{"time.Now as a value", purity, "scheduler/a.go", `package p; import "time"; var clock = time.Now`, "no time.Now"},
	{"time.Since", purity, "scheduler/a.go", `package p; import "time"; var d = time.Since(t)`, "no time.Since"},
	{"time.Until", purity, "scheduler/a.go", `package p; import "time"; var d = time.Until(t)`, "no time.Until"},
	{"time.Sleep", purity, "scheduler/a.go", `package p; import "time"; func f() { time.Sleep(1) }`, "no time.Sleep"},
	{"time.After", purity, "scheduler/a.go", `package p; import "time"; var c = time.After(1)`, "no time.After"},
	{"time.AfterFunc", purity, "scheduler/a.go", `package p; import "time"; var t = time.AfterFunc(1, nil)`, "no time.AfterFunc"},
	{"time.Tick", purity, "scheduler/a.go", `package p; import "time"; var c = time.Tick(1)`, "no time.Tick"},
	{"time.NewTimer", purity, "scheduler/a.go", `package p; import "time"; var t = time.NewTimer(1)`, "no time.NewTimer"},
	{"time.NewTicker", purity, "scheduler/a.go", `package p; import "time"; var t = time.NewTicker(1)`, "no time.NewTicker"},
	{"the clock under another name", purity, "scheduler/a.go", `package p; import clock "time"; var t = clock.Now()`, "no time.Now"},
	{"somebody else's Now", purity, "scheduler/a.go", `package p; type clock struct{ Now int }; var t = clock{}.Now`, ""},

	{"seeded generator", purity, "sim/a.go", `package p; import "math/rand/v2"; var r *rand.Rand = rand.New(rand.NewPCG(1, 2))`, ""},
	{"global generator, v2", purity, "sim/a.go", `package p; import "math/rand/v2"; var n = rand.IntN(3)`, "no math/rand/v2.IntN"},
	{"global generator, v1", purity, "sim/a.go", `package p; import "math/rand"; var n = rand.Intn(3)`, "no math/rand.Intn"},
	{"global generator, generic", purity, "sim/a.go", `package p; import "math/rand/v2"; var n = rand.N[int](3)`, "no math/rand/v2.N"},
	{"crypto/rand", purity, "sim/a.go", `package p; import _ "crypto/rand"`, "must not import crypto/rand"},

	{"goroutine", purity, "worker/a.go", `package p; func f() { go f() }`, "no goroutines"},
	{"select", purity, "worker/a.go", `package p; func f() { select {} }`, "no select"},
	{"channel", purity, "worker/a.go", `package p; var c chan int`, "no channels"},
	{"send", purity, "worker/a.go", `package p; func f() { c <- 1 }`, "no channels"},

	{"300 lines", shortFiles, "sim/a.go", "package p" + strings.Repeat("\n", 300), ""},
	{"301 lines", shortFiles, "sim/a.go", "package p" + strings.Repeat("\n", 301), "301 lines"},
	{"301 lines of a test", shortFiles, "sim/a_test.go", "package p" + strings.Repeat("\n", 301), "301 lines"},
	{"generated lines", shortFiles, "gen-go/dodoor/a.go", "package p" + strings.Repeat("\n", 301), ""},

	{"140 columns", shortLines, "internal/rpc/a.go", "package p //" + strings.Repeat("é", 128), ""},
	{"141 columns", shortLines, "internal/rpc/a.go", "package p //" + strings.Repeat("é", 129), "141 columns"},
	{"141 columns of a test", shortLines, "internal/rpc/a_test.go", "package p //" + strings.Repeat("é", 129), "141 columns"},
	{"generated columns", shortLines, "gen-go/dodoor/a.go", "package p //" + strings.Repeat("é", 129), ""},

	{"package util", noUtilPackage, "internal/util/a.go", `package util`, "not util"},
	{"package utils", noUtilPackage, "internal/utils/a.go", `package utils`, "not utils"},
	{"package with a name", noUtilPackage, "internal/utilisation/a.go", `package utilisation`, ""},

	{"sleeping test", testsDoNotSleep, "sim/a_test.go", `package p; import "time"; func f() { time.Sleep(1) }`, "tests do not sleep"},
	{"sleeping test, renamed", testsDoNotSleep, "sim/a_test.go", `package p; import t "time"; func f() { t.Sleep(1) }`, "tests do not sleep"},
	{"sleeping shell", testsDoNotSleep, "worker/workerd/a.go", `package p; import "time"; func f() { time.Sleep(1) }`, ""},
	{"a sleep of one's own", testsDoNotSleep, "sim/a_test.go", `package p; func f() { executor.Sleep(1) }`, ""},
}

func TestEveryRuleFires(t *testing.T) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s, err := parse(c.path, []byte(c.text))
			if err != nil {
				t.Fatal(err)
			}
			findings := c.rule(s)
			switch {
			case c.want == "" && len(findings) > 0:
				t.Errorf("found %q, want nothing", findings)
			case c.want != "" && (len(findings) != 1 || !strings.Contains(findings[0], c.want)):
				t.Errorf("found %q, want one finding that says %q", findings, c.want)
			case c.want != "" && !strings.HasPrefix(findings[0], c.path+":"):
				t.Errorf("finding %q does not say where", findings[0])
			}
		})
	}
}
