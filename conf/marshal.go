package conf

import (
	"bytes"
	"fmt"

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
	var out bytes.Buffer
	encoder := toml.NewEncoder(&out)
	encoder.Indent = ""
	if err := encoder.Encode(whole); err != nil {
		return nil, fmt.Errorf("print configuration: %w", err)
	}
	return out.Bytes(), nil
}
