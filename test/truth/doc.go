// Package truth holds the running service to what it promises operators: drift
// from the providers' lists is found and repaired, and the admin API shows and
// moves what it says.
package truth
