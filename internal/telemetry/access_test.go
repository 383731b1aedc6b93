package telemetry

import (
	"bytes"
	"crypto/tls"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dodoor/internal/identity"
	"dodoor/internal/identity/authority"
)

const aToken = "0123456789abcdef0123456789abcdef"

// cluster issues bundles of one authority.
type cluster struct {
	t      *testing.T
	ca     *authority.Authority
	folder string
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	folder := t.TempDir()
	ca, err := authority.Create(filepath.Join(folder, "ca"), "dodoor", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return &cluster{t, ca, folder}
}

func (c *cluster) bundle(role identity.Role, name string) *identity.Bundle {
	c.t.Helper()
	folder := identity.Folder(c.folder, name)
	if err := c.ca.Issue(identity.Identity{Role: role, Name: name}, folder, time.Hour); err != nil {
		c.t.Fatal(err)
	}
	b, err := identity.Open(folder, "dodoor")
	if err != nil {
		c.t.Fatal(err)
	}
	return b
}

// asks is what somebody with a certificate, or none, and an Authorization, or none, is answered.
func (r *running) asks(t *testing.T, cfg *tls.Config, authorization string) (status int, body string, err error) {
	t.Helper()
	url := "http://" + r.Addr() + "/metrics"
	if cfg != nil {
		url = "https://" + r.Addr() + "/metrics"
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if authorization != "" {
		request.Header.Set("Authorization", authorization)
	}
	transport := &http.Transport{DisableKeepAlives: true, TLSClientConfig: cfg}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, string(text), err
}

// Over TLS an operator's certificate or the token lets in, and nothing else does; who is refused is told why, and so is the log.
func TestWhoMayAsk(t *testing.T) {
	c, stranger := newCluster(t), newCluster(t)
	own := c.bundle(identity.Scheduler, "scheduler-1")
	none := &tls.Config{InsecureSkipVerify: true}
	show := func(b *identity.Bundle) *tls.Config { return b.Client(identity.Identity{}) }
	foreign := show(stranger.bundle(identity.Operator, "operator"))
	foreign.VerifyConnection = nil
	for name, ask := range map[string]struct {
		access        Access
		cfg           *tls.Config
		authorization string
		status        int
		says          string
	}{
		"operator":            {Access{Bundle: own}, show(c.bundle(identity.Operator, "operator")), "", 200, "go_goroutines"},
		"user":                {Access{Bundle: own}, show(c.bundle(identity.User, "alice")), "", 403, "alice may not read this: operators may"},
		"worker":              {Access{Bundle: own}, show(c.bundle(identity.Worker, "w")), "", 403, "worker w may not"},
		"another authority":   {Access{Bundle: own}, foreign, "", 403, "none of the authorities"},
		"nobody":              {Access{Bundle: own}, none, "", 401, "an operator's certificate is needed"},
		"no token is known":   {Access{Bundle: own}, none, "Bearer ", 401, "an operator's certificate is needed"},
		"token":               {Access{own, aToken}, none, "Bearer " + aToken, 200, "go_goroutines"},
		"another token":       {Access{own, aToken}, none, "Bearer " + aToken[1:], 401, "another token is needed"},
		"no token":            {Access{own, aToken}, none, "", 401, "or a token"},
		"another way":         {Access{own, aToken}, none, "Basic " + aToken, 401, "or a token"},
		"plaintext, token":    {Access{Token: aToken}, nil, "Bearer " + aToken, 200, "go_goroutines"},
		"plaintext, no token": {Access{Token: aToken}, nil, "", 401, "a token (Authorization: Bearer TOKEN"},
		"plaintext to TLS":    {Access{Bundle: own}, nil, "", 400, "HTTPS"},
		"plaintext, everyone": {Access{}, nil, "", 200, "go_goroutines"},
	} {
		t.Run(name, func(t *testing.T) {
			var said bytes.Buffer
			s := start(t, ServerConfig{Access: ask.access, Log: slog.New(slog.NewTextHandler(&said, nil))})
			status, body, err := s.asks(t, ask.cfg, ask.authorization)
			if err != nil || status != ask.status || !strings.Contains(body, ask.says) {
				t.Errorf("status %d, want %d (%v); %.200q, want %q in it", status, ask.status, err, body, ask.says)
			}
			s.stop(t)
			if logged := strings.Contains(said.String(), "http: refused"); logged != (status == 401 || status == 403) {
				t.Errorf("status %d, log: %s", status, &said)
			}
		})
	}
}

// Revoked is who was let in before.
func TestRevoked(t *testing.T) {
	c := newCluster(t)
	operator := c.bundle(identity.Operator, "operator").Client(identity.Identity{})
	for _, want := range []int{200, 403} {
		s := start(t, ServerConfig{Access: Access{Bundle: c.bundle(identity.Worker, "w")}})
		if status, body, err := s.asks(t, operator, ""); status != want || err != nil {
			t.Errorf("status %d, want %d: %s, %v", status, want, body, err)
		}
		if _, err := c.ca.Revoke("operator"); want == 200 && err != nil {
			t.Fatal(err)
		}
	}
}

func TestReadToken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	for text, want := range map[string]string{aToken: "", aToken + "\n": "", "": "16 to 1024", "short": "16 to 1024",
		aToken + " " + aToken: "16 to 1024", aToken + "\x1b[2J": "16 to 1024", strings.Repeat("x", 4096): "larger than"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := ReadToken(path)
		if want == "" && (err != nil || got != aToken) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadToken(path); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Error(err)
	}
	if _, err := ReadToken(path + "s"); !os.IsNotExist(err) {
		t.Error(err)
	}
}
