// Package effects holds the running service to its promise about side effects:
// one for each transition, sent at least once, always under one key, recorded
// as done once, whatever dies in between.
package effects
