package conf

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"

	"github.com/BurntSushi/toml"
)

// Marshal prints the whole configuration, defaults and included task types written out, as TOML
// that loads to an equal Config.
func (c *Config) Marshal() ([]byte, error) {
	whole := *c
	if whole.Generator.Schedulers == nil {
		whole.Generator.Schedulers = []string{} // the encoder leaves nil out
	}
	if whole.Sim.Quirks == nil {
		whole.Sim.Quirks = []string{}
	}
	if whole.Process.Allow == nil {
		whole.Process.Allow = []string{}
	}
	if whole.Process.Workdirs == nil {
		whole.Process.Workdirs = []string{}
	}
	if whole.Docker.Images == nil {
		whole.Docker.Images = []string{}
	}
	whole.Worker.Devices = printedDevices(c.Worker.Devices)
	whole.Hosts = slices.Clone(c.Hosts)
	for i := range whole.Hosts {
		whole.Hosts[i].Devices = printedDevices(c.Hosts[i].Devices)
	}
	var out bytes.Buffer
	encoder := toml.NewEncoder(&out)
	encoder.Indent = ""
	for _, table := range slotsOf(reflect.ValueOf(whole)) {
		slots := []slot{table}
		if table.value.Kind() == reflect.Pointer {
			fmt.Fprintf(&out, "\n[%s]\n", toml.Key{table.key})
			slots = slotsOf(table.value)
		}
		for _, s := range slots {
			if s.value.Kind() == reflect.Slice && s.value.IsNil() {
				continue
			}
			if err := encoder.Encode(map[string]any{s.key: s.value.Interface()}); err != nil {
				return nil, fmt.Errorf("print configuration: %w", err)
			}
		}
	}
	return out.Bytes(), nil
}
