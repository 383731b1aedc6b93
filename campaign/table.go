package campaign

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Table shows settings, a row each.
type Table struct {
	Labels  []string // heads of the columns that say which setting it is
	Columns []Column
	Rows    []Row
}

// Row is a setting, or one figure of it.
type Row struct {
	Labels  []string
	Cell    Cell
	Against *Cell  // what changes and ratios compare with; nil: nothing
	Beside  []Cell // other settings whose figures stand in the row

	Metric    Metric  // where rows are figures, not settings
	Published float64 // the figure's value
	Bound     float64 // of a ratio; 0: none
}

// Column is what a table says of every row.
type Column struct {
	Head string
	Text func(r *Results, row *Row) string
}

// row makes a row with a baseline; nil for none.
func row(c Cell, against *Cell, labels ...string) Row {
	return Row{Labels: labels, Cell: c, Against: against}
}

// write writes the table in Markdown, its columns aligned in the text as well. A row whose tasks did not all
// finish says so.
func (t *Table) write(b *strings.Builder, r *Results) {
	lines := [][]string{append([]string{}, t.Labels...)}
	for _, c := range t.Columns {
		lines[0] = append(lines[0], c.Head)
	}
	for i := range t.Rows {
		row := &t.Rows[i]
		line := append([]string{}, row.Labels...)
		if !r.complete(row.Cell) {
			line[len(line)-1] += " **INCOMPLETE**"
		}
		for _, c := range t.Columns {
			line = append(line, c.Text(r, row))
		}
		lines = append(lines, line)
	}
	writeAligned(b, lines, len(t.Labels))
}

// writeAligned writes lines of cells, the first one as heads: so many columns to the left, the others to the
// right.
func writeAligned(b *strings.Builder, lines [][]string, left int) {
	widths := make([]int, len(lines[0]))
	for _, line := range lines {
		for i := range line {
			line[i] = strings.ReplaceAll(line[i], "|", `\|`)
			widths[i] = max(widths[i], utf8.RuneCountInString(line[i]))
		}
	}
	for n, line := range lines {
		for i, text := range line {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(text))
			if i < left {
				text += pad
			} else {
				text = pad + text
			}
			b.WriteString("| " + text + " ")
		}
		b.WriteString("|\n")
		if n > 0 {
			continue
		}
		for i, w := range widths {
			if i < left {
				fmt.Fprintf(b, "|%s", strings.Repeat("-", w+2))
			} else {
				fmt.Fprintf(b, "|%s:", strings.Repeat("-", w+1))
			}
		}
		b.WriteString("|\n")
	}
}
