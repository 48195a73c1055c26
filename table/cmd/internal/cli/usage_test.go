package cli

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// For a wrong flag name, the nearest flags are suggested, if there are any.
func TestNearestFlags(t *testing.T) {
	for _, tt := range []struct {
		wrong, name string
		want        bool
	}{
		{"lmit", "limit", true}, {"limits", "limit", true}, {"fro", "from", true}, {"form", "from", false},
		{"compresion", "compression", true}, {"comp", "compression", true}, {"compress-ion", "compression", true},
		{"x", "xyz", false}, {"to", "no", false}, {"", "to", false}, {"from", "format", false}, {strings.Repeat("x", 1000), "from", false},
	} {
		var flags pflag.FlagSet
		flags.Bool(tt.name, false, "")
		if got := nearestFlags(&flags, tt.wrong); (len(got) > 0) != tt.want {
			t.Errorf("nearestFlags(%q, %.20q) = %q", tt.name, tt.wrong, got)
		}
	}
}
