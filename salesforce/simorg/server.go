package simorg

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"sfbridge/apex"
	"sfbridge/salesforce/simorg/fault"
	"sfbridge/salesforce/simorg/login"
	"sfbridge/salesforce/simorg/org"
	"sfbridge/salesforce/simorg/rest"
	"sfbridge/salesforce/simorg/schema"
)

// Server is one simulated org.
type Server struct {
	cfg    Config
	org    *org.Org
	api    *rest.API
	faults *fault.Set
	token  string

	http *http.Server // nil until started
	url  string
	done chan struct{} // closed when serving has ended
}

// New builds an org from its settings. Metadata the org could not deploy is an
// error.
func New(cfg Config) (*Server, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	objects, err := loadSchema(cfg)
	if err != nil {
		return nil, err
	}
	hidden, err := hiddenFields(objects, cfg.HideFields)
	if err != nil {
		return nil, err
	}
	unsure, err := parseUnsure(cfg.Unsure)
	if err != nil {
		return nil, err
	}
	db, err := org.New(org.Config{
		Schema: objects, LockWait: cfg.LockWait, Now: cfg.Now,
		PriorUnlocked: unsure.PriorUnlocked, Milliseconds: unsure.Milliseconds, FoldNoKeys: unsure.ExactDuplicateKeys,
		ControlRefused: unsure.ControlRefused, LookupsLock: unsure.LookupsLock, DuplicateFields: unsure.DuplicateFieldsFilled, DuplicateUnknown: unsure.DuplicateUnknown,
	})
	if err != nil {
		return nil, fmt.Errorf("simorg: %w", err)
	}
	sessions := login.NewSessions(org.OrgID, cfg.SessionTimeout, cfg.Now)
	logins, err := login.New(login.Config{
		ClientID: cfg.ClientID, ClientSecret: cfg.ClientSecret, Cert: cfg.JWTCert, Ceiling: unsure.JWTCeiling,
		PerHour: cfg.LoginsPerHour, OrgID: org.OrgID, UserID: org.UserID, Username: org.Username, Now: cfg.Now,
	}, sessions)
	if err != nil {
		return nil, fmt.Errorf("simorg: reading the JWT certificate: %w", err)
	}
	faults := &fault.Set{}
	faults.Add(cfg.Faults...)
	api := rest.New(rest.Config{
		Org: db, Faults: faults, Sessions: sessions, Login: logins, Unsure: unsure, Latency: cfg.Latency,
		DailyLimit: cfg.DailyLimit, PageSize: cfg.PageSize, Now: cfg.Now,
		Hidden: func(f *schema.Field) bool { return hidden[f] },
	})
	return &Server{cfg: cfg, org: db, api: api, faults: faults, token: sessions.IssueKept()}, nil
}

func loadSchema(cfg Config) (*schema.Schema, error) {
	sources := []schema.Source{{Name: "product", FS: apex.Product()}}
	if cfg.Samples {
		sources = append(sources, schema.Source{Name: "samples", FS: apex.Samples()})
	}
	for i, fsys := range cfg.Metadata {
		sources = append(sources, schema.Source{Name: fmt.Sprintf("metadata %d", i+1), FS: fsys})
	}
	objects, err := schema.Load(sources...)
	if err != nil {
		return nil, fmt.Errorf("simorg: loading metadata: %w", err)
	}
	return objects, nil
}

// hiddenFields resolves "Object.Field" names.
func hiddenFields(objects *schema.Schema, names []string) (map[*schema.Field]bool, error) {
	hidden := map[*schema.Field]bool{}
	for _, name := range names {
		object, field, _ := strings.Cut(name, ".")
		obj := objects.Object(object)
		if obj == nil || obj.Field(field) == nil {
			return nil, fmt.Errorf("simorg: hidden field %q does not exist", name)
		}
		hidden[obj.Field(field)] = true
	}
	return hidden, nil
}

// Handler serves the org.
func (s *Server) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/_sim/") {
			s.control(w, r)
			return
		}
		s.api.ServeHTTP(w, r)
	})
}

// Start listens on Config.Listen and serves until Close.
func (s *Server) Start() error {
	if s.http != nil {
		return errors.New("simorg: already started")
	}
	var lc net.ListenConfig
	listener, err := lc.Listen(context.Background(), "tcp", s.cfg.Listen)
	if err != nil {
		return fmt.Errorf("simorg: listening on %s: %w", s.cfg.Listen, err)
	}
	s.url = "http://" + listener.Addr().String()
	s.http = &http.Server{Handler: s.Handler(), ReadHeaderTimeout: 30 * time.Second}
	s.done = make(chan struct{})
	go func() {
		defer close(s.done)
		_ = s.http.Serve(listener) // ends by Close
	}()
	return nil
}

// closeWait bounds how long Close waits for requests in flight.
const closeWait = 5 * time.Second

// Close stops serving, waits for work in flight and frees everything. A server
// that was never started is closed too.
func (s *Server) Close() error {
	defer s.api.Close()
	if s.http == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeWait)
	defer cancel()
	s.api.Stop()
	err := s.http.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, s.http.Close())
	}
	<-s.done
	return err
}

// URL is the base address of a started server.
func (s *Server) URL() string { return s.url }

// AccessToken is a session of the API user that never expires by time.
func (s *Server) AccessToken() string { return s.token }
