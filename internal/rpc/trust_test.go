package rpc

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"math/big"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dodoor/internal/cluster"
	"dodoor/internal/identity"
)

// meeting is a client and a server that do not trust each other.
type meeting struct {
	server, client *identity.Bundle
	peer           string // that the client expects
	worker         bool   // the client expects a worker, where a scheduler is
	says, logs     string // that the client and the server find wrong
}

// meetings are all ways in which two do not meet, but for those that take a program of somebody else's.
func meetings(r *realm) map[string]meeting {
	other, foreign := newRealm(r.t), newRealmOf(r.t, "elsewhere")
	good, bad := r.bundle(s1), other.bundle(s1)
	scheduler := func(name string) identity.Identity { return identity.Identity{Role: identity.Scheduler, Name: name} }
	user := func(name string) identity.Identity { return identity.Identity{Role: identity.User, Name: name} }
	revoked, lost := user("mallory"), scheduler("scheduler-lost")
	m := map[string]meeting{
		"wrong authority": {server: bad, client: r.bundle(alice),
			says: `the certificate of scheduler scheduler-1 was signed by "CN=authority of dodoor,O=dodoor", which is none of the authorities in`,
			logs: "the peer does not accept the certificate of scheduler scheduler-1"},
		"wrong authority of the client": {server: good, client: other.believing(alice, r),
			says: `scheduler scheduler-1 refuses this process: the certificate of user alice was signed by`,
			logs: "the certificate of user alice was signed by"},
		"expired": {server: r.between(scheduler("old"), -2*time.Hour, -time.Hour), client: r.opened(alice),
			says: "the certificate of scheduler old expired", logs: "does not accept the certificate of scheduler old"},
		"expired client": {server: good, client: r.between(user("old"), -2*time.Hour, -time.Hour),
			says: "refuses this process: the certificate of user old expired", logs: "the certificate of user old expired"},
		"not yet valid": {server: r.between(scheduler("new"), time.Hour, 2*time.Hour), client: r.opened(alice),
			says: "the certificate of scheduler new is not valid before", logs: "does not accept the certificate of scheduler new"},
		"not yet valid client": {server: good, client: r.between(user("new"), time.Hour, 2*time.Hour),
			says: "refuses this process: the certificate of user new is not valid before", logs: "the certificate of user new is not valid before"},
		"wrong role": {server: good, client: r.opened(alice), worker: true,
			says: "scheduler scheduler-1 is there, a worker is expected", logs: "does not accept the certificate of scheduler scheduler-1"},
		"wrong name": {server: good, client: r.opened(alice), peer: "scheduler-2",
			says: "scheduler scheduler-1 is there, scheduler scheduler-2 is expected",
			logs: "does not accept the certificate of scheduler scheduler-1"},
		"foreign domain": {server: foreign.bundle(s1), client: r.opened(alice),
			says: `is of the domain "elsewhere": this cluster's is "dodoor"`, logs: "does not accept the certificate of scheduler scheduler-1"},
	}
	unlucky, gone := r.bundle(revoked), r.bundle(lost)
	r.revoke(lost, alice)
	r.revoke(revoked, s1)
	m["revoked"] = meeting{server: gone, client: r.opened(alice),
		says: "the certificate of scheduler scheduler-lost was revoked on", logs: "does not accept the certificate of scheduler scheduler-lost"}
	m["revoked client"] = meeting{server: r.opened(s1), client: unlucky,
		says: "refuses this process: the certificate of user mallory was revoked on", logs: "the certificate of user mallory was revoked on"}
	m["plaintext client"] = meeting{server: good, says: "this service takes connections over TLS alone", logs: "the peer speaks plaintext"}
	m["plaintext server"] = meeting{client: r.opened(alice), says: "the service there speaks no TLS 1.3",
		logs: "the peer speaks TLS, and this service plaintext alone"}
	return m
}

// Whoever is not let in is told why in one line, and so is the server's log. Whoever is in stays in.
func TestStrangersAreTurnedAway(t *testing.T) {
	r := newRealm(t)
	for name, m := range meetings(r) {
		for where, over := range map[string]func(testing.TB, Service, Config) (string, Config){"pipe": piped, "loopback": looped} {
			if m.client != nil && m.server == nil && where == "pipe" {
				continue // nobody reads the whole of what is no message, and a pipe holds nothing
			}
			t.Run(name+"/"+where, func(t *testing.T) {
				log := newLines()
				addr, client := over(t, SchedulerService(answering(), dims), secured(m.server, log))
				friend := client
				if m.server != nil {
					friend.Bundle = m.server // whoever it is: a scheduler believes itself
				}
				inside := schedulerClient(t, addr, friend)
				friendly := inside.Settle(background)
				client.Bundle, client.Peer = m.client, m.peer
				err := meet(t, addr, client, m.worker)
				if err == nil || !strings.Contains(err.Error(), m.says) || strings.Contains(err.Error(), "\n") {
					t.Errorf("the client says %v; want %q", err, m.says)
				}
				if m.client != nil && !(errors.Is(err, ErrUntrusted) && errors.Is(err, ErrUnavailable) && NotSent(err)) {
					t.Errorf("%v is no ErrUntrusted that was not sent", err)
				}
				if again := inside.Settle(background); (again == nil) != (friendly == nil) || cluster.CodeOf(again) != cluster.CodeOf(friendly) {
					t.Errorf("another one got %v before, and %v now", friendly, again)
				}
				log.await(t, m.logs)
			})
		}
	}
}

func piped(t testing.TB, service Service, cfg Config) (string, Config) {
	_, _, client := inMemory(t, service, cfg)
	return "memory", client
}

func looped(t testing.TB, service Service, cfg Config) (string, Config) {
	return overTCP(t, service, cfg).Addr(), cfg
}

// meet makes one call.
func meet(t *testing.T, addr string, cfg Config, worker bool) error {
	if worker {
		return workerClient(t, addr, cfg).Drain(background, true)
	}
	return schedulerClient(t, addr, cfg).Settle(background)
}

// A program of somebody else's gets no further: one without a certificate, with one of two identities, or without TLS 1.3.
func TestOtherProgramsAreTurnedAway(t *testing.T) {
	r := newRealm(t)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	self := func(uris ...string) []byte {
		cert := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
		for _, uri := range uris {
			u, err := url.Parse(uri)
			if err != nil {
				t.Fatal(err)
			}
			cert.URIs = append(cert.URIs, u)
		}
		der, err := x509.CreateCertificate(rand.Reader, cert, cert, key.Public(), key)
		if err != nil {
			t.Fatal(err)
		}
		return der
	}
	old := shown(key, self("spiffe://dodoor/user/alice"))
	old.MinVersion, old.MaxVersion = tls.VersionTLS12, tls.VersionTLS12
	for name, c := range map[string]struct {
		cfg  *tls.Config
		want string
	}{
		"no certificate":    {&tls.Config{InsecureSkipVerify: true}, "no certificate was shown"},
		"no URI":            {shown(key, self()), "has 0 URIs"},
		"two URIs":          {shown(key, self("spiffe://dodoor/user/alice", "spiffe://dodoor/operator/operator")), "has 2 URIs"},
		"made by itself":    {shown(key, self("spiffe://dodoor/operator/operator")), "which is none of the authorities"},
		"a foreign domain":  {shown(key, self("spiffe://elsewhere/operator/operator")), "this cluster's is"},
		"an earlier TLS":    {old, "the handshake failed"},
		"no role's":         {shown(key, self("spiffe://dodoor/root/operator")), "is no role"},
		"a name of escapes": {shown(key, self("spiffe://dodoor/user/%1b%5b2J")), "has the character"},
	} {
		t.Run(name, func(t *testing.T) {
			log := newLines()
			s := overTCP(t, SchedulerService(answering(), dims), secured(r.bundle(s1), log))
			conn, err := tls.Dial("tcp", s.Addr(), c.cfg)
			if err == nil {
				reason, _ := io.ReadAll(conn)
				if len(reason) < 2 || int(reason[0]) != len(reason)-1 || !strings.Contains(string(reason), c.want) {
					t.Errorf("it is greeted with %q", reason)
				}
				conn.Close()
			} else if c.cfg != old {
				t.Error(err)
			}
			log.await(t, c.want)
		})
	}
}

// Two that trust each other talk, whatever the transport, and the handler knows who calls, whether it holds a slot or waits.
func TestCaller(t *testing.T) {
	r := newRealm(t)
	server, client := r.bundle(s1), r.bundle(alice)
	for where, over := range map[string]func(testing.TB, Service, Config) (string, Config){"pipe": piped, "loopback": looped} {
		t.Run(where, func(t *testing.T) {
			var callers []identity.Identity
			h := answering()
			h.cancel = func(ctx context.Context, _ string) (bool, error) {
				callers = append(callers, Caller(ctx))
				Waits(ctx)
				return true, nil
			}
			h.jobs = func(ctx context.Context, _ cluster.JobQuery) ([]cluster.JobStatus, error) {
				callers = append(callers, Caller(ctx), Caller(WithCaller(ctx, operator)))
				return nil, nil
			}
			addr, cfg := over(t, SchedulerService(h, dims), secured(server, nil))
			cfg.Bundle, cfg.Peer = client, "scheduler-1"
			c := schedulerClient(t, addr, cfg)
			for range 3 {
				answers(t, c)
			}
			if _, err := c.Jobs(background, cluster.JobQuery{Max: 1}); err != nil {
				t.Error(err)
			}
			for i, id := range callers {
				if want := map[bool]identity.Identity{true: operator, false: alice}[i == 4]; id != want {
					t.Errorf("caller %d is %v, want %v", i, id, want)
				}
			}
			if len(callers) != 5 {
				t.Errorf("%d callers, want 5", len(callers))
			}
		})
	}
	if id := Caller(background); id != (identity.Identity{}) {
		t.Errorf("nobody calls, and that is %v", id)
	}
}

// Who says nothing in the handshake, or not enough, is hung up on when its time is over; a stop waits for nobody.
func TestHandshakeTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := secured(newRealm(t).bundle(s1), nil)
		cfg.HandshakeTimeout = 3 * time.Second
		_, l, _ := inMemory(t, SchedulerService(answering(), dims), cfg)
		for _, begun := range []string{"", "\x16", "\x16\x03\x01\x02\x00", "\x00\x00"} {
			conn := dialMemory(t, l)
			conn.Write([]byte(begun))
			if took := hangsUp(t, conn); took != 3*time.Second {
				t.Errorf("%q: after %v", begun, took)
			}
		}
		dialMemory(t, l)
	})
}
