package identity

import (
	"crypto/tls"
	"fmt"
	"time"
)

// Server is how a service shakes hands: the peer must show a certificate that Verify accepts.
func (b *Bundle) Server() *tls.Config {
	cfg := b.Unverified()
	cfg.ClientAuth = tls.RequireAnyClientCert
	cfg.VerifyConnection = func(s tls.ConnectionState) error {
		_, err := b.Verify(s.PeerCertificates, time.Now())
		return err
	}
	return cfg
}

// Unverified is Server for whoever calls Verify himself after the handshake, so that the peer can be told what is wrong in words.
func (b *Bundle) Unverified() *tls.Config {
	return &tls.Config{
		MinVersion:     tls.VersionTLS13,
		ClientAuth:     tls.RequestClientCert,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &b.now.Load().pair, nil },
		// Without tickets nothing comes after the handshake that nobody asked for, and each connection shows the newest certificate.
		SessionTicketsDisabled:      true,
		DynamicRecordSizingDisabled: true, // a message goes out whole, and is of no use in parts
	}
}

// Client is how a client shakes hands: the server must show a certificate that Verify accepts, of the role and the name that are
// expected. An empty name is any, and so is no role.
func (b *Bundle) Client(expect Identity) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13,
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			return &b.now.Load().pair, nil
		},
		DynamicRecordSizingDisabled: true,
		InsecureSkipVerify:          true, // of host names, which no certificate has: VerifyConnection checks what it says instead
		VerifyConnection: func(s tls.ConnectionState) error {
			id, err := b.Verify(s.PeerCertificates, time.Now())
			if err != nil {
				return err
			}
			return expect.Admits(id)
		},
	}
}

// Admits fails for an identity that is not the expected one.
func (i Identity) Admits(id Identity) error {
	if i.Role != None && i.Role != id.Role || i.Name != "" && i.Name != id.Name {
		return fmt.Errorf("%s is there, %s is expected", id, i.wanted())
	}
	return nil
}

// wanted is an expectation, for people.
func (i Identity) wanted() string {
	if i.Name == "" {
		return "a " + i.Role.String()
	}
	return i.String()
}
