package authority

import (
	"crypto/ecdsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"dodoor/internal/identity"
	"dodoor/internal/wholefile"
)

// write makes a bundle of a certificate and its key, nil for one that is elsewhere, with what the authority has revoked so far. The
// certificate is written last: whoever reads half of a renewed bundle finds that its parts do not fit, and keeps what it has.
func (a *Authority) write(folder string, cert []byte, key *ecdsa.PrivateKey) error {
	if _, _, err := a.list(a.folder); err != nil { // a bundle with a damaged list is of no use
		return err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	ca, err := os.ReadFile(filepath.Join(a.folder, identity.CAFile))
	if err != nil {
		return err
	}
	if err := wholefile.Write(filepath.Join(folder, identity.CAFile), ca); err != nil {
		return err
	}
	revoked, err := os.ReadFile(filepath.Join(a.folder, identity.RevokedFile))
	if err == nil {
		err = wholefile.Write(filepath.Join(folder, identity.RevokedFile), revoked)
	} else if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err != nil {
		return err
	}
	if key != nil {
		if err := writeKey(filepath.Join(folder, identity.KeyFile), key); err != nil {
			return err
		}
	}
	return wholefile.Write(filepath.Join(folder, identity.CertFile), cert)
}

func certificate(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

const keyBlock = "PRIVATE KEY"

// maxKey bounds what is read of a key's file, in bytes.
const maxKey = 1 << 20

func writeKey(path string, key *ecdsa.PrivateKey) error {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	return wholefile.Write(path, pem.EncodeToMemory(&pem.Block{Type: keyBlock, Bytes: der}))
}

func readKey(path string) (*ecdsa.PrivateKey, error) {
	text, err := wholefile.ReadSecret(path, maxKey)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil || block.Type != keyBlock {
		return nil, fmt.Errorf("%s: no key in it", path)
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	own, ok := key.(*ecdsa.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("%s: an ECDSA key is needed, this is a %T", path, key)
	}
	return own, nil
}

func parseURI(text string) ([]*url.URL, error) {
	u, err := url.Parse(text)
	return []*url.URL{u}, err
}
