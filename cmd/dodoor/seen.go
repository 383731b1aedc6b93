package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"dodoor/client"
	"dodoor/internal/cluster"
	"dodoor/internal/wholefile"
)

// missed is how long a scheduler that is not registered any more is told of. Whether it died or left for good nobody says.
const missed = 24 * time.Hour

// sighting is a scheduler that a data service told of, and when it did last.
type sighting struct {
	Name    string    `json:"name"`
	Address string    `json:"address"`
	At      time.Time `json:"at"`
}

// seenPath is where the sightings of a data service are, below $XDG_CACHE_HOME or ~/.cache. They are a cache: whatever is wrong
// with it, there is none.
func seenPath(address string) (string, error) {
	folder, err := os.UserCacheDir()
	return filepath.Join(folder, "dodoor", "schedulers", url.PathEscape(address)+".json"), err
}

// sightings reads them.
func sightings(path string, now time.Time) (all []sighting) {
	text, err := os.ReadFile(path)
	broken := func(s sighting) bool { return s.Name == "" || s.Address == "" || s.At.After(now) }
	if err != nil || json.Unmarshal(text, &all) != nil || slices.ContainsFunc(all, broken) {
		return nil
	}
	return all
}

// remember keeps who is registered with a data service, and returns who was not long ago and is not now: no process of that name,
// and none at that address.
func remember(address string, registered []cluster.SchedulerRef) (absent []client.Absent) {
	path, err := seenPath(address)
	if err != nil {
		return nil
	}
	now := time.Now()
	var all []sighting
	for _, ref := range registered {
		all = append(all, sighting{ref.Name, ref.Address, now})
	}
	for _, s := range sightings(path, now) {
		there := func(ref cluster.SchedulerRef) bool { return ref.Name == s.Name || ref.Address == s.Address }
		if now.Sub(s.At) <= missed && !slices.ContainsFunc(registered, there) {
			all = append(all, s)
		}
	}
	text, err := json.Marshal(all)
	if err == nil && len(registered) > 0 && os.MkdirAll(filepath.Dir(path), wholefile.FolderMode) == nil {
		_ = wholefile.Write(path, text)
	}
	return absentOf(all[len(registered):], now)
}

// recall returns who was registered with a data service when that was asked last, when that was, and who had been shortly before;
// nobody, where that is not known.
func recall(address string) (refs []cluster.SchedulerRef, absent []client.Absent, since string) {
	path, err := seenPath(address)
	if err != nil {
		return nil, nil, ""
	}
	now := time.Now()
	var last time.Time
	all := sightings(path, now)
	for _, s := range all {
		if s.At.After(last) {
			last = s.At
		}
	}
	all = slices.DeleteFunc(all, func(s sighting) bool {
		if s.At.Equal(last) {
			refs = append(refs, cluster.SchedulerRef{Name: s.Name, Address: s.Address})
		}
		return s.At.Equal(last) || now.Sub(s.At) > missed
	})
	return refs, absentOf(all, now), fmt.Sprintf("as they were seen %v ago", now.Sub(last).Round(time.Second))
}

func absentOf(all []sighting, now time.Time) (absent []client.Absent) {
	for _, s := range all {
		absent = append(absent, client.Absent{Name: s.Name, Ago: now.Sub(s.At)})
	}
	slices.SortFunc(absent, func(a, b client.Absent) int { return strings.Compare(a.Name, b.Name) })
	return absent
}
