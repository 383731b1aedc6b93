package conf

import (
	"fmt"
	"time"
)

// Duration is a time.Duration that TOML writes as a string with units, "1.5s". A bare integer would
// mean nanoseconds to Go and seconds to a reader, so it is refused.
type Duration time.Duration

func (d Duration) String() string { return time.Duration(d).String() }

// MarshalText writes d in the form that UnmarshalText reads.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads a duration such as "250ms", "1.5s" or "1h30m".
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf(`must be a duration such as "250ms", "1.5s" or "10m", found string %q`, text)
	}
	*d = Duration(parsed)
	return nil
}
