package bench

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The functions that CONTRIBUTING.md names are in the files that it names.
func TestContributingNamesFunctions(t *testing.T) {
	t.Parallel()
	guide := page(t, filepath.Join(root, "CONTRIBUTING.md"))
	places := regexp.MustCompile("`([a-z_/]+/[a-z_]+\\.go)`(?:: ((?:`[A-Za-z]+`(?:, )?)+))?").FindAllStringSubmatch(guide, -1)
	if len(places) < 20 {
		t.Fatalf("%d places, want 20 or more", len(places))
	}
	for _, p := range places {
		code := page(t, filepath.Join(root, p[1]))
		for _, name := range regexp.MustCompile(`[A-Za-z]+`).FindAllString(p[2], -1) {
			if !strings.Contains(code, ") "+name+"(") && !strings.Contains(code, "func "+name+"(") {
				t.Errorf("%s has no function %s", p[1], name)
			}
		}
	}
}
