package apexcheck_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/test/harness"
)

const (
	open  = `<?xml version="1.0" encoding="UTF-8"?>` + "\n"
	space = ` xmlns="http://soap.sforce.com/2006/04/metadata"`
	good  = open + `<CustomField` + space + `><fullName>A__c</fullName><label>A</label><length>80</length><required>false</required><type>Text</type></CustomField>`
)

func check(t *testing.T, paths ...string) (string, error) {
	t.Helper()
	node := harness.NeedNode(t, "apexcheck")
	out, err := node.Run(t, harness.Command{Args: append([]string{"node", "check.mjs"}, paths...)})
	return string(out), err
}

func TestTheProductAndItsSamplesAreMetadata(t *testing.T) {
	t.Parallel()
	out, err := check(t, filepath.Join(harness.Root(t), "apex"))
	require.NoError(t, err, out)
	assert.Empty(t, out)
}

func TestEveryKindOfMistakeIsFound(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ text, says string }{
		"no mistake":           {good, ""},
		"not XML":              {good[:len(good)-4], "no well-formed XML"},
		"another namespace":    {strings.Replace(good, "2006/04/metadata", "2006/04/meta", 1), "CustomField: has the namespace"},
		"no namespace":         {strings.Replace(good, space, "", 1), "CustomField: has the namespace none"},
		"unknown type":         {strings.ReplaceAll(good, "CustomField", "CustomFeld"), "CustomFeld: is no type"},
		"unknown element":      {strings.ReplaceAll(good, "label>", "titel>"), "CustomField.titel: is unknown"},
		"unknown word":         {strings.Replace(good, ">Text<", ">text<", 1), `CustomField.type: "text" is not one of`},
		"no boolean":           {strings.Replace(good, ">false<", ">no<", 1), `CustomField.required: "no" is no boolean`},
		"no number":            {strings.Replace(good, ">80<", ">eighty<", 1), `CustomField.length: "eighty" is no number`},
		"twice":                {strings.Replace(good, "<label>", "<label>B</label><label>", 1), "CustomField.label: stands twice"},
		"text between":         {strings.Replace(good, "<label>", "and <label>", 1), "CustomField: holds text between"},
		"elements in a scalar": {strings.Replace(good, ">80<", "><n>80</n><", 1), "CustomField.length: holds elements"},
		"missing": {
			open + `<ValidationRule` + space + `><fullName>R</fullName><active>true</active><errorMessage>no</errorMessage></ValidationRule>`,
			"ValidationRule.errorConditionFormula: is missing",
		},
		"missing inside": {
			open + `<PermissionSet` + space + `><label>P</label><fieldPermissions><field>A__c.B__c</field></fieldPermissions></PermissionSet>`,
			"PermissionSet.fieldPermissions.editable: is missing",
		},
		"not together": {
			open + `<PermissionSet` + space + `><tabSettings><tab>A__c</tab><visibility>Visible</visibility></tabSettings><label>P</label>` +
				`<tabSettings><tab>B__c</tab><visibility>Visible</visibility></tabSettings></PermissionSet>`,
			"PermissionSet.tabSettings: does not stand together",
		},
	}
	dir := t.TempDir()
	file := func(name string) string {
		return filepath.Join(dir, strings.ReplaceAll(name, " ", "_")+".field-meta.xml")
	}
	for name, c := range cases {
		require.NoError(t, os.WriteFile(file(name), []byte(c.text), 0o600))
	}
	out, err := check(t, dir)
	require.Error(t, err)
	found := map[string][]string{}
	for line := range strings.Lines(out) {
		where, what, _ := strings.Cut(line, ": ")
		found[where] = append(found[where], what)
	}
	for name, c := range cases {
		if c.says == "" {
			assert.Empty(t, found[file(name)], name)
			continue
		}
		if assert.Len(t, found[file(name)], 1, "%s: one mistake, one line", name) {
			assert.Contains(t, found[file(name)][0], c.says, name)
		}
	}
}

func TestNothingToCheckIsAMistake(t *testing.T) {
	t.Parallel()
	_, err := check(t, t.TempDir())
	assert.Error(t, err)
}
