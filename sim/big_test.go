package sim_test

import (
	"os"
	"runtime"
	"runtime/pprof"
	"testing"
	"time"

	"dodoor/sim"
)

var dumped bool

func TestBig(t *testing.T) {
	u := setup{"paper", []string{"class.m510.count=40000", "class.xl170.count=25000", "class.c6525-25g.count=18000", "class.c6620.count=17000", "datastore.b=100000"}, "dodoor", "functionbench", 60000, 1000000, 1}
	begin := time.Now()
	cfg := u.config(t)
	t.Log("config", time.Since(begin))
	cfg.Progress = func(n int) bool {
		if n > 900000 && !dumped {
			dumped = true
			f, _ := os.Create("/tmp/heap.prof")
			runtime.GC()
			pprof.WriteHeapProfile(f)
			f.Close()
		}
		return true
	}
	begin = time.Now()
	res, err := sim.Run(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var ms runtime.MemStats
	runtime.ReadMemStats(&ms)
	t.Logf("took %v, %d events, sys %d MB heap %d", time.Since(begin), res.Events, ms.Sys>>20, ms.HeapAlloc>>20)
}
