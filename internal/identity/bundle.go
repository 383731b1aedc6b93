package identity

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"math/big"
	"path/filepath"
	"sync/atomic"
	"time"
)

// The files of a bundle.
const (
	CAFile      = "ca.pem"      // the certificates of the authorities that are believed
	CertFile    = "cert.pem"    // its own, then those between it and an authority
	KeyFile     = "key.pem"     // of its own certificate; nobody else may read it
	RevokedFile = "revoked.pem" // revocation lists of those authorities; may be missing
)

var fileNames = [...]string{CAFile, CertFile, KeyFile, RevokedFile}

// Bundle is what a process proves its identity with, and checks others by. It is safe for concurrent use.
type Bundle struct {
	folder, domain string
	now            atomic.Pointer[material]
	changed        atomic.Pointer[chan struct{}] // closed by the next reload
	generation     atomic.Uint64
}

// material is one reading of a bundle's files. It does not change.
type material struct {
	own      Identity
	pair     tls.Certificate
	roots    *x509.CertPool
	revoked  map[serial]time.Time
	lists    map[string]*big.Int // of each authority that is believed, the number of its newest revocation list; nil: it has none
	due      time.Time           // when the first of them should have been replaced; zero: they do not say
	notAfter time.Time           // of its own chain
	files    stamp               // of the files as they were read
}

// Open reads a bundle and checks that its certificate is accepted now. An error names the file, what is wrong with it, and what to do.
func Open(folder, domain string) (*Bundle, error) {
	b, err := Read(folder, domain)
	if err != nil {
		return nil, err
	}
	m := b.now.Load()
	if _, err := m.verify(m.chain(), domain, time.Now()); err != nil {
		return nil, fmt.Errorf("%s: %w: issue or renew it with `dodoor certs`", b.file(CertFile), err)
	}
	return b, nil
}

// Read is Open for a bundle that others need not accept any more, such as one that has expired.
func Read(folder, domain string) (*Bundle, error) {
	if err := CheckDomain(domain); err != nil {
		return nil, err
	}
	b := &Bundle{folder: folder, domain: domain}
	m, err := load(folder, domain)
	if err != nil {
		return nil, err
	}
	b.now.Store(m)
	changed := make(chan struct{})
	b.changed.Store(&changed)
	return b, nil
}

func (b *Bundle) file(name string) string { return filepath.Join(b.folder, name) }

// Folder is where the bundle's files are.
func (b *Bundle) Folder() string { return b.folder }

// Own is the identity in the bundle's certificate.
func (b *Bundle) Own() Identity { return b.now.Load().own }

// NotAfter is when the first of the bundle's certificates expires.
func (b *Bundle) NotAfter() time.Time { return b.now.Load().notAfter }

// Generation counts how often the bundle was loaded anew. A connection that was made before may not be one that would be made now.
func (b *Bundle) Generation() uint64 { return b.generation.Load() }

// Changed is closed when the bundle is loaded anew the next time.
func (b *Bundle) Changed() <-chan struct{} { return *b.changed.Load() }

// Accepts checks certificates that were verified when their connection was made, the peer's own first: whether one of them has expired or
// was revoked since.
func (b *Bundle) Accepts(chain []*x509.Certificate, now time.Time) error {
	if len(chain) == 0 {
		return errNoCertificate
	}
	who, what := called(chain[0]), called(chain[0])
	if id, err := b.Of(chain[0]); err == nil {
		who, what = id.String(), certificateOf(id)
	}
	return b.now.Load().acceptsAll(chain, who, what, now)
}

// Of reads the identity in a certificate of the bundle's domain. It verifies nothing.
func (b *Bundle) Of(leaf *x509.Certificate) (Identity, error) { return Of(leaf, b.domain) }

// Verify checks a peer's certificates, its own first, and returns who it is. It fails with one line that says which certificate is not
// accepted, and why.
func (b *Bundle) Verify(chain []*x509.Certificate, now time.Time) (Identity, error) {
	return b.now.Load().verify(chain, b.domain, now)
}

// chain is the bundle's own certificate and those between it and an authority.
func (m *material) chain() []*x509.Certificate {
	var chain []*x509.Certificate
	for _, der := range m.pair.Certificate {
		c, err := x509.ParseCertificate(der)
		if err != nil {
			panic(fmt.Sprintf("identity: a certificate that was read is none: %v", err))
		}
		chain = append(chain, c)
	}
	return chain
}
