package identity

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"time"
)

// maxFile bounds what is read of a file: 1 MiB is thousands of certificates.
const maxFile = 1 << 20

// texts are the contents of a bundle's files. Without a file of revocation lists theirs is nil.
type texts struct{ ca, cert, key, revoked []byte }

// load reads a bundle's files and takes them apart.
func load(folder, domain string) (*material, error) {
	var t texts
	files, err := stampOf(folder)
	if err != nil {
		return nil, err
	}
	for i, to := range []*[]byte{&t.ca, &t.cert, &t.key, &t.revoked} {
		name := fileNames[i]
		text, err := readFile(filepath.Join(folder, name), name == KeyFile)
		if errors.Is(err, fs.ErrNotExist) && name == RevokedFile {
			continue
		}
		if err != nil {
			return nil, err
		}
		*to = text
	}
	m, err := parse(t, domain)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", folder, err)
	}
	m.files = files
	return m, nil
}

// readFile reads one file of a bundle. A key that others may read is no secret.
func readFile(path string, secret bool) ([]byte, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: make a bundle with `dodoor certs issue`", err)
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no file", path)
	}
	if mode := info.Mode().Perm(); secret && mode&0o077 != 0 {
		return nil, fmt.Errorf("%s may be read or written by others (%#o): chmod 600 it", path, mode)
	}
	text, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = fmt.Errorf("%s is larger than %d bytes", path, maxFile)
	}
	return text, err
}

// parse takes the files of a bundle apart. It checks all but whether its certificate is accepted.
func parse(t texts, domain string) (*material, error) {
	m := &material{roots: x509.NewCertPool(), revoked: make(map[serial]time.Time), lists: make(map[string]*big.Int)}
	authorities, err := certificates(t.ca)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", CAFile, err)
	}
	for _, ca := range authorities {
		if !ca.IsCA {
			return nil, fmt.Errorf("%s: %q is no certificate of an authority", CAFile, ca.Subject)
		}
		m.roots.AddCert(ca)
		m.lists[keyOf(ca)] = nil
	}
	chain, err := certificates(t.cert)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", CertFile, err)
	}
	if m.own, err = Of(chain[0], domain); err != nil {
		return nil, fmt.Errorf("%s: %w", CertFile, err)
	}
	if m.pair, err = tls.X509KeyPair(t.cert, t.key); err != nil {
		return nil, fmt.Errorf("%s and %s: %w", CertFile, KeyFile, err)
	}
	m.notAfter = chain[0].NotAfter
	for _, c := range chain[1:] {
		if c.NotAfter.Before(m.notAfter) {
			m.notAfter = c.NotAfter
		}
	}
	if t.revoked == nil {
		return m, nil
	}
	if err := m.revoke(t.revoked, authorities); err != nil {
		return nil, fmt.Errorf("%s: %w", RevokedFile, err)
	}
	return m, nil
}

// certificates reads a PEM file of certificates: at least one, and nothing else.
func certificates(text []byte) ([]*x509.Certificate, error) {
	var all []*x509.Certificate
	err := Blocks(text, "CERTIFICATE", func(der []byte) error {
		c, err := x509.ParseCertificate(der)
		all = append(all, c)
		return err
	})
	return all, err
}

// Blocks goes through the parts of a PEM file, which are all of one kind. It fails where there is none, and where one is damaged or cut
// off, which pem.Decode would pass over: what is missing of a list is believed. Text before a part is a comment.
func Blocks(text []byte, kind string, do func(der []byte) error) error {
	for n := 0; ; n++ {
		block, rest := pem.Decode(text)
		switch {
		case block == nil && n == 0:
			return fmt.Errorf("no part %q in it: it is empty, damaged or no PEM file", kind)
		case block == nil && len(bytes.TrimSpace(text)) > 0:
			return fmt.Errorf("what follows part %d is damaged or cut off", n)
		case block == nil:
			return nil
		case bytes.Count(text[:len(text)-len(rest)], []byte("-----BEGIN ")) > 1:
			return fmt.Errorf("what is before part %d that can be read is damaged or cut off", n+1)
		case block.Type != kind:
			return fmt.Errorf("a part of it is %.40q, not %q", block.Type, kind)
		}
		if err := do(block.Bytes); err != nil {
			return err
		}
		text = rest
	}
}
