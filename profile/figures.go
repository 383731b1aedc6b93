package profile

import (
	"fmt"
	"io"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"dodoor/conf"
)

// Figures are what schedulers read of a mode on a class and, where they have just been made, the runs
// behind them.
type Figures struct {
	Type       string  `json:"type"`
	Mode       string  `json:"mode"`
	Class      string  `json:"class"`
	Cores      float64 `json:"cores"`
	MemoryMB   int64   `json:"memory_mb"`
	DurationMs int64   `json:"duration_ms"`
	Spread     *Spread `json:"spread,omitempty"`
}

// Spread is what the runs of a mode were like.
type Spread struct {
	Runs         int     `json:"runs"`
	StartupMs    float64 `json:"startup_ms"` // mean
	MeanMs       float64 `json:"mean_ms"`
	P50Ms        float64 `json:"p50_ms"`
	P95Ms        float64 `json:"p95_ms"`
	Variation    float64 `json:"variation"`      // standard deviation over the mean
	BusyCores    float64 `json:"busy_cores"`     // mean
	PeakMemoryMB int64   `json:"peak_memory_mb"` // the most
	OthersCores  float64 `json:"others_cores"`   // that others kept busy meanwhile
}

func spreadOf(j *job) *Spread {
	s := j.statistics()
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	return &Spread{s.Runs, ms(s.Startup), ms(s.Mean), ms(s.P50), ms(s.P95), s.Variation, s.Cores, s.PeakMemory, j.others}
}

// List lists every mode on every class that it has figures for. Of spreads, by type and mode, it takes what there is.
func List(types []conf.TaskType, spreads map[string]*Spread) []Figures {
	var all []Figures
	for _, t := range types {
		for _, m := range t.Modes {
			for _, p := range m.Profiles {
				all = append(all, Figures{t.Name, m.Name, p.Class, p.Cores, p.MemoryMB, time.Duration(p.Duration).Milliseconds(),
					spreads[t.Name+" "+m.Name]})
			}
		}
	}
	return all
}

// Print prints the figures that were written into a file.
func Print(w io.Writer, all []Figures, file string) error {
	measured := len(all) > 0 && all[0].Spread != nil
	header := table.Row{"type", "mode", "class", "cores", "MiB", "duration ms"}
	if measured {
		header = append(header, "runs", "start-up ms", "P50 ms", "P95 ms", "CV %", "busy cores", "peak MiB")
	}
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	t.AppendHeader(header)
	var right []table.ColumnConfig
	for i := 4; i <= len(header); i++ {
		right = append(right, table.ColumnConfig{Number: i, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(right)
	for _, row := range all {
		cells := table.Row{row.Type, row.Mode, row.Class, row.Cores, row.MemoryMB, row.DurationMs}
		if s := row.Spread; s != nil {
			cells = append(cells, s.Runs, fmt.Sprintf("%.0f", s.StartupMs), fmt.Sprintf("%.0f", s.P50Ms), fmt.Sprintf("%.0f", s.P95Ms),
				fmt.Sprintf("%.1f", 100*s.Variation), fmt.Sprintf("%.2f", s.BusyCores), s.PeakMemoryMB)
		}
		t.AppendRow(cells)
	}
	_, err := fmt.Fprintf(w, "%s\ntask types   %s\n", t.Render(), file)
	if err == nil && measured {
		_, err = fmt.Fprintf(w, "spread       %s\n", pictureBeside(file))
	}
	return err
}
