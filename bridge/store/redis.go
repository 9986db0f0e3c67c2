package store

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// keyPrefix begins every key. Deployments that share a server need a database
// each.
const keyPrefix = "bridge:"

// Time limits of one command; contexts make them shorter.
const (
	redisDial  = 2 * time.Second
	redisRead  = 3 * time.Second
	redisTries = 2

	// redisSlots is how old a client's picture of a cluster may grow: until it is
	// read again, a master that died is still asked for.
	redisSlots = 2 * time.Second
)

// Redis is a connection to the store that several processes share.
type Redis struct {
	Client redis.UniversalClient
	// Cluster is set when Client is a cluster's.
	Cluster *redis.ClusterClient
	// Replicated says that a failover may make another server the master: behind
	// Sentinel, and in a cluster.
	Replicated bool
}

// OpenRedis connects to the store that a URL names; nothing is sent yet:
//
//	redis://user:password@host:6379/0        one server; rediss:// for TLS
//	unix:///run/redis.sock?db=0              one server of this machine
//	redis-sentinel://user:password@host:26379,host:26379/master/0
//	redis-cluster://user:password@host:6379,host:6379
//
// rediss-sentinel:// and rediss-cluster:// use TLS. Options: ca_file (PEM) and
// server_name for TLS, sentinel_user and sentinel_password. Errors never hold
// the URL, which has a password in it.
func OpenRedis(address string) (*Redis, error) {
	logging.Disable() // what fails is returned, and told by those who know what it means
	u, err := parseRedisURL(address)
	if err != nil {
		return nil, fmt.Errorf("store.redis: %w", err)
	}
	switch u.kind {
	case "sentinel":
		return &Redis{Client: redis.NewFailoverClient(u.failover()), Replicated: true}, nil
	case "cluster":
		c := redis.NewClusterClient(u.cluster())
		return &Redis{Client: c, Cluster: c, Replicated: true}, nil
	default:
		return &Redis{Client: redis.NewClient(u.single())}, nil
	}
}

// Key is the key of something that belongs to a tag: all keys of a tag live on
// one server of a cluster.
func (r *Redis) Key(tag, name string) string { return keyPrefix + "{" + tag + "}:" + name }

// Masters calls fn for every server that takes writes.
func (r *Redis) Masters(ctx context.Context, fn func(context.Context, redis.UniversalClient) error) error {
	if r.Cluster == nil {
		return fn(ctx, r.Client)
	}
	return r.Cluster.ForEachMaster(ctx, func(ctx context.Context, c *redis.Client) error { return fn(ctx, c) })
}

// Close ends the connections.
func (r *Redis) Close() error {
	if err := r.Client.Close(); err != nil && !errors.Is(err, redis.ErrClosed) {
		return fmt.Errorf("closing the connections to Redis: %w", err)
	}
	return nil
}

// redisURL is a store URL taken apart.
type redisURL struct {
	kind           string // "", "sentinel", "cluster", "unix"
	hosts          []string
	user, password string
	master         string
	db             int
	sentinelUser   string
	sentinelPass   string
	tls            *tls.Config
}

var redisKinds = map[string]string{
	"redis": "", "rediss": "", "unix": "unix",
	"redis-sentinel": "sentinel", "rediss-sentinel": "sentinel",
	"redis-cluster": "cluster", "rediss-cluster": "cluster",
}

// parseRedisURL reads the forms that OpenRedis names. Package url knows no lists
// of hosts and quotes passwords in its errors, so that only parts go through it.
func parseRedisURL(address string) (redisURL, error) {
	scheme, rest, ok := strings.Cut(address, "://")
	kind, known := redisKinds[strings.ToLower(scheme)]
	if !ok || !known {
		return redisURL{}, errors.New("the URL begins with none of redis://, rediss://, unix://, redis-sentinel://, rediss-sentinel://, redis-cluster://, rediss-cluster://")
	}
	u := redisURL{kind: kind}
	rest, query, _ := strings.Cut(rest, "?")
	authority, path := rest, ""
	if slash := strings.IndexByte(rest[strings.LastIndexByte(rest, '@')+1:], '/'); slash >= 0 {
		slash += strings.LastIndexByte(rest, '@') + 1
		authority, path = rest[:slash], rest[slash+1:]
	}
	hosts := authority
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		hosts = authority[at+1:]
		if err := u.login(authority[:at]); err != nil {
			return redisURL{}, err
		}
	}
	options, err := url.ParseQuery(query)
	if err != nil {
		return redisURL{}, errors.New("the options of the URL can't be read")
	}
	if strings.HasPrefix(strings.ToLower(scheme), "rediss") {
		u.tls = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	if err := u.place(hosts, path, options); err != nil {
		return redisURL{}, err
	}
	return u, u.options(options)
}

func (u *redisURL) login(text string) error {
	user, password, _ := strings.Cut(text, ":")
	var err1, err2 error
	u.user, err1 = url.PathUnescape(user)
	u.password, err2 = url.PathUnescape(password)
	if err1 != nil || err2 != nil {
		return errors.New("user or password of the URL can't be read: write % as %25")
	}
	return nil
}

// place reads where the servers are.
func (u *redisURL) place(hosts, path string, options url.Values) error {
	db := ""
	switch parts := strings.Split(path, "/"); {
	case u.kind == "unix":
		u.hosts, db = []string{"/" + path}, options.Get("db")
		options.Del("db")
		if hosts != "" || path == "" {
			return errors.New("unix:// names no socket: write for example unix:///run/redis.sock")
		}
		return u.database(db)
	case u.kind == "sentinel":
		if u.master = parts[0]; u.master == "" || len(parts) > 2 {
			return errors.New("the name of the master is missing: write for example redis-sentinel://host:26379/mymaster")
		}
		if len(parts) == 2 {
			db = parts[1]
		}
	case u.kind == "cluster" && path != "":
		return errors.New("a cluster has no databases: leave the path out")
	default:
		db = path
	}
	if err := u.database(db); err != nil {
		return err
	}
	port := "6379"
	if u.kind == "sentinel" {
		port = "26379"
	}
	for host := range strings.SplitSeq(hosts, ",") {
		address, err := withPort(host, port)
		if err != nil {
			return err
		}
		u.hosts = append(u.hosts, address)
	}
	if u.kind == "" && len(u.hosts) > 1 {
		return errors.New("redis:// names one server: write redis-cluster:// or redis-sentinel:// for several")
	}
	return nil
}

func (u *redisURL) database(text string) (err error) {
	if text == "" {
		return nil
	}
	if u.db, err = strconv.Atoi(text); err != nil || u.db < 0 {
		return errors.New("the database in the URL is not a number from 0")
	}
	return nil
}

func withPort(host, port string) (string, error) {
	if host == "" {
		return "", errors.New("the URL names no host")
	}
	if _, _, err := net.SplitHostPort(host); err == nil {
		return host, nil
	}
	if strings.Count(host, ":") > 0 && !strings.HasPrefix(host, "[") {
		return "", errors.New("a host of the URL is not host:port")
	}
	return net.JoinHostPort(strings.Trim(host, "[]"), port), nil
}

func (u *redisURL) options(options url.Values) error {
	for name := range options {
		value := options.Get(name)
		switch name {
		case "ca_file":
			if err := u.trust(value); err != nil {
				return err
			}
		case "server_name":
			if u.tls == nil {
				return errors.New("server_name is for TLS: write rediss://")
			}
			u.tls.ServerName = value
		case "sentinel_user":
			u.sentinelUser = value
		case "sentinel_password":
			u.sentinelPass = value
		default:
			return errors.New("the URL has an option that is none of ca_file, server_name, sentinel_user, sentinel_password")
		}
	}
	return nil
}

func (u *redisURL) trust(file string) error {
	if u.tls == nil {
		return errors.New("ca_file is for TLS: write rediss://")
	}
	f, err := os.Open(file)
	if err != nil {
		return fmt.Errorf("ca_file: %w", err)
	}
	defer f.Close() //nolint:errcheck // only read
	pem, err := io.ReadAll(io.LimitReader(f, 1<<20))
	if err != nil {
		return fmt.Errorf("ca_file: %w", err)
	}
	u.tls.RootCAs = x509.NewCertPool()
	if !u.tls.RootCAs.AppendCertsFromPEM(pem) {
		return errors.New("ca_file holds no certificate in PEM form")
	}
	return nil
}

func quietly() *maintnotifications.Config {
	return &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
}

func (u redisURL) single() *redis.Options {
	o := &redis.Options{
		Network: "tcp", Addr: u.hosts[0], Username: u.user, Password: u.password, DB: u.db, TLSConfig: u.tls,
		DialTimeout: redisDial, ReadTimeout: redisRead, WriteTimeout: redisRead, MaxRetries: redisTries,
		ContextTimeoutEnabled: true, DisableIdentity: true, MaintNotificationsConfig: quietly(),
	}
	if u.kind == "unix" {
		o.Network = "unix"
	}
	return o
}

func (u redisURL) failover() *redis.FailoverOptions {
	return &redis.FailoverOptions{
		MasterName: u.master, SentinelAddrs: u.hosts, SentinelUsername: u.sentinelUser, SentinelPassword: u.sentinelPass,
		Username: u.user, Password: u.password, DB: u.db, TLSConfig: u.tls,
		DialTimeout: redisDial, ReadTimeout: redisRead, WriteTimeout: redisRead, MaxRetries: redisTries,
		ContextTimeoutEnabled: true, DisableIdentity: true,
	}
}

func (u redisURL) cluster() *redis.ClusterOptions {
	return &redis.ClusterOptions{
		Addrs: u.hosts, Username: u.user, Password: u.password, TLSConfig: u.tls,
		DialTimeout: redisDial, ReadTimeout: redisRead, WriteTimeout: redisRead, MaxRedirects: 3, MaxRetries: redisTries,
		ClusterStateReloadInterval: redisSlots,
		ContextTimeoutEnabled:      true, DisableIdentity: true, MaintNotificationsConfig: quietly(),
	}
}
