package identity

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net/url"
	"testing"
	"time"
)

// FuzzBundle: whatever is in the files, it is a bundle with an identity or an error in words.
func FuzzBundle(f *testing.F) {
	t := whole(f)
	f.Add(t.ca, t.cert, t.key, t.revoked)
	f.Add(t.cert, t.ca, t.key, []byte(nil))
	f.Add(append(t.ca, t.ca...), append(t.cert, t.ca...), t.key, t.ca)
	f.Add([]byte("-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n"), t.cert, t.key, t.revoked)
	f.Fuzz(func(test *testing.T, ca, cert, key, revoked []byte) {
		m, err := parse(texts{ca, cert, key, revoked}, "dodoor")
		if (m == nil) == (err == nil) {
			test.Fatal(m, err)
		}
		if err == nil {
			if err := m.own.Check(); err != nil {
				test.Error(err)
			}
			m.verify(m.chain(), "dodoor", m.notAfter)
		}
	})
}

// whole is the text of a bundle that is right.
func whole(f *testing.F) (t texts) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	uri, _ := url.Parse("spiffe://dodoor/worker/w1")
	now := time.Now()
	ca := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: now.Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign}
	leaf := &x509.Certificate{SerialNumber: big.NewInt(2), NotAfter: now.Add(time.Hour), URIs: []*url.URL{uri}}
	list := &x509.RevocationList{Number: big.NewInt(1),
		RevokedCertificateEntries: []x509.RevocationListEntry{{SerialNumber: big.NewInt(3), RevocationTime: now}}}
	put := func(kind string, der []byte, failed error) []byte {
		if err != nil || failed != nil {
			f.Fatal(err, failed)
		}
		return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
	}
	der, failed := x509.CreateCertificate(rand.Reader, ca, ca, key.Public(), key)
	t.ca = put("CERTIFICATE", der, failed)
	ca, _ = x509.ParseCertificate(der)
	der, failed = x509.CreateCertificate(rand.Reader, leaf, ca, key.Public(), key)
	t.cert = put("CERTIFICATE", der, failed)
	der, failed = x509.CreateRevocationList(rand.Reader, list, ca, key)
	t.revoked = put("X509 CRL", der, failed)
	der, failed = x509.MarshalPKCS8PrivateKey(key)
	t.key = put("PRIVATE KEY", der, failed)
	return t
}
