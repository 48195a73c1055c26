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
		haveFunctions(t, p[1], p[2])
	}
	steps := regexp.MustCompile(`(?m)^ +([A-Za-z]+(?:, [A-Za-z]+)*) {2,}([a-z_/]+\.go)`).FindAllStringSubmatch(guide, -1)
	if len(steps) < 8 {
		t.Fatalf("%d steps of a Get, want 8 or more", len(steps))
	}
	for _, s := range steps {
		haveFunctions(t, s[2], s[1])
	}
}

// haveFunctions checks that the file contains the named functions.
func haveFunctions(t *testing.T, file, names string) {
	t.Helper()
	code := page(t, filepath.Join(root, file))
	for _, name := range regexp.MustCompile(`[A-Za-z]+`).FindAllString(names, -1) {
		if !strings.Contains(code, ") "+name+"(") && !strings.Contains(code, "func "+name+"(") {
			t.Errorf("%s has no function %s", file, name)
		}
	}
}
