package host

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// A Finding is one thing about a host that would keep its services from working, or may.
type Finding struct {
	Problem string `json:"problem"` // what is wrong
	Remedy  string `json:"remedy"`  // what to do
	Warning bool   `json:"warning"` // services start all the same
}

const dialTimeout = 3 * time.Second

// CheckFolder checks that the folder can be written.
func CheckFolder(f Folder) []Finding {
	probe := filepath.Join(string(f), ".writable")
	err := errors.Join(os.MkdirAll(string(f), 0o755), os.WriteFile(probe, nil, 0o600), os.Remove(probe))
	if err != nil {
		return []Finding{{Problem: fmt.Sprintf("%s cannot be written: %v", f, err), Remedy: "set host.folder to one that its user owns"}}
	}
	return nil
}

// CheckPorts checks that nobody else listens where the services are to: ports has the address of each. A service of
// ours that runs has its port rightly.
func CheckPorts(f Folder, ports map[string]string) []Finding {
	var found []Finding
	for service, address := range ports {
		if s, err := f.StateOf(service); err != nil || s.Running {
			continue
		}
		listener, err := net.Listen("tcp", address)
		if err != nil {
			found = append(found, Finding{
				Problem: fmt.Sprintf("%s cannot listen on %s: %v", service, address, err),
				Remedy:  "end what listens there (ss -ltnp), or set host.ports to another one",
			})
			continue
		}
		listener.Close()
	}
	return found
}

// CheckReach dials addresses of other hosts' services, all at once.
func CheckReach(ctx context.Context, addresses []string) []Finding {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	results := make([]error, len(addresses))
	var all sync.WaitGroup
	for i, address := range addresses {
		all.Go(func() { results[i] = dial(ctx, address) })
	}
	all.Wait()
	var found []Finding
	for i, err := range results {
		if err != nil {
			found = append(found, Finding{
				Problem: fmt.Sprintf("it does not reach %s: %v", addresses[i], err),
				Remedy:  "open that port in the firewalls between the two hosts, or correct host.address",
			})
		}
	}
	return found
}

// Answer listens on addresses until the context ends, and takes every connection, so that CheckReach on other hosts can
// tell whether they get through. An address that is taken is left out: what listens there answers itself.
func Answer(ctx context.Context, addresses []string, listening func()) {
	var all sync.WaitGroup
	for _, address := range addresses {
		listener, err := net.Listen("tcp", address)
		if err != nil {
			continue
		}
		stop := context.AfterFunc(ctx, func() { listener.Close() })
		all.Go(func() {
			defer stop()
			for {
				c, err := listener.Accept()
				if err != nil {
					return
				}
				c.Close()
			}
		})
	}
	listening()
	<-ctx.Done()
	all.Wait()
}
