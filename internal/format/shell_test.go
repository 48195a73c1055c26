package format_test

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/internal/format"
)

func TestShellWord(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"a.ldb":            "a.ldb",
		"":                 "''",
		"it's $HOME":       `'it'\''s $HOME'`,
		"日本.ldb":           "'日本.ldb'",
		"a\n'\\\u202e\xff": `$'a\012\047\134\342\200\256\377'`,
		"\x001":            `$'\0001'`,
	} {
		if got := format.ShellWord(in); got != want {
			t.Errorf("ShellWord(%q) = %s, want %s", in, got, want)
		}
	}
	for in, want := range map[string]string{"-x y.ldb": "'./-x y.ldb'", filepath.Join("a", "b.ldb"): "a/b.ldb"} {
		if runtime.GOOS == "windows" {
			want = strings.ReplaceAll(want, "'", `"`)
		}
		if got := format.ShellPath(in); got != want {
			t.Errorf("ShellPath(%q) = %s, want %s", in, got, want)
		}
	}
}

// A shell reads a word as the original string.
func TestShellsTakeWords(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip(err)
	}
	var s strings.Builder
	for c := 1; c < 256; c++ {
		s.WriteByte(byte(c))
	}
	for _, s := range []string{s.String(), "it's", "a b", "\\n", "~", "*", "!x", "-n"} {
		if out, err := exec.Command(bash, "-c", "printf %s "+format.ShellWord(s)).Output(); err != nil || string(out) != s {
			t.Errorf("bash takes %s for %q, %v", format.ShellWord(s), out, err)
		}
	}
}
