package main

import (
	"strings"
	"testing"
	"time"

	"dodoor/internal/cluster"
)

// What milliseconds and millicores cannot hold is refused, not rounded to nothing.
func TestSubmitFigures(t *testing.T) {
	for _, c := range []struct {
		flag, value, says string
	}{
		{"-duration", "100us", "whole milliseconds from 1ms"},
		{"-duration", "1500us", "whole milliseconds"},
		{"-duration", "-1s", "whole milliseconds"},
		{"-duration", "9000h", "8760h"},
		{"-cores", "0.0001", "multiples of 0.001"},
		{"-cores", "1.0005", "multiples of 0.001"},
		{"-cores", "-1", "multiples of 0.001"},
		{"-cores", "NaN", "multiples of 0.001"},
		{"-cores", "Inf", "multiples of 0.001"},
		{"-memory", "-1", "allowed are 0"},
		{"-memory", "1.5", "a number is expected, or auto"},
		{"-cores", "Auto", "a number is expected, or auto"},
	} {
		_, stderr, code := dodoor("submit", "-type", "sleep", c.flag, c.value)
		if code != exitUsage || !strings.Contains(stderr, c.flag) || !strings.Contains(stderr, c.says) {
			t.Errorf("%s %s: exit code %d, says %q; want %q", c.flag, c.value, code, stderr, c.says)
		}
	}
	var s cluster.TaskSpec
	if err := explicitFigures(&s, 0.3, 5, 1234*time.Millisecond); err != nil || s.Demand[cluster.Cores] != 300 || *s.Duration != 1234 {
		t.Errorf("got %+v, %v", s, err)
	}
}
