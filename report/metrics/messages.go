package metrics

import (
	"slices"

	"dodoor/generator"
)

// Messages counts the request messages of a run by kind, at the schedulers but for reports, which
// arrive at the data service.
type Messages struct {
	Submit   int64 `json:"submit"`
	Probe    int64 `json:"probe"`
	Enqueue  int64 `json:"enqueue"`
	Delta    int64 `json:"delta"`
	Push     int64 `json:"push"`
	Report   int64 `json:"report"`
	Complete int64 `json:"complete"`
	Cancel   int64 `json:"cancel"`
	Collect  int64 `json:"collect"` // the generator fetching results
}

// Control is the paper's figure: what deciding costs.
func (m Messages) Control() int64 {
	return m.Submit + m.Probe + m.Delta + m.Push + m.Cancel
}

// All counts every request message between any two services.
func (m Messages) All() int64 {
	return m.Control() + m.Enqueue + m.Report + m.Complete + m.Collect
}

// messagesOf returns what was counted between the two moments, and the services that did not answer
// at the second and so are not in it.
func messagesOf(before, after generator.Counters) (m Messages, missing []string) {
	for name, now := range after.Schedulers {
		earlier := before.Schedulers[name]
		for key, field := range map[string]*int64{
			"in.submit": &m.Submit, "out.probe": &m.Probe, "out.enqueue": &m.Enqueue, "out.delta": &m.Delta,
			"in.push": &m.Push, "in.complete": &m.Complete, "out.cancel": &m.Cancel, "in.collect": &m.Collect,
		} {
			*field += since(earlier, now, key)
		}
	}
	m.Report = since(before.Data, after.Data, "in.report")
	for name := range before.Schedulers {
		if _, ok := after.Schedulers[name]; !ok {
			missing = append(missing, name)
		}
	}
	slices.Sort(missing)
	if before.Data != nil && after.Data == nil {
		missing = append(missing, "data service")
	}
	return m, missing
}

// since is one counter's increase. A counter that fell belongs to a service that restarted in
// between: what it counts now is then all that is known.
func since(before, after map[string]int64, key string) int64 {
	if after[key] < before[key] {
		return after[key]
	}
	return after[key] - before[key]
}
