package bench

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The functions that CONTRIBUTING.md names are in the files that it names.
func TestContributingNamesFunctions(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("../CONTRIBUTING.md")
	noError(t, err)
	places := regexp.MustCompile("`([a-z_/]+/[a-z_]+\\.go)`(?:: ((?:`[A-Za-z]+`(?:, )?)+))?").FindAllStringSubmatch(string(guide), -1)
	if len(places) < 20 {
		t.Fatalf("%d places, want 20 or more", len(places))
	}
	for _, p := range places {
		code, err := os.ReadFile(filepath.Join("..", p[1]))
		if err != nil {
			t.Error(err)
			continue
		}
		for _, name := range regexp.MustCompile(`[A-Za-z]+`).FindAllString(p[2], -1) {
			if !strings.Contains(string(code), ") "+name+"(") && !strings.Contains(string(code), "func "+name+"(") {
				t.Errorf("%s has no function %s", p[1], name)
			}
		}
	}
}
