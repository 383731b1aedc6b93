package main

import (
	"context"
	"io"
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

type answers func() (cluster.CollectReply, error)

func (a answers) Collect(context.Context, cluster.CollectRequest) (cluster.CollectReply, error) {
	return a()
}

// Whatever ends the waiting, the person learns what the task does now, and how to look.
func TestAwaitSaysWhatBecomesOfTheTask(t *testing.T) {
	scheduler := cluster.SchedulerRef{Name: "s1", Incarnation: 7}
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	for _, c := range []struct {
		what   string
		answer answers
		says   []string
	}{
		{"it died", func() (cluster.CollectReply, error) { return cluster.CollectReply{}, io.EOF },
			[]string{"scheduler s1 is gone", "may still run", "dodoor tasks -id a"}},
		{"it restarted", func() (cluster.CollectReply, error) { return cluster.CollectReply{Incarnation: 8}, nil },
			[]string{"scheduler s1 is gone", "may still run"}},
		{"Ctrl-C", func() (cluster.CollectReply, error) { interrupt(); return cluster.CollectReply{}, ctx.Err() },
			[]string{"goes on", "dodoor cancel a"}},
	} {
		record, err := await(ctx, c.answer, scheduler, "a")
		if err == nil || record != nil {
			t.Fatalf("%s: got %+v, %v", c.what, record, err)
		}
		for _, text := range c.says {
			if !strings.Contains(err.Error(), text) {
				t.Errorf("%s: %v: says nothing of %q", c.what, err, text)
			}
		}
	}
}
