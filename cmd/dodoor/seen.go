package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"dodoor/internal/cluster"
	"dodoor/internal/wholefile"
)

// seen is the list of schedulers that a data service told last. It is a cache: whatever is wrong with it, there is none.
type seen struct {
	At         time.Time   `json:"at"`
	Schedulers [][2]string `json:"schedulers"` // name and address
}

// seenPath is where the list of a data service is, below $XDG_CACHE_HOME or ~/.cache.
func seenPath(address string) (string, error) {
	folder, err := os.UserCacheDir()
	return filepath.Join(folder, "dodoor", "schedulers", url.PathEscape(address)+".json"), err
}

// remember keeps who is registered with a data service.
func remember(address string, schedulers []cluster.SchedulerRef) {
	path, err := seenPath(address)
	if err != nil || len(schedulers) == 0 {
		return
	}
	s := seen{At: time.Now()}
	for _, ref := range schedulers {
		s.Schedulers = append(s.Schedulers, [2]string{ref.Name, ref.Address})
	}
	text, err := json.Marshal(s)
	if err == nil && os.MkdirAll(filepath.Dir(path), 0o700) == nil {
		_ = wholefile.Write(path, text)
	}
}

// recall returns who was registered with a data service, and when that was; nobody, where that is not known.
func recall(address string) (refs []cluster.SchedulerRef, since string) {
	path, err := seenPath(address)
	if err != nil {
		return nil, ""
	}
	text, err := os.ReadFile(path)
	var s seen
	if err != nil || json.Unmarshal(text, &s) != nil {
		return nil, ""
	}
	for _, known := range s.Schedulers {
		if known[0] == "" || known[1] == "" {
			return nil, ""
		}
		refs = append(refs, cluster.SchedulerRef{Name: known[0], Address: known[1]})
	}
	return refs, fmt.Sprintf("as they were seen %v ago", time.Since(s.At).Round(time.Second))
}
