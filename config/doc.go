// Package config reads bridge.yaml: typed settings with defaults, every problem
// reported at once with file, line, column, path and what to do.
//
//	cfg, err := config.Load("bridge.yaml")       // err is *config.Problems
//	cfg, err = cfg.Fill(config.OS())             // every reference filled in
//	cfg, err = cfg.Fill(env, "salesforce")       // those of one section only
//
// Load reads the file alone: no environment, no other file except the names
// that the globs under mappings find. Secrets, and whatever else is written as
// ${NAME} or ${file:/path}, stay references until a command that needs the
// values calls Fill; unset, empty or blank is an error then. Both are pure and
// can be repeated, so settings can be reloaded while the old ones stay in use.
//
// Relative paths start at the directory of the file that names them.
//
// A [Secret] never shows its value: not in fmt, not in JSON, not in slog.
package config
