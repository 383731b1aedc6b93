package generator

import (
	"bufio"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"dodoor/internal/cluster"
)

// WriteTrace writes requests, one by one, in the format that TraceReader reads, with a header; the extra
// resources of dims get a column each. Reading it back gives the same requests. It fails on a
// request whose texts no line can hold.
func WriteTrace(w io.Writer, dims cluster.Dimensions, requests iter.Seq[Request]) error {
	b := bufio.NewWriter(w)
	line := []byte(strings.Join(slices.Concat(traceColumns, dims.Extras()), ",") + "\n")
	i := 0
	for q := range requests {
		i++
		if _, err := b.Write(line); err != nil {
			return err
		}
		for _, s := range [...]string{q.ID, q.Type, q.Mode} {
			if !printable(s) {
				return fmt.Errorf("request %d: %q is not UTF-8 text without control characters", i, shorten(s))
			}
		}
		line = appendRequest(line[:0], &q, dims.Len())
	}
	if _, err := b.Write(line); err != nil {
		return err
	}
	return b.Flush()
}

func appendRequest(line []byte, q *Request, dimensions int) []byte {
	line = append(appendField(line, q.ID), ',')
	line = append(appendDecimal(line, q.Demand[cluster.Cores], milliPlaces), ',')
	line = append(appendDecimal(line, q.Demand[cluster.Memory], wholePlaces), ',')
	line = append(appendDecimal(line, q.Demand[cluster.Disk], wholePlaces), ',')
	line = append(appendDecimal(line, q.Duration, wholePlaces), ',')
	line = append(appendMillis(line, q.Start), ',')
	line = append(appendField(line, q.Type), ',')
	line = appendField(line, q.Mode)
	for k := cluster.FirstExtra; k < dimensions; k++ {
		line = appendDecimal(append(line, ','), q.Demand[k], milliPlaces)
	}
	return append(line, '\n')
}
