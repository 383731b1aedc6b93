package identity

import (
	"crypto/x509"
	"errors"
	"fmt"
	"time"
)

// serial names a certificate: serial numbers are an authority's own.
type serial struct{ issuer, number string }

func serialOf(c *x509.Certificate) serial {
	return serial{string(c.RawIssuer), c.SerialNumber.String()}
}

// moment is how messages write a time.
const moment = "2006-01-02 15:04 MST"

func written(t time.Time) string { return t.UTC().Format(moment) }

// verify checks a chain: who it is of, that each of it is valid now and not revoked, and that one of the authorities signed it.
func (m *material) verify(chain []*x509.Certificate, domain string, now time.Time) (Identity, error) {
	if len(chain) == 0 {
		return Identity{}, errNoCertificate
	}
	id, err := Of(chain[0], domain)
	if err != nil {
		return Identity{}, err
	}
	if err := m.acceptsAll(chain, id.String(), certificateOf(id), now); err != nil {
		return Identity{}, err
	}
	between := x509.NewCertPool()
	for _, c := range chain[1:] {
		between.AddCert(c)
	}
	_, err = chain[0].Verify(x509.VerifyOptions{Roots: m.roots, Intermediates: between, CurrentTime: now,
		KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}})
	if unknown := (x509.UnknownAuthorityError{}); errors.As(err, &unknown) {
		return Identity{}, fmt.Errorf("the certificate of %s was signed by %q, which is none of the authorities in %s", id, chain[0].Issuer,
			CAFile)
	}
	if err != nil {
		return Identity{}, fmt.Errorf("the certificate of %s: %w", id, err)
	}
	return id, nil
}

var errNoCertificate = errors.New("no certificate was shown")

// acceptsAll checks each of a chain. A message calls the first of them what, and the others authorities that signed for who.
func (m *material) acceptsAll(chain []*x509.Certificate, who, what string, now time.Time) error {
	for i, c := range chain {
		if i > 0 {
			what = fmt.Sprintf("the authority %q that signed for %s", c.Subject, who)
		}
		if err := m.accepts(c, what, now); err != nil {
			return err
		}
	}
	return nil
}

// accepts checks what changes as time goes by.
func (m *material) accepts(c *x509.Certificate, what string, now time.Time) error {
	if now.After(c.NotAfter) {
		return fmt.Errorf("%s expired %s", what, written(c.NotAfter))
	}
	if now.Before(c.NotBefore) {
		return fmt.Errorf("%s is not valid before %s, and it is %s here", what, written(c.NotBefore), written(now))
	}
	if at, revoked := m.revoked[serialOf(c)]; revoked {
		return fmt.Errorf("%s was revoked on %s", what, written(at))
	}
	return nil
}
