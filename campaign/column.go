package campaign

import (
	"fmt"
	"math"
)

// spreadOf shows means with their intervals.
func spreadOf(metrics ...Metric) []Column {
	return columnsOf(metrics, func(r *Results, row *Row, m Metric) string { return m.spread(r.estimate(row.Cell, m)) })
}

// meanOf shows means, where the spread is of no interest.
func meanOf(metrics ...Metric) []Column {
	return columnsOf(metrics, func(r *Results, row *Row, m Metric) string { return m.text(r.mean(row.Cell, m)) })
}

func columnsOf(metrics []Metric, text func(*Results, *Row, Metric) string) []Column {
	var columns []Column
	for _, m := range metrics {
		columns = append(columns, Column{m.Head(), func(r *Results, row *Row) string { return text(r, row, m) }})
	}
	return columns
}

// changeOf compares with the row's baseline, run by run.
func changeOf(head string, m Metric) []Column {
	return []Column{{head, func(r *Results, row *Row) string {
		if row.Against == nil || row.Against.key() == row.Cell.key() {
			return "–"
		}
		return changed(r.change(row.Cell, *row.Against, m))
	}}}
}

// ratio is a row's figure over that of its baseline, means over the seeds.
func (r *Results) ratio(row *Row, m Metric) float64 {
	return r.mean(row.Cell, m) / r.mean(*row.Against, m)
}

// ratioOf shows ratios to the baseline.
func ratioOf(head string, m Metric) []Column {
	return []Column{{head, func(r *Results, row *Row) string {
		if row.Against == nil {
			return "–"
		}
		return decimal(r.ratio(row, m), 3)
	}}}
}

// bound shows whether a ratio keeps to its bound.
func bound(m Metric) []Column {
	return []Column{
		{"at most", func(_ *Results, row *Row) string {
			if row.Bound == 0 {
				return "–"
			}
			return decimal(row.Bound, 2)
		}},
		{"kept", func(r *Results, row *Row) string {
			if row.Bound == 0 {
				return "–"
			}
			return verdict(r.ratio(row, m) <= row.Bound)
		}},
	}
}

// near is how far from a published figure one may be that counts as reproduced.
const near = 0.10

// published are the columns of a table whose rows are single figures.
func published() []Column {
	return []Column{
		{"authors", func(_ *Results, row *Row) string { return exact(row.Published) }},
		{"ours", func(r *Results, row *Row) string { return row.Metric.spread(r.estimate(row.Cell, row.Metric)) }},
		{"difference (%)", func(r *Results, row *Row) string { return percent(r.off(row)) }},
		{fmt.Sprintf("within %.0f %%", 100*near), func(r *Results, row *Row) string { return verdict(r.near(row)) }},
	}
}

// off is how far a figure is from the published one, as a share.
func (r *Results) off(row *Row) float64 { return r.mean(row.Cell, row.Metric)/row.Published - 1 }

func (r *Results) near(row *Row) bool { return math.Abs(r.off(row)) <= near }

func verdict(holds bool) string {
	if holds {
		return "yes"
	}
	return "**no**"
}
