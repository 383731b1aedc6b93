package stats

import (
	"fmt"
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

// EstimateOf treats seeds as independent.
func EstimateOf(values []float64) Estimate {
	e := Estimate{Mean: Mean(values), N: len(values)}
	if e.N > 1 {
		t := distuv.StudentsT{Sigma: 1, Nu: float64(e.N - 1)}.Quantile(0.975)
		e.Half = t * stat.StdDev(values, nil) / math.Sqrt(float64(e.N))
	}
	return e
}

// String is mean ± half the interval, with as many decimals as the mean can bear.
func (e Estimate) String() string {
	decimals := 3
	switch {
	case e.Mean >= 1000:
		decimals = 0
	case e.Mean >= 100:
		decimals = 1
	case e.Mean >= 1:
		decimals = 2
	}
	if e.N < 2 {
		return fmt.Sprintf("%.*f", decimals, e.Mean)
	}
	return fmt.Sprintf("%.*f ± %.*f", decimals, e.Mean, decimals, e.Half)
}
