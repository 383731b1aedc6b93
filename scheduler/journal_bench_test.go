package scheduler

import (
	"fmt"
	"testing"
	"time"

	"dodoor/internal/cluster"
)

// manyKept is what a journal has of so many open tasks of one job and of none, on 100 workers.
func manyKept(t testing.TB, n int) disk {
	cfg := keeping(testConfig(), testIncarnation, time.Hour)
	r := replicaWith(t, cfg, paperPolicy(t), paperNodes(100))
	kept, template := disk{}, &cluster.Template{Argv: []string{"./sim", "-seed", "{}"}}
	digest := template.Digest()
	for i := range n {
		spec, job := request(fmt.Sprintf("task-%d", i), 1, 512, 1000), (*cluster.Job)(nil)
		if i%2 == 0 {
			job = &cluster.Job{ID: "k3w9f2ad"}
			spec = commandOf(job.ID, int64(i), template, digest)
			spec.Command.Entries = []string{fmt.Sprintf("logs/file-%06d.log", i)}
		}
		if _, refusal := r.SubmitJob(time.Second, job, "client", spec); refusal != nil {
			t.Fatal(refusal)
		}
	}
	kept.sync(r)
	return kept
}

// BenchmarkRestore takes 200,000 live tasks up again: goal under 2 s, so that it is under 5 s with the store's part.
func BenchmarkRestore(b *testing.B) {
	kept := manyKept(b, 200_000)
	policy := paperPolicy(b)
	b.ReportAllocs()
	for b.Loop() {
		restored(b, keeping(testConfig(), testIncarnation+1, 2*time.Hour), policy, kept)
	}
}

// BenchmarkKept is BenchmarkTask for a replica that tells of all that it must not forget.
func BenchmarkKept(b *testing.B) {
	r := replicaWith(b, keeping(testConfig(), testIncarnation, time.Hour), paperPolicy(b), paperNodes(100))
	var changes []Change
	bytes := 0
	n := wayOfATask(b, r, func() {
		var upTo int64
		changes, upTo = r.Changes(changes[:0])
		for i := range changes {
			bytes += len(changes[i].Key) + len(changes[i].Value)
		}
		r.Synced(upTo)
	})
	b.ReportMetric(float64(bytes)/float64(max(n, 1)), "kept-B/op")
}
