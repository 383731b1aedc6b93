package rpc

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"
)

// gate is a send function that lets one batch through per permit, and remembers them.
type gate struct {
	permit  chan struct{}
	batches [][]int
}

func (g *gate) send(ctx context.Context, batch []int) {
	select {
	case <-g.permit:
		g.batches = append(g.batches, slices.Clone(batch))
	case <-ctx.Done():
	}
}

func post(t *testing.T, s *Sender[int], items ...int) {
	t.Helper()
	for _, i := range items {
		if err := s.Post(i); err != nil {
			t.Fatal(err)
		}
	}
}

// TestBatchesFormWhileThePeerIsBusy: the first item leaves alone, what came meanwhile leaves together,
// and never more than maxBatch at once. Without coalescing every item leaves alone.
func TestBatchesFormWhileThePeerIsBusy(t *testing.T) {
	for _, c := range []struct {
		maxBatch int
		want     [][]int
	}{
		{3, [][]int{{1}, {2, 3, 4}, {5, 6}}},
		{1, [][]int{{1}, {2}, {3}, {4}, {5}, {6}}},
		{0, [][]int{{1}, {2}, {3}, {4}, {5}, {6}}},
		{100, [][]int{{1}, {2, 3, 4, 5, 6}}},
	} {
		synctest.Test(t, func(t *testing.T) {
			g := &gate{permit: make(chan struct{})}
			s := NewSender(c.maxBatch, 0, g.send)
			post(t, s, 1)
			synctest.Wait()
			post(t, s, 2, 3, 4, 5, 6)
			if n := s.Pending(); n != 6 {
				t.Errorf("%d pending, want 6", n)
			}
			close(g.permit)
			if n := s.Close(background); n != 0 {
				t.Errorf("%d abandoned", n)
			}
			if !slices.EqualFunc(g.batches, c.want, slices.Equal[[]int]) {
				t.Errorf("maxBatch %d: batches %v, want %v", c.maxBatch, g.batches, c.want)
			}
		})
	}
}

// TestSenderKeepsOrder: whatever the timing, everything arrives once and in order.
func TestSenderKeepsOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, maxBatch := rapid.IntRange(0, 300).Draw(t, "items"), rapid.IntRange(1, 20).Draw(t, "max batch")
		var got, want []int
		s := NewSender(maxBatch, 0, func(_ context.Context, batch []int) {
			if len(batch) == 0 || len(batch) > maxBatch {
				t.Errorf("batch of %d", len(batch))
			}
			got = append(got, batch...)
		})
		for i := range n {
			want = append(want, i)
			if err := s.Post(i); err != nil {
				t.Fatal(err)
			}
		}
		if abandoned := s.Close(background); abandoned != 0 || !slices.Equal(got, want) {
			t.Fatalf("%d abandoned, got %v", abandoned, got)
		}
	})
}

func TestSenderBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{permit: make(chan struct{})}
		s := NewSender(1, 3, g.send)
		post(t, s, 1)
		synctest.Wait()
		post(t, s, 2, 3)
		if err := s.Post(4); !errors.Is(err, ErrFull) {
			t.Errorf("got %v", err)
		}
		g.permit <- struct{}{}
		synctest.Wait()
		post(t, s, 5)
		close(g.permit)
		s.Close(background)
		if err := s.Post(6); !errors.Is(err, ErrClosed) {
			t.Errorf("got %v", err)
		}
	})
}

// TestCloseAbandons: when the time is up, the batch being sent is told, and the rest is counted.
func TestCloseAbandons(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{permit: make(chan struct{})}
		s := NewSender(1, 0, g.send)
		post(t, s, 1, 2, 3)
		synctest.Wait()
		post(t, s, 4)
		ctx, cancel := context.WithCancel(background)
		cancel()
		for range 2 {
			if n := s.Close(ctx); n != 3 {
				t.Errorf("%d abandoned, want 3: all but the one that send had", n)
			}
		}
	})
}

// TestSenderDoesNotAllocate: a steady stream reuses its buffers.
func TestSenderDoesNotAllocate(t *testing.T) {
	consumed := make(chan struct{}, 1)
	s := NewSender(16, 0, func(_ context.Context, batch []int) {
		for range batch {
			consumed <- struct{}{}
		}
	})
	defer s.Close(background)
	if n := testing.AllocsPerRun(1000, func() {
		for i := range 8 {
			s.Post(i)
		}
		for range 8 {
			<-consumed
		}
	}); n != 0 {
		t.Errorf("%v allocations for 8 items", n)
	}
}
