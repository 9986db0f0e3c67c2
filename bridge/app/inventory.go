package app

import (
	"strings"

	"sfbridge/bridge/store"
	"sfbridge/config"
)

// SourceInfo is what an operator wants to know of a source.
type SourceInfo struct {
	Source    string `json:"source"`
	Provider  string `json:"provider"`
	Title     string `json:"title"`
	URL       string `json:"url"` // to be given to the provider
	Processor string `json:"processor"`
	Trust     string `json:"trust"`
	Mapping   string `json:"mapping_version"`
	// Handshakes are the names of those that would be answered now.
	Handshakes []string `json:"open_handshakes"`
	// Secret says where the secret stands: "configured", "kept" (it came in a
	// handshake), "awaited" (it is to come in one), "fetched" (the key that signs
	// is), "none" (nothing is signed).
	Secret string `json:"secret_state"`
}

// Info describes the source. It needs no secret.
func (s *Source) Info(cfg *config.Config, kept *store.Secrets) (SourceInfo, error) {
	base := strings.TrimRight(cfg.PublicURL, "/")
	if base == "" {
		base = "http://" + cfg.Listen
	}
	i := SourceInfo{
		Source: s.Mapping.Source, Provider: s.Mapping.Provider, Title: s.Preset.Title, URL: base + "/webhooks/" + s.Mapping.Source,
		Processor: string(s.Mapping.Processor), Trust: string(s.Trust()), Mapping: s.Mapping.Version(), Handshakes: []string{},
	}
	var err error
	if i.Secret, err = s.secretState(kept); err != nil {
		return i, err
	}
	for _, h := range s.Preset.Handshakes {
		if h.Keeps == nil || i.Secret == "awaited" {
			i.Handshakes = append(i.Handshakes, h.Name)
		}
	}
	return i, nil
}

func (s *Source) secretState(kept *store.Secrets) (string, error) {
	switch {
	case s.AcceptsUnsigned():
		return "none", nil
	case len(s.Mapping.Secrets) > 0:
		return "configured", nil
	case s.Preset.Keeps():
		if _, found, err := kept.Get(s.Mapping.Source); err != nil || found {
			return "kept", err
		}
		return "awaited", nil
	}
	return "fetched", nil
}
