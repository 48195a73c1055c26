package command

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// What shells list beside a name is short text: whole words, no backticks, and no more than a line
// of 80 columns holds.
func TestDescriptionsOfCompletions(t *testing.T) {
	described := 0
	for _, line := range [][]string{{""}, {"build", "--"}, {"convert", "--"}, {"filter", "--"}, {"get", "--"}, {"report", "--"}, {"scan", "--"}, {"stats", "--"}} {
		_, out, _ := sst(append([]string{"__complete"}, line...)...)
		for offer := range strings.Lines(out) {
			name, about, ok := strings.Cut(strings.TrimSuffix(offer, "\n"), "\t")
			if !ok {
				continue
			}
			described++
			columns := len("--entries-per-table  ()") + utf8.RuneCountInString(about)
			if !strings.HasPrefix(name, "--") {
				columns = len("completion  ()") + utf8.RuneCountInString(about)
			}
			if columns > 80 || about == "" || strings.ContainsAny(about, "`") || strings.HasSuffix(about, " ") {
				t.Errorf("%s: %d columns: %q", name, columns, about)
			}
		}
	}
	if described < 80 {
		t.Errorf("%d descriptions", described)
	}
}
