package config

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"time"

	"sfbridge/internal/strictyaml"
)

// Load reads a settings file. Its error is a *Problems that holds every mistake
// at once.
func Load(file string) (*Config, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		report := strictyaml.NewReport(file)
		report.At(nil, "can't be read: "+withoutPath(err).Error(), "check the name and the rights")
		return nil, report.Err()
	}
	return Parse(file, data)
}

// Parse reads the text of a settings file. Name stands in messages, and
// relative paths start at its directory.
func Parse(name string, data []byte) (*Config, error) {
	return read(&Config{File: name, data: data}, func(*strictyaml.Node, *strictyaml.Report) {})
}

// Outline is what the loader asks of a text. The JSON Schema of settings files
// is made of it.
func Outline(name string, data []byte) (*strictyaml.Outline, error) {
	var outline *strictyaml.Outline
	_, err := read(&Config{File: name, data: data}, func(root *strictyaml.Node, report *strictyaml.Report) {
		outline = report.Outline(root)
	})
	return outline, err
}

// LoadOrg reads a settings file for a command that needs the org alone: there
// may be no mapping file yet.
func LoadOrg(file string) (*Config, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return Load(file)
	}
	return read(&Config{File: file, data: data, orgOnly: true}, func(*strictyaml.Node, *strictyaml.Report) {})
}

// Fill reads the settings again with the references of the named sections (the
// keys at the top of the file) filled in, of all sections when none is named.
func (c *Config) Fill(env Env, sections ...string) (*Config, error) {
	lookup := env.in(filepath.Dir(c.File))
	return read(&Config{File: c.File, data: c.data, orgOnly: c.orgOnly}, func(root *strictyaml.Node, report *strictyaml.Report) {
		for _, e := range root.Entries {
			if len(sections) == 0 || slices.Contains(sections, e.Key) {
				e.Value.Fill(report, lookup)
			}
		}
	})
}

// read fills a Config that has its file and data.
func read(cfg *Config, fill func(*strictyaml.Node, *strictyaml.Report)) (*Config, error) {
	l := &loader{
		Report: strictyaml.NewReport(cfg.File),
		warn:   strictyaml.NewReport(cfg.File),
		dir:    filepath.Dir(cfg.File),
		cfg:    cfg,
	}
	if root := strictyaml.Parse(cfg.data, l.Report); root != nil {
		fill(root, l.Report)
		l.top(root)
	}
	if err := l.Err(); err != nil {
		return nil, err
	}
	l.cfg.warnings = l.warn.List()
	return l.cfg, nil
}

// loader turns the YAML tree into a Config. Every method reports what is wrong
// and goes on.
type loader struct {
	*strictyaml.Report
	warn *strictyaml.Report
	dir  string
	cfg  *Config
}

func (l *loader) top(root *strictyaml.Node) {
	m := root.Map(l.Report, "listen", "public_url", "admin", "salesforce", "store", "receiver", "poller",
		"outbound", "retention", "mappings")
	l.cfg.Listen = l.address(m, "listen", "127.0.0.1:8080")
	l.cfg.PublicURL = l.url(m, "public_url", "")
	l.admin(m.Get("admin"))
	l.salesforce(m)
	l.store(m.Get("store"))
	l.receiver(m.Get("receiver"))
	l.poller(m.Get("poller"))
	l.outbound(m.Get("outbound"))
	l.retention(m.Get("retention"))
	l.mappings(m)
}

func (l *loader) admin(n *strictyaml.Node) {
	m := n.Map(l.Report, "listen", "token")
	a := &l.cfg.Admin
	a.Listen = l.address(m, "listen", "127.0.0.1:8081")
	a.Token = l.secret(m, "token")
	if !a.Token.IsSet() && !isLoopbackAddress(a.Listen) && !m.Get("listen").Unfilled() {
		l.At(m.Get("listen"), "the admin listener is open to other machines without a token", `add token: "${BRIDGE_ADMIN_TOKEN}", or listen on 127.0.0.1`)
	}
}

func (l *loader) store(n *strictyaml.Node) {
	m := n.Map(l.Report, "dir", "redis", "durable")
	l.cfg.Store = Store{Dir: below(l.dir, m.Text("dir", "data")), Durable: m.Bool("durable", false), Redis: l.secret(m, "redis")}
}

func (l *loader) receiver(n *strictyaml.Node) {
	m := n.Map(l.Report, "ack", "ack_timeout", "max_body", "batch", "linger", "calls", "rate")
	l.cfg.Receiver = Receiver{
		Ack:        Ack(m.Enum("ack", string(AckAuto), string(AckStaged), string(AckSpooled))),
		AckTimeout: m.Duration("ack_timeout", 2*time.Second, 50*time.Millisecond, 5*time.Minute),
		MaxBody:    m.Size("max_body", 1<<20, 1, 64<<20),
		Batch:      m.Int("batch", 200, 1, 200),
		Linger:     m.Duration("linger", 5*time.Millisecond, 0, time.Second),
		Calls:      m.Int("calls", 4, 1, 25),
		Rate:       m.Number("rate", 0, 0, 1e6),
	}
}

func (l *loader) poller(n *strictyaml.Node) {
	m := n.Map(l.Report, "interval", "idle", "batch", "lanes", "max_attempts", "parent_wait", "backoff")
	b := m.Get("backoff").Map(l.Report, "base", "max")
	p := Poller{
		Interval:    m.Duration("interval", 2*time.Second, 10*time.Millisecond, time.Hour),
		Idle:        m.Duration("idle", time.Minute, 10*time.Millisecond, 24*time.Hour),
		Batch:       m.Int("batch", 200, 1, 200),
		Lanes:       m.Int("lanes", 4, 1, 16),
		MaxAttempts: m.Int("max_attempts", 12, 1, 1000),
		ParentWait:  m.Duration("parent_wait", 24*time.Hour, 0, 30*24*time.Hour),
		Backoff: Backoff{
			Base: b.Duration("base", 2*time.Second, time.Millisecond, time.Hour),
			Max:  b.Duration("max", 15*time.Minute, time.Millisecond, 24*time.Hour),
		},
	}
	if p.Idle < p.Interval {
		l.At(m.Node(), fmt.Sprintf("idle %s is shorter than interval %s", strictyaml.SpanText(p.Idle), strictyaml.SpanText(p.Interval)), "make idle at least as long as interval")
	}
	if p.Backoff.Max < p.Backoff.Base {
		l.At(b.Node(), fmt.Sprintf("max %s is shorter than base %s", strictyaml.SpanText(p.Backoff.Max), strictyaml.SpanText(p.Backoff.Base)), "make max at least as long as base")
	}
	l.cfg.Poller = p
}

var hostPort = regexp.MustCompile(`^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+):[0-9]{1,5}$`)

func (l *loader) outbound(n *strictyaml.Node) {
	m := n.Map(l.Report, "allow")
	for _, item := range m.Get("allow").AsList(l.Report) {
		text, ok := item.AsText(l.Report)
		if ok && !item.Unfilled() && !hostPort.MatchString(text) {
			l.At(item, fmt.Sprintf("%q is not host:port", item.Spelled), "write for example 127.0.0.1:9000")
		}
		l.cfg.Outbound.Allow = append(l.cfg.Outbound.Allow, text)
	}
}

func (l *loader) retention(n *strictyaml.Node) {
	const day = 24 * time.Hour
	m := n.Map(l.Report, "payload_after", "row_after", "archive_dir")
	r := Retention{
		PayloadAfter: m.Duration("payload_after", 30*day, time.Hour, 3650*day),
		RowAfter:     m.Duration("row_after", 90*day, time.Hour, 3650*day),
		ArchiveDir:   below(l.dir, m.Text("archive_dir", "")),
	}
	if r.RowAfter < r.PayloadAfter {
		l.At(m.Node(), fmt.Sprintf("row_after %s is shorter than payload_after %s", strictyaml.SpanText(r.RowAfter), strictyaml.SpanText(r.PayloadAfter)), "make row_after at least as long as payload_after")
	}
	l.cfg.Retention = r
}

// mappings finds the files that the globs name.
func (l *loader) mappings(top strictyaml.Map) {
	n := top.Need("mappings", "write mappings: [mappings/*.yaml]")
	items := n.AsList(l.Report)
	if n != nil && n.Kind == strictyaml.Sequence && len(items) == 0 {
		l.At(n, "no mapping is named", "write for example [mappings/*.yaml]")
	}
	for _, item := range items {
		text, ok := item.AsText(l.Report)
		if !ok || item.Unfilled() {
			continue
		}
		found, err := filepath.Glob(below(l.dir, text))
		if (err != nil || len(found) == 0) && !l.cfg.orgOnly {
			l.At(item, fmt.Sprintf("no file fits %q", item.Spelled), "relative names start at the directory of this file")
		}
		for _, file := range found {
			if twice, ok := l.named(file); ok {
				l.At(item, fmt.Sprintf("%s is named twice, also as %s", file, twice), "name each mapping once: leave one of them out, or narrow the glob")
				continue
			}
			l.cfg.Mappings = append(l.cfg.Mappings, file)
		}
	}
	sort.Strings(l.cfg.Mappings)
}

// named finds the file among those that were named before, under whatever name.
func (l *loader) named(file string) (string, bool) {
	one, err := os.Stat(file)
	if err != nil {
		return "", false // whoever reads it says what is wrong
	}
	for _, before := range l.cfg.Mappings {
		if other, err := os.Stat(before); err == nil && os.SameFile(one, other) {
			return before, true
		}
	}
	return "", false
}

// secret reads a reference; its value is there once it was filled in.
func (l *loader) secret(m strictyaml.Map, key string) Secret {
	n := m.Get(key)
	text, ok := n.AsSecret(l.Report)
	if !ok {
		return Secret{}
	}
	s := Secret{reference: n.Spelled}
	if !n.Unfilled() {
		s.value = text
	}
	return s
}
