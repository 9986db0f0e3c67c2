package main

import (
	"github.com/spf13/pflag"
)

// secretFlags are the ways to give secrets to a command. Everybody on a machine
// can read the command lines of its processes, so variables and files come
// first; on the command line is for secrets that are none.
type secretFlags struct {
	names, files, given []string
}

const secretFlagNames = "--secret-env, --secret-file or --secret"

func (s *secretFlags) add(f *pflag.FlagSet) {
	f.StringArrayVar(&s.names, "secret-env", nil, "environment variable that holds the secret, as the provider shows it (repeatable)")
	f.StringArrayVar(&s.files, "secret-file", nil, "file that holds the secret; one newline at its end is dropped (repeatable)")
	f.StringArrayVar(&s.given, "secret", nil, "the secret itself; others on this machine can see it (repeatable)")
}

// read gives the secrets in the order above. Errors name the variable or the
// file, never a value.
func (s *secretFlags) read(env environment) ([]string, error) {
	var secrets []string
	for _, reference := range s.references() {
		secret, err := env.env.Expand(reference, "")
		if err != nil {
			return nil, usage("the secret: %v", err)
		}
		secrets = append(secrets, secret)
	}
	return append(secrets, s.given...), nil
}

func (s *secretFlags) references() []string {
	var list []string
	for _, name := range s.names {
		list = append(list, "${"+name+"}")
	}
	for _, file := range s.files {
		list = append(list, "${file:"+file+"}")
	}
	return list
}
