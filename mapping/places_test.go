package mapping

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Nothing depends on where a machine stands: all cases give the same in
// processes of other zones and locales. Go orders its maps anew in each run, so
// that a result which hung on their order would differ too.
func TestConformance_is_the_same_everywhere(t *testing.T) {
	t.Parallel()
	if os.Getenv("TZ_OF_THE_CASES") != "" {
		t.Skip("this is the other process")
	}
	program, err := os.Executable()
	require.NoError(t, err)
	for zone, locale := range map[string]string{
		"Pacific/Kiritimati": "tr_TR.UTF-8", "America/Los_Angeles": "de_DE.ISO-8859-1", "Asia/Kathmandu": "ar_EG.UTF-8",
	} {
		t.Run(zone, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), program, "-test.run=^(TestConformance|TestExamples|TestCanonical)", "-test.count=1")
			cmd.Env = append(os.Environ(), "TZ="+zone, "LC_ALL="+locale, "LANG="+locale, "TZ_OF_THE_CASES="+zone)
			out, err := cmd.CombinedOutput()
			assert.NoError(t, err, string(out))
		})
	}
}
