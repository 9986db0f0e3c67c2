// Package crash kills, stops and reloads the real service at chosen moments:
// the calls between bridge and org are stopped where the test wants them, so
// no moment is hit by luck. After each restart nothing may be lost, nothing
// written twice and no attempt charged.
package crash
