package auth_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"

	"sfbridge/salesforce"
)

const orgID = "00D5f000001AbCd"

// A session names its org, by whichever login it was made.
func TestTheOrgOfASession(t *testing.T) {
	t.Parallel()
	named := func(id string) string {
		return strings.Replace(tokenReply, `"https://login.salesforce.com/id/00D/005"`, id, 1)
	}
	soap := strings.Replace(soapReply, "<userName>", "<organizationId>"+orgID+"EAK</organizationId><userName>", 1)
	for name, tt := range map[string]struct {
		host *host
		soap bool
		want string
	}{
		"token":            {host: always(200, named(`"https://login.salesforce.com/id/`+orgID+`EAK/0055f000002XyZaAAK"`)), want: orgID},
		"id is no address": {host: always(200, named(`"nonsense"`))},
		"id is no text":    {host: always(200, named(`7`))},
		"id of no org":     {host: always(200, named(`"https://login.salesforce.com/id/`+"00D5f000001Ab*d"+`/005"`))},
		"SOAP":             {host: always(200, soap), soap: true, want: orgID},
		"SOAP without":     {host: always(200, soapReply), soap: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := credentials(tt.host)
			if tt.soap {
				cfg = passwordConfig(tt.host)
			}
			assert.Equal(t, tt.want, session(t, newSource(t, cfg)).Org)
		})
	}
}

func TestASharedSessionNamesItsOrg(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, c := always(200, strings.Replace(tokenReply, "/00D/005", "/"+orgID+"/005", 1)), newCommons()
		first := session(t, sharing(t, h, c))
		second := session(t, sharing(t, h, c))
		assert.Equal(t, orgID, second.Org)
		assert.Equal(t, first, second)
		assert.Equal(t, 1, h.count())
	})
}

func TestShortOrgID(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		orgID: orgID, orgID + "EAK": orgID, "": "", "00D": "", orgID + "E": "", "005" + orgID[3:]: "", "00D5f00000:AbCd": "", "00D5f0000é1Abc": "",
	} {
		assert.Equal(t, want, salesforce.ShortOrgID(id), id)
	}
}
