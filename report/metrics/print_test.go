package metrics

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"

	"dodoor/internal/cluster"
	"dodoor/report/reporttest"
)

var rewrite = flag.Bool("rewrite", false, "write the expected output instead of checking it")

func TestTable(t *testing.T) {
	warm := reporttest.Finished("0", 0, 900)
	warm.Warmup = true
	good := reporttest.Info()
	good.After.Schedulers = map[string]map[string]int64{"s0": {"in.submit": 4, "out.enqueue": 4, "out.delta": 1, "in.complete": 3}}
	bad := reporttest.Info()
	bad.QPS, bad.TimeScale = 0, 1
	bad.Before.Schedulers = map[string]map[string]int64{"s1": {}}
	for file, s := range map[string]*Summary{
		"good.txt": fold(good, warm, reporttest.Finished("1", 100, 36), reporttest.Finished("2", 150, 86), reporttest.Finished("3", 160, 123456)),
		"bad.txt": fold(bad, reporttest.Finished("1", 100, 36), reporttest.Never("2", cluster.Lost, 1), reporttest.Never("3", cluster.Failed, 2),
			reporttest.Never("4", cluster.TimedOut, 2)),
		"empty.txt": fold(reporttest.Info()),
	} {
		var b bytes.Buffer
		if err := s.Print(&b); err != nil {
			t.Fatal(err)
		}
		if *rewrite {
			if err := os.WriteFile("testdata/"+file, b.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile("testdata/" + file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(b.Bytes(), want) {
			t.Errorf("%s: go test -rewrite accepts this output:\n%s", file, b.Bytes())
		}
	}
}

// What must not be overlooked is the last thing on the screen.
func TestLossIsLoud(t *testing.T) {
	var b strings.Builder
	if err := fold(reporttest.Info(), reporttest.Never("2", cluster.Lost, 1)).Print(&b); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	if last := lines[len(lines)-1]; !strings.HasPrefix(last, "!!!") || !strings.Contains(last, "1 were LOST") {
		t.Errorf("the last line is %q", last)
	}
	b.Reset()
	if err := fold(reporttest.Info(), reporttest.Finished("1", 0, 1)).Print(&b); err != nil || strings.Contains(b.String(), "!!!") {
		t.Errorf("a clean run warns: %s, %v", b.String(), err)
	}
}
