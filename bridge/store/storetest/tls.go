package storetest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TLS is a server that speaks TLS beside plain text.
type TLS struct {
	*Server
	Address string // of TLS
	CAFile  string // of the authority that signed its certificate
}

// StartTLS starts a server whose certificate, made for the test, names 127.0.0.1
// and redis.example.
func StartTLS(t testing.TB, args ...string) TLS {
	t.Helper()
	ca, cert, key := certificates(t)
	port := FreePort(t)
	args = append([]string{"--tls-port", strconv.Itoa(port), "--tls-cert-file", cert, "--tls-key-file", key,
		"--tls-ca-cert-file", ca, "--tls-auth-clients", "no"}, args...)
	return TLS{Server: StartRedis(t, args...), Address: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), CAFile: ca}
}

// URL names the server by TLS for a user; "": the default one.
func (s TLS) URL(user, password string) string {
	u := url.URL{Scheme: "rediss", Host: s.Address, RawQuery: url.Values{"ca_file": {s.CAFile}}.Encode()}
	if user != "" {
		u.User = url.UserPassword(user, password)
	}
	return u.String()
}

// Grant makes a user that may do what the bridge does, and nothing else but what
// more rules allow.
func (s *Server) Grant(t testing.TB, user, password string, more ...string) {
	t.Helper()
	rules := []any{"ACL", "SETUSER", user, "on", ">" + password, "~bridge:*", "&bridge:*"}
	for _, r := range append(Least(), more...) {
		rules = append(rules, r)
	}
	require.NoError(t, s.Client(t).Do(t.Context(), rules...).Err())
}

// Least are the commands of the bridge on one server, as rules of an ACL. A
// cluster and Sentinel need more.
func Least() []string {
	return []string{
		"+ping", "+hello", "+auth", "+select", "+multi", "+exec", "+eval", "+evalsha", "+script|load", "+time", "+config|get",
		"+get", "+mget", "+set", "+del", "+pexpire", "+zadd", "+zcard", "+zrem", "+zremrangebyscore", "+publish", "+subscribe",
		"+xadd", "+xlen", "+xrange", "+xreadgroup", "+xgroup|create", "+xpending", "+xclaim", "+xack", "+xdel",
	}
}

// LeastInCluster are the rules that a cluster needs beside them.
func LeastInCluster() []string { return []string{"+cluster|slots"} }

// certificates makes an authority and a certificate, and gives their files.
func certificates(t testing.TB) (ca, cert, key string) {
	t.Helper()
	dir := t.TempDir()
	root := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(24 * time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "redis"}, NotBefore: root.NotBefore, NotAfter: root.NotAfter,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"redis.example"},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	rootKey, leafKey := newKey(t), newKey(t)
	write := func(name, kind string, der []byte) string {
		file := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
		return file
	}
	rootDER, err := x509.CreateCertificate(rand.Reader, root, root, &rootKey.PublicKey, rootKey)
	require.NoError(t, err)
	leafDER, err := x509.CreateCertificate(rand.Reader, leaf, root, &leafKey.PublicKey, rootKey)
	require.NoError(t, err)
	keyDER, err := x509.MarshalPKCS8PrivateKey(leafKey)
	require.NoError(t, err)
	return write("ca.pem", "CERTIFICATE", rootDER), write("cert.pem", "CERTIFICATE", leafDER), write("key.pem", "PRIVATE KEY", keyDER)
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	return key
}
