package generator

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"dodoor/internal/cluster"
)

// Stats describes a trace.
type Stats struct {
	Requests     int
	Span         time.Duration // first to last start
	CoreSeconds  float64
	MeanDuration time.Duration
	Durations    [5]time.Duration // minimum, 25 %, median, 75 %, maximum
	Cores        []Share          // by number of cores, most frequent first
	Memory       [3]int64         // least, median, most; MiB
	Kinds        []Share          // by type and mode, most frequent first
}

// Share is how often something occurs.
type Share struct {
	Name  string
	Count int
}

// Describe computes the Stats of a trace.
func Describe(requests []Request) Stats {
	s := Stats{Requests: len(requests)}
	if len(requests) == 0 {
		return s
	}
	cores, kinds := map[string]int{}, map[string]int{}
	durations := make([]int64, len(requests))
	memory := make([]int64, len(requests))
	total := 0.0
	for i := range requests {
		q := &requests[i]
		durations[i], memory[i] = q.Duration, q.Demand[cluster.Memory]
		total += float64(q.Duration)
		s.CoreSeconds += float64(q.Demand[cluster.Cores]) / 1e3 * float64(q.Duration) / 1e3
		cores[string(appendDecimal(nil, q.Demand[cluster.Cores], milliPlaces))]++
		kinds[q.Type+" "+q.Mode]++
	}
	slices.Sort(durations)
	slices.Sort(memory)
	s.Span = requests[len(requests)-1].Start - requests[0].Start
	s.MeanDuration = time.Duration(total / float64(len(requests)) * float64(time.Millisecond))
	for i := range s.Durations {
		s.Durations[i] = time.Duration(durations[(len(durations)-1)*i/4]) * time.Millisecond
	}
	for i := range s.Memory {
		s.Memory[i] = memory[(len(memory)-1)*i/2]
	}
	s.Cores, s.Kinds = sharesOf(cores), sharesOf(kinds)
	return s
}

func sharesOf(counts map[string]int) []Share {
	shares := make([]Share, 0, len(counts))
	for name, n := range counts {
		shares = append(shares, Share{name, n})
	}
	slices.SortFunc(shares, func(a, b Share) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Name, b.Name))
	})
	return shares
}

// Print writes s for people.
func (s Stats) Print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "requests\t%d\n", s.Requests)
	if s.Requests > 0 {
		rate := "all at once"
		if s.Span > 0 {
			rate = fmt.Sprintf("%.4g requests/s", float64(s.Requests-1)/s.Span.Seconds())
		}
		fmt.Fprintf(t, "span\t%.3f s (%s)\n", s.Span.Seconds(), rate)
		fmt.Fprintf(t, "work\t%.6g core-seconds\n", s.CoreSeconds)
		d := s.Durations
		fmt.Fprintf(t, "duration\tmean %.3f s, min %.3f, 25%% %.3f, median %.3f, 75%% %.3f, max %.3f\n", s.MeanDuration.Seconds(),
			d[0].Seconds(), d[1].Seconds(), d[2].Seconds(), d[3].Seconds(), d[4].Seconds())
		fmt.Fprintf(t, "memory\tmin %d MiB, median %d, max %d\n", s.Memory[0], s.Memory[1], s.Memory[2])
		printShares(t, "cores", s.Cores, s.Requests)
		printShares(t, "type, mode", s.Kinds, s.Requests)
	}
	return t.Flush()
}

// printShares lists the most frequent values and sums up the rest.
func printShares(w io.Writer, title string, shares []Share, total int) {
	const shown = 24
	rest := 0
	for i, s := range shares {
		if i >= shown {
			rest += s.Count
			continue
		}
		fmt.Fprintf(w, "%s\t%s  %d (%.1f %%)\n", title, strings.TrimSpace(s.Name), s.Count, 100*float64(s.Count)/float64(total))
		title = ""
	}
	if rest > 0 {
		fmt.Fprintf(w, "\t%d others  %d (%.1f %%)\n", len(shares)-shown, rest, 100*float64(rest)/float64(total))
	}
}
