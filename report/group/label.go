package group

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"dodoor/report/results"
)

// incidental settings may differ between the runs of one policy: what the figures show on their axes
// (QPS, seeds), what the group has in common, and addresses, files and logs.
func incidental(key string) bool {
	section, name, _ := strings.Cut(key, ".")
	switch section {
	case "seed", "generator", "http", "log", "class", "task_type", "node":
		return true
	}
	return slices.Contains([]string{"listen", "address", "name", "policy"}, name)
}

// SettingsOf flattens the settings of a run that make a policy what it is: section.key to value.
func SettingsOf(r *results.Run) map[string]string {
	flat := map[string]string{}
	var walk func(prefix string, value any)
	walk = func(prefix string, value any) {
		if section, ok := value.(map[string]any); ok {
			for key, v := range section {
				walk(strings.TrimPrefix(prefix+"."+key, "."), v)
			}
			return
		}
		if prefix != "" && !incidental(prefix) {
			text, _ := json.Marshal(value) // it came out of JSON
			flat[prefix] = strings.Trim(string(text), `"`)
		}
	}
	walk("", r.Info.Settings)
	return flat
}

// labelsOf names the line that each run belongs to: its policy, and the settings in which not all
// runs of that policy agree.
func labelsOf(runs []*results.Run) map[*results.Run]string {
	byPolicy := map[string][]*results.Run{}
	for _, r := range runs {
		byPolicy[r.Policy] = append(byPolicy[r.Policy], r)
	}
	labels := map[*results.Run]string{}
	for policy, members := range byPolicy {
		settings := make([]map[string]string, len(members))
		for i, r := range members {
			settings[i] = SettingsOf(r)
		}
		keys := disagreeing(settings)
		for i, r := range members {
			var parts []string
			for _, key := range keys {
				value, ok := settings[i][key]
				if !ok {
					value = "unset"
				}
				parts = append(parts, fmt.Sprintf("%s=%s", key[strings.LastIndex(key, ".")+1:], value))
			}
			labels[r] = strings.TrimSpace(policy + " " + strings.Join(parts, " "))
		}
	}
	return labels
}

// disagreeing returns the keys on which the maps differ, sorted.
func disagreeing(settings []map[string]string) []string {
	keys := map[string]bool{}
	for _, s := range settings {
		for key, value := range s {
			if first, ok := settings[0][key]; !ok || first != value {
				keys[key] = true
			}
		}
		for key := range settings[0] {
			if _, ok := s[key]; !ok {
				keys[key] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(keys))
}
