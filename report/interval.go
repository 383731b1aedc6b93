package report

import (
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Estimate is a mean over seeds and half the width of its 95 % interval by Student's t, which is 0
// for one seed: nothing is then known about the spread.
type Estimate struct {
	Mean, Half float64
	N          int
}

// estimate treats seeds as independent.
func estimate(values []float64) Estimate {
	e := Estimate{Mean: stat.Mean(values, nil), N: len(values)}
	if e.N > 1 {
		t := distuv.StudentsT{Sigma: 1, Nu: float64(e.N - 1)}.Quantile(0.975)
		e.Half = t * stat.StdDev(values, nil) / math.Sqrt(float64(e.N))
	}
	return e
}

// Estimate is a figure of the cell's runs.
func (c *Cell) Estimate(figure func(*Summary) float64) Estimate {
	values := make([]float64, len(c.Runs))
	for i, r := range c.Runs {
		values[i] = figure(r.Summary)
	}
	return estimate(values)
}
