package rpc

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"dodoor/internal/identity"
	"dodoor/internal/identity/authority"
)

// realm is an authority, and the bundles that it has made.
type realm struct {
	*authority.Authority
	t      testing.TB
	folder string
}

func newRealm(t testing.TB) *realm { return newRealmOf(t, "dodoor") }

func newRealmOf(t testing.TB, domain string) *realm {
	t.Helper()
	folder := t.TempDir()
	ca, err := authority.Create(filepath.Join(folder, "ca"), domain, 1000*time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return &realm{ca, t, folder}
}

var (
	operator = identity.Identity{Role: identity.Operator, Name: "operator"}
	alice    = identity.Identity{Role: identity.User, Name: "alice"}
	s1       = identity.Identity{Role: identity.Scheduler, Name: "scheduler-1"}
	w1       = identity.Identity{Role: identity.Worker, Name: "worker-1"}
	ds       = identity.Identity{Role: identity.DataService, Name: "datastore"}
)

// at is where an identity's bundle is.
func (r *realm) at(id identity.Identity) string {
	return identity.Folder(r.folder, id.Role.String()+"-"+id.Name)
}

// bundle issues one that is good for a hundred hours.
func (r *realm) bundle(id identity.Identity) *identity.Bundle {
	r.t.Helper()
	if err := r.Issue(id, r.at(id), 100*time.Hour); err != nil {
		r.t.Fatal(err)
	}
	return r.opened(id)
}

func (r *realm) opened(id identity.Identity) *identity.Bundle {
	r.t.Helper()
	b, err := identity.Read(r.at(id), r.Domain())
	if err != nil {
		r.t.Fatal(err)
	}
	return b
}

// between issues a bundle that is good from one moment to another.
func (r *realm) between(id identity.Identity, from, until time.Duration) *identity.Bundle {
	r.t.Helper()
	r.bundle(id)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		r.t.Fatal(err)
	}
	now := time.Now()
	cert, err := r.Sign(key.Public(), id, now.Add(from), now.Add(until))
	if err != nil {
		r.t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		r.t.Fatal(err)
	}
	r.write(id, identity.CertFile, cert)
	r.write(id, identity.KeyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
	return r.opened(id)
}

// believing is a bundle that believes another realm's authority as well.
func (r *realm) believing(id identity.Identity, other *realm) *identity.Bundle {
	r.t.Helper()
	r.bundle(id)
	var both []byte
	for _, ca := range []*realm{r, other} {
		both = append(both, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ca.Certificate().Raw})...)
	}
	r.write(id, identity.CAFile, both)
	return r.opened(id)
}

func (r *realm) write(id identity.Identity, file string, text []byte) {
	r.t.Helper()
	path := filepath.Join(r.at(id), file)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// revoke takes an identity's certificates back, and tells a bundle's folder of it.
func (r *realm) revoke(id identity.Identity, tell identity.Identity) {
	r.t.Helper()
	if _, err := r.Revoke(id.Name); err != nil {
		r.t.Fatal(err)
	}
	if err := r.Spread(r.at(tell)); err != nil {
		r.t.Fatal(err)
	}
}

// shown is how a client shakes hands that shows a certificate which no bundle would hold.
func shown(key *ecdsa.PrivateKey, der ...[]byte) *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS13, InsecureSkipVerify: true,
		Certificates: []tls.Certificate{{Certificate: der, PrivateKey: key}}}
}

// lines is a log that a test reads.
type lines struct {
	mu    sync.Mutex
	text  bytes.Buffer
	wrote chan struct{} // holds a token when there is something new
}

func newLines() *lines { return &lines{wrote: make(chan struct{}, 1)} }

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case l.wrote <- struct{}{}:
	default:
	}
	return l.text.Write(b)
}

// await waits for a line: the two ends of a connection learn of its end in no order.
func (l *lines) await(t *testing.T, want string) {
	t.Helper()
	late := time.After(time.Minute)
	for !strings.Contains(l.String(), want) {
		select {
		case <-l.wrote:
		case <-late:
			t.Fatalf("the log lacks %q: %s", want, l)
		}
	}
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (l *lines) log() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

// secured is a configuration with a bundle, and a log.
func secured(b *identity.Bundle, log *lines) Config {
	c := quiet()
	c.Bundle = b
	if log != nil {
		c.Log = log.log()
	}
	return c
}
