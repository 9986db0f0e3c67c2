package transform_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"sfbridge/mapping/path"
	"sfbridge/mapping/transform"
)

const layoutError = "doesn't have the form of"

func TestDatetime(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		format, timezone string
		cases            []one
	}{
		"rfc3339": {"", "", []one{
			{in: `"2026-01-05T10:15:30Z"`, want: "2026-01-05T10:15:30.000Z"},
			{in: `"2026-01-05t10:15:30z"`, want: "2026-01-05T10:15:30.000Z"},
			{in: `"2026-01-05 10:15:30Z"`, want: "2026-01-05T10:15:30.000Z"},
			{in: `"2026-01-05T10:15Z"`, want: "2026-01-05T10:15:00.000Z"},
			{in: `"2026-07-01T12:00:00+0000"`, want: "2026-07-01T12:00:00.000Z"},
			{in: `"2026-07-01T12:00:00-0330"`, want: "2026-07-01T15:30:00.000Z"},
			{in: `"2026-07-01 12:00:00+02"`, want: "2026-07-01T10:00:00.000Z"},
			{in: `"2026-01-01T00:30:00+01:00"`, want: "2025-12-31T23:30:00.000Z"},
			{in: `"2026-01-05T10:15:30.9996Z"`, want: "2026-01-05T10:15:30.999Z"},
			{in: `"2026-01-05T10:15:30.5Z"`, want: "2026-01-05T10:15:30.500Z"},
			{in: `"1969-12-31T23:59:59.9999Z"`, want: "1969-12-31T23:59:59.999Z"},
			{in: `"2024-02-29T00:00:00Z"`, want: "2024-02-29T00:00:00.000Z"},
			{in: `"9999-12-31T23:59:59Z"`, want: "9999-12-31T23:59:59.000Z"},
			{in: `"2026-01-05T10:15:30"`, err: "has no zone"},
			{in: `"2026-01-05"`, err: "has no time"},
			{in: `"2023-02-29T00:00:00Z"`, err: "isn't a possible"},
			{in: `"2026-13-01T00:00:00Z"`, err: "isn't a possible"},
			{in: `"2026-00-01T00:00:00Z"`, err: "isn't a possible"},
			{in: `"2026-01-01T24:00:00Z"`, err: "isn't a possible"},
			{in: `"2026-01-01T10:60:00Z"`, err: "isn't a possible"},
			{in: `"2026-01-01T23:59:60Z"`, err: "isn't a possible"},
			{in: `"0000-01-01T00:00:00Z"`, err: "isn't a possible"},
			{in: `"9999-12-31T23:59:59-01:00"`, err: "lies outside the years"},
			{in: `"0001-01-01T00:00:00+01:00"`, err: "lies outside the years"},
			{in: `"10000-01-01T00:00:00Z"`, err: "isn't a date and time"},
			{in: `"2026-01-05T10:15:30.Z"`, err: "isn't a date and time"},
			{in: `"2026-01-05T10:15:30+24:00"`, err: "isn't a date and time"},
			{in: `"2026-01-05T10:15:30 Z"`, err: "isn't a date and time"},
			{in: `" 2026-01-05T10:15:30Z"`, err: "isn't a date and time"},
			{in: `"2026-1-5T10:15:30Z"`, err: "isn't a date and time"},
			{in: `"20260105T101530Z"`, err: "isn't a date and time"},
			{in: `"yesterday"`, err: "isn't a date and time"},
			{in: `1767225600`, err: "unix_s or unix_ms reads numbers"},
			{in: `true`, err: "is a boolean"},
			{in: `[]`, err: "is an array"},
			{in: `null`},
			{in: `""`},
		}},
		"timezone is for zone-less input": {"rfc3339", "Europe/Berlin", []one{
			{in: `"2026-07-01 12:00:00"`, want: "2026-07-01T10:00:00.000Z"},
			{in: `"2026-01-05T12:00:00.25"`, want: "2026-01-05T11:00:00.250Z"},
			{in: `"2026-07-01T12:00:00Z"`, want: "2026-07-01T12:00:00.000Z"},
			{in: `"2026-03-29 01:59:59"`, want: "2026-03-29T00:59:59.000Z"},
			{in: `"2026-03-29 02:30:00"`, err: "is skipped by the clocks of Europe/Berlin"},
			{in: `"2026-03-29 02:00:00"`, err: "is skipped by the clocks of Europe/Berlin"},
			{in: `"2026-03-29 03:00:00"`, want: "2026-03-29T01:00:00.000Z"},
			{in: `"2026-10-25 02:30:00"`, want: "2026-10-25T00:30:00.000Z"},
			{in: `"2026-10-25 01:59:59"`, want: "2026-10-24T23:59:59.000Z"},
			{in: `"2026-10-25 03:00:00"`, want: "2026-10-25T02:00:00.000Z"},
		}},
		"overlap in the west": {"", "America/New_York", []one{
			{in: `"2026-11-01T01:30:00"`, want: "2026-11-01T05:30:00.000Z"},
			{in: `"2026-03-08T02:30:00"`, err: "is skipped"},
		}},
		"a whole day skipped": {"", "Pacific/Apia", []one{
			{in: `"2011-12-30T12:00:00"`, err: "is skipped"},
			{in: `"2011-12-31T00:00:00"`, want: "2011-12-30T10:00:00.000Z"},
		}},
		"unix_s": {"unix_s", "", []one{
			{in: `1767225600`, want: "2026-01-01T00:00:00.000Z"},
			{in: `"1767225600"`, want: "2026-01-01T00:00:00.000Z"},
			{in: `1767225600.1239`, want: "2026-01-01T00:00:00.123Z"},
			{in: `"1767225600.000100"`, want: "2026-01-01T00:00:00.000Z"},
			{in: `1.7672256e9`, want: "2026-01-01T00:00:00.000Z"},
			{in: `0`, want: "1970-01-01T00:00:00.000Z"},
			{in: `-1`, want: "1969-12-31T23:59:59.000Z"},
			{in: `-0.5`, want: "1969-12-31T23:59:59.500Z"},
			{in: `-0.0001`, want: "1969-12-31T23:59:59.999Z"},
			{in: `253402300799`, want: "9999-12-31T23:59:59.000Z"},
			{in: `253402300800`, err: "lies outside the years"},
			{in: `1767225600000`, err: "lies outside the years"},
			{in: `9223372036854775807`, err: "lies outside the years"},
			{in: `-62135596801`, err: "lies outside the years"},
			{in: `"2026-01-05T10:15:30Z"`, err: "isn't a number"},
			{in: `" 1767225600"`, err: "isn't a number"},
			{in: `true`, err: "isn't a number"},
		}},
		"unix_ms": {"unix_ms", "", []one{
			{in: `1767225600123`, want: "2026-01-01T00:00:00.123Z"},
			{in: `"1767225600123"`, want: "2026-01-01T00:00:00.123Z"},
			{in: `1767225600123.9`, want: "2026-01-01T00:00:00.123Z"},
			{in: `-1.5`, want: "1969-12-31T23:59:59.998Z"},
		}},
		"layout": {"02.01.2006 15:04:05.000 Z07:00", "", []one{
			{in: `"05.01.2026 10:15:30.5 +05:45"`, want: "2026-01-05T04:30:30.500Z"},
			{in: `"05.01.2026 10:15:30.123456 Z"`, want: "2026-01-05T10:15:30.123Z"},
			{in: `"05.01.2026 10:15:30.000 +0545"`, want: "2026-01-05T04:30:30.000Z"},
			{in: `"05.01.2026 10:15:30 Z"`, err: layoutError},
			{in: `"5.1.2026 10:15:30.000 Z"`, err: layoutError},
			{in: `"05.01.2026 10:15:30.000 Zx"`, err: layoutError},
			{in: `"30.02.2026 10:15:30.000 Z"`, err: "isn't a possible"},
		}},
		"layout with a month's name": {"02-Jan-2006 15:04", "UTC", []one{
			{in: `"05-FEB-2026 10:15"`, want: "2026-02-05T10:15:00.000Z"},
			{in: `"05-anf-2026 10:15"`, err: layoutError},
			{in: `"05-ja"`, err: layoutError},
		}},
		"layout of a date":      {"2006-01-02", "Europe/Berlin", []one{{in: `"2026-01-05"`, want: "2026-01-04T23:00:00.000Z"}}},
		"layout without a zone": {"20060102T150405", "", []one{{in: `"20260105T101530"`, err: "has no zone"}, {in: `"2026-01-05T10:15:30Z"`, err: layoutError}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, spec{As: transform.Datetime, Format: c.format, Timezone: c.timezone}, c.cases)
		})
	}
}

func TestDate(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		format, timezone string
		cases            []one
	}{
		"as written": {"", "", []one{
			{in: `"2026-01-05"`, want: "2026-01-05"},
			{in: `"2026-01-05T23:30:00-08:00"`, want: "2026-01-05"},
			{in: `"2026-01-05T02:00:00Z"`, want: "2026-01-05"},
			{in: `"2026-01-05 02:00:00"`, want: "2026-01-05"},
			{in: `"9999-12-31T23:30:00-08:00"`, want: "9999-12-31"},
			{in: `"2026-02-30"`, err: "isn't a possible"},
			{in: `"2017-14-31"`, err: "isn't a possible"},
			{in: `"2026-01-05T25:00:00Z"`, err: "isn't a possible"},
			{in: `"05.01.2026"`, err: "isn't a date and time"},
			{in: `20260105`, err: "is a number"},
			{in: `null`},
		}},
		"in a zone": {"", "America/Los_Angeles", []one{
			{in: `"2026-01-05"`, want: "2026-01-05"},
			{in: `"2026-01-05T02:00:00Z"`, want: "2026-01-04"},
			{in: `"2026-01-05T02:00:00"`, want: "2026-01-05"},
			{in: `"2026-03-08T02:30:00"`, want: "2026-03-08"},
			{in: `"0001-01-01T00:00:00Z"`, err: "lies outside the years"},
		}},
		"epochs are UTC":    {"unix_s", "", []one{{in: `1767225600`, want: "2026-01-01"}, {in: `1767225599`, want: "2025-12-31"}, {in: `253402300800`, err: "lies outside"}}},
		"epochs in a zone":  {"unix_ms", "America/Los_Angeles", []one{{in: `1767225600000`, want: "2025-12-31"}}},
		"layout":            {"02/01/2006", "", []one{{in: `"05/01/2026"`, want: "2026-01-05"}, {in: `"31/04/2026"`, err: "isn't a possible"}}},
		"layout with zones": {"2006-01-02T15:04Z07:00", "UTC", []one{{in: `"2026-01-05T00:30+01:00"`, want: "2026-01-04"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, spec{As: transform.Date, Format: c.format, Timezone: c.timezone}, c.cases)
		})
	}
}

// What a zone's clocks show at any instant is read back as that instant, or as
// the earlier one that shows the same.
func TestWallClocksAreReadBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		name := rapid.SampledFrom([]string{"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia",
			"Asia/Kolkata", "America/St_Johns", "Africa/Casablanca", "UTC"}).Draw(rt, "zone")
		zone, err := time.LoadLocation(name)
		require.NoError(t, err)
		at := time.UnixMilli(rapid.Int64Range(0, 2_500_000_000_000).Draw(rt, "ms")).UTC()
		tr, err := transform.Compile(spec{As: transform.Datetime, Timezone: name})
		require.NoError(t, err)
		wall := at.In(zone).Format("2006-01-02T15:04:05.000")
		got, _, err := tr.Apply(wall, true, path.Scope{})
		require.NoError(t, err)
		back, err := time.Parse(time.RFC3339, got.(string))
		require.NoError(t, err)
		if back.After(at) || back.In(zone).Format("2006-01-02T15:04:05.000") != wall {
			rt.Fatalf("%s in %s gave %s", wall, name, got)
		}
	})
}

func TestInstant(t *testing.T) {
	t.Parallel()
	want := time.Date(2026, 1, 1, 0, 0, 0, 123_000_000, time.UTC)
	for format, v := range map[string]any{"unix_ms": num("1767225600123"), "unix_s": "1767225600.1234", "rfc3339": "2026-01-01T01:00:00.1239+01:00"} {
		got, err := transform.Instant(v, format)
		require.NoError(t, err)
		assert.Equal(t, want, got, format)
	}
	for format, v := range map[string]any{"unix_ms": "x", "rfc3339": "2026-01-01T01:00:00", "ansic": "x", "unix_s": nil} {
		_, err := transform.Instant(v, format)
		assert.Error(t, err, format)
	}
}
