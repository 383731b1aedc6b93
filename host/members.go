package host

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"dodoor/assemble"
	"dodoor/internal/poll"
)

// askEvery is how often Await asks the data service who is there.
const askEvery = 100 * time.Millisecond

// Await waits until the data service knows every worker and scheduler of these names.
func (a *Agent) Await(ctx context.Context, names []string) error {
	var missing []string
	var trouble error
	if poll.Until(ctx, askEvery, func() bool {
		unknown, err := a.unknown(ctx, names)
		if err != nil && over(ctx) && missing != nil {
			return false // the last answer counts
		}
		missing, trouble = unknown, err
		return err == nil && len(unknown) == 0
	}) {
		return nil
	}
	if trouble != nil {
		return trouble
	}
	return fmt.Errorf("not registered with the data service: %s; see their logs", strings.Join(missing, ", "))
}

// over reports whether there is no time left. A connection that is cut off at a deadline may come back before the context
// says that it has ended.
func over(ctx context.Context) bool {
	deadline, bounded := ctx.Deadline()
	return ctx.Err() != nil || bounded && !time.Now().Before(deadline)
}

// unknown returns which of some names the data service does not know.
func (a *Agent) unknown(ctx context.Context, names []string) ([]string, error) {
	as := a.here()
	as.Security.User = a.services[0].Name // who is there anybody may ask, and no operator's bundle is kept on a host
	cfg, err := assemble.RPC(as, nil, "")
	if err != nil {
		return nil, err
	}
	data, status, err := assemble.Connect(ctx, a.c, cfg)
	if err != nil {
		return nil, err
	}
	data.Close()
	known := map[string]bool{}
	for i := range status.Nodes {
		known[status.Nodes[i].Node.Name] = true
	}
	for i := range status.Schedulers {
		known[status.Schedulers[i].Name] = true
	}
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return known[name] }), nil
}
