package campaign

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"dodoor/report/stats"
)

// number writes a figure with as many digits as it can bear, and thousands apart.
func number(v float64) string { return decimal(v, decimals(v)) }

// exact writes a number that is nobody's measurement, such as a setting, with the digits that it has.
func exact(v float64) string {
	_, fraction, _ := strings.Cut(strconv.FormatFloat(v, 'f', -1, 64), ".")
	return decimal(v, len(fraction))
}

func decimals(v float64) int {
	switch v = math.Abs(v); {
	case v == 0 || v >= 100:
		return 0
	case v >= 10:
		return 1
	case v >= 1:
		return 2
	}
	return 3
}

// decimal writes a number with so many decimals. NaN is a figure that does not exist.
func decimal(v float64, places int) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "–"
	}
	whole, fraction, _ := strings.Cut(fmt.Sprintf("%.*f", places, math.Abs(v)), ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if fraction != "" {
		whole += "." + fraction
	}
	if v < 0 && strings.Trim(whole, "0.,") != "" {
		whole = "−" + whole
	}
	return whole
}

// digits is how many a figure has after the point.
func (m *Metric) digits(v float64) int {
	if m.Digits > 0 {
		return m.Digits
	}
	return decimals(v)
}

// text writes a figure.
func (m *Metric) text(v float64) string { return decimal(v, m.digits(v)) }

// spread writes a mean ± half its interval.
func (m *Metric) spread(e stats.Estimate) string {
	if e.N < 2 {
		return m.text(e.Mean)
	}
	return m.text(e.Mean) + " ± " + decimal(e.Half, m.digits(e.Mean))
}

// percent writes a share with its sign.
func percent(share float64) string {
	text := decimal(100*share, 1)
	if share > 0 && text != decimal(0, 1) {
		text = "+" + text
	}
	return text
}

// changed writes a change with its interval, in per cent. A tilde says that the interval holds zero.
func changed(c stats.Change) string {
	if c.Pairs < 2 {
		return percent(c.Mean)
	}
	mark := ""
	if !c.Significant() {
		mark = "~"
	}
	return fmt.Sprintf("%s%s [%s, %s]", mark, percent(c.Mean), percent(c.Low), percent(c.High))
}
