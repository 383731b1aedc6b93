package transcript

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// echo says what it understood.
func echo(c *Command) string {
	if c.Verb != "say" {
		return c.Unknown()
	}
	return fmt.Sprintf("%v %v wait %v share %v load %v", c.Now, c.Words,
		Value(c, "wait", time.Second), Value(c, "share", 1.0), Value(c, "load", []int64(nil)))
}

func TestScenarios(t *testing.T) {
	Play(t, "testdata", func(*testing.T) func(*Command) string { return echo })
}

// recorder is a test whose failure is the result.
type recorder struct {
	testing.TB
	failure string
}

func (r *recorder) Helper()      {}
func (r *recorder) Failed() bool { return r.failure != "" }

func (r *recorder) Logf(string, ...any) {}

func (r *recorder) Fatalf(format string, args ...any) {
	r.failure = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// What a scenario gets wrong ends it, with the line; so does an outcome that is not the written one.
func TestMistakesAreFound(t *testing.T) {
	rewrite := flag.Lookup("rewrite").Value // with it every outcome would be right
	defer rewrite.Set(rewrite.String())
	rewrite.Set("false")
	for _, c := range []struct{ what, text, want string }{
		{"nothing wrong", "say a at=1s\n----\n1s [a] wait 1s share 1 load []\n", ""},
		{"another outcome", "say a\n----\n1s\n", "expected"},
		{"the clock goes back", "say at=2s\n----\n2s [] wait 1s share 1 load []\n\nsay at=1s\n----\n", ":5: it is 2s already"},
		{"an unknown command", "shout\n----\n", ":1: no command is called \"shout\""},
		{"an argument nobody reads", "say waits=3s\n----\n", ":1: say has no argument waits"},
		{"no number", "say share=much\n----\n", ":1: share: failed to scan"},
	} {
		path := filepath.Join(t.TempDir(), "scenario.txt")
		if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		r := &recorder{TB: t}
		done := make(chan struct{})
		go func() {
			defer close(done)
			play(r, path, echo)
		}()
		<-done
		if c.want == "" && r.failure != "" || !strings.Contains(r.failure, c.want) {
			t.Errorf("%s: %q, want %q", c.what, r.failure, c.want)
		}
	}
}
