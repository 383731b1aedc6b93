package telemetry

import (
	"fmt"
	"io"
	"log/slog"
)

// Logger returns a structured logger on w. level is debug, info, warn or error; format is text
// (key=value) or json (one object per line).
func Logger(level, format string, w io.Writer) (*slog.Logger, error) {
	var options slog.HandlerOptions
	switch level {
	case "debug":
		options.Level = slog.LevelDebug
	case "info":
		options.Level = slog.LevelInfo
	case "warn":
		options.Level = slog.LevelWarn
	case "error":
		options.Level = slog.LevelError
	default:
		return nil, fmt.Errorf("log level %q: want debug, info, warn or error", level)
	}
	switch format {
	case "text":
		return slog.New(slog.NewTextHandler(w, &options)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, &options)), nil
	default:
		return nil, fmt.Errorf("log format %q: want text or json", format)
	}
}
