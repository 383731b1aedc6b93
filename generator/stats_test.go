package generator

import (
	"strings"
	"testing"
	"time"

	"dodoor/internal/cluster"
)

func TestDescribe(t *testing.T) {
	q := []Request{
		{ID: "0", Type: "a", Mode: "short", Demand: cluster.Resources{500, 10}, Duration: 1000},
		{ID: "1", Type: "a", Mode: "short", Demand: cluster.Resources{2000, 30}, Duration: 3000, Start: time.Second},
		{ID: "2", Type: "b", Demand: cluster.Resources{2000, 20}, Duration: 500, Start: 4 * time.Second},
	}
	var b strings.Builder
	if err := Describe(q).Print(&b); err != nil {
		t.Fatal(err)
	}
	want := `requests    3
span        4.000 s (0.5 requests/s)
work        7.5 core-seconds
duration    mean 1.500 s, min 0.500, 25% 0.500, median 1.000, 75% 1.000, max 3.000
memory      min 10 MiB, median 20, max 30
cores       2  2 (66.7 %)
            0.5  1 (33.3 %)
type, mode  a short  2 (66.7 %)
            b  1 (33.3 %)
`
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
	b.Reset()
	if err := Describe(nil).Print(&b); err != nil || b.String() != "requests  0\n" {
		t.Errorf("nothing prints as %q, %v", b.String(), err)
	}
}
