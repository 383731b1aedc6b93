package telemetry

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"dodoor/internal/identity"
	"dodoor/internal/wholefile"
)

// Access says who may ask a Server. Without a bundle and a token everybody may, in plaintext.
type Access struct {
	Bundle *identity.Bundle // its pages come over TLS, and operators may ask; nil: plaintext
	Token  string           // who shows it may ask; empty: nobody may by a token
}

// The bounds of a token, in bytes: one that can be guessed is none.
const (
	minToken = 16
	maxToken = 1024
)

// ReadToken reads the token in a file that its owner alone may read: one line without spaces.
func ReadToken(path string) (string, error) {
	text, err := wholefile.ReadSecret(path, maxToken+1)
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(string(text))
	if len(token) < minToken || len(token) > maxToken || strings.ContainsFunc(token, func(c rune) bool { return c <= ' ' || c > '~' }) {
		return "", fmt.Errorf("%s: a token of %d to %d printable characters without spaces is needed: `openssl rand -hex 32` makes one",
			path, minToken, maxToken)
	}
	return token, nil
}

// guard answers those who may not ask, and hangs up on them.
func (a Access) guard(next http.Handler, refused *refusals) http.Handler {
	if a.Bundle == nil && a.Token == "" {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status, reason := a.check(r)
		if status == 0 {
			next.ServeHTTP(w, r)
			return
		}
		refused.note(r.RemoteAddr, reason)
		w.Header().Set("Connection", "close")
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		if status == http.StatusUnauthorized {
			w.Header().Set("WWW-Authenticate", `Bearer realm="dodoor"`)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, reason+"\n")
	})
}

// check says why somebody may not ask; a status of 0: he may. A certificate is checked for each request, so that one which expires or
// is revoked meanwhile ends its connection's use.
func (a Access) check(r *http.Request) (status int, reason string) {
	if given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok && a.Token != "" {
		// Digests are of one length, so that the time tells nothing of the token's.
		want, got := sha256.Sum256([]byte(a.Token)), sha256.Sum256([]byte(given))
		if subtle.ConstantTimeCompare(want[:], got[:]) != 1 {
			return http.StatusUnauthorized, "another token is needed: that of http.token_file"
		}
		return 0, ""
	}
	if a.Bundle == nil || r.TLS == nil || len(r.TLS.PeerCertificates) == 0 {
		return http.StatusUnauthorized, a.wanted() + " is needed"
	}
	id, err := a.Bundle.Verify(r.TLS.PeerCertificates, time.Now())
	if err != nil {
		return http.StatusForbidden, err.Error()
	}
	if id.Role != identity.Operator {
		return http.StatusForbidden, fmt.Sprintf("%s may not read this: operators may", id)
	}
	return 0, ""
}

// wanted is what lets one in.
func (a Access) wanted() string {
	const token = "a token (Authorization: Bearer TOKEN, that of http.token_file)"
	switch {
	case a.Bundle == nil:
		return token
	case a.Token == "":
		return "an operator's certificate"
	}
	return "an operator's certificate or " + token
}
