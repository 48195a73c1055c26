package report

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/page/pagetest"
	"github.com/sievetable/sievetable/table/cmd/internal/printable"
)

// When a shell parses the command that the page shows for a key, the last word is the key, and there are no
// unintended options.
func TestPageCommand(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip(err)
	}
	above := []workload.Pair{{Key: bytes.Repeat([]byte{0xff}, 100)}} // its block covers all keys below, and the page lacks its entries
	page := openPage(t, table.WriterOptions{}, above, Options{Source: "./-x.ldb"}, 1000)
	keys := []string{"plain", "", " ", "-k", "--", "--help", "it's", "a b", `a"b`, "$HOME", "$(id)", "`id`", "a;b", "a\nb", "\x00\xff", `a\b`, "*", "~", "#", "!!", "{a,b}", "é\u202e", "-it's $HOME"}
	for _, p := range bytePairs(100) {
		keys = append(keys, string(p.Key))
	}
	commands := pagetest.Call[[]string](page, `(texts) => texts.map((text) => {
		document.getElementById("key").value = text;
		document.getElementById("ask").requestSubmit();
		return document.querySelector("#answer code").textContent;
	})`, escapedAll(keys))
	for i, key := range keys {
		want := []string{"get", "./-x.ldb", printable.Escape([]byte(key))}
		if strings.HasPrefix(key, "-") {
			want = []string{"get", "./-x.ldb", "--", printable.Escape([]byte(key))}
		}
		if diff := cmp.Diff(want, shellWords(t, commands[i])); diff != "" {
			t.Errorf("key %q, command %s (-want +got):\n%s", key, commands[i], diff)
		}
	}
}

// shellWords returns the arguments of an sst command, as a shell parses it.
func shellWords(t *testing.T, command string) []string {
	t.Helper()
	got, err := exec.Command("sh", "-c", `sst() { printf '%s\n' "$@"; }`+"\n"+command).Output()
	if err != nil {
		t.Fatalf("%.200s: %v", command, err)
	}
	return strings.Split(strings.TrimSuffix(string(got), "\n"), "\n")
}

func escapedAll(keys []string) []string {
	all := make([]string, len(keys))
	for i, key := range keys {
		all[i] = printable.Escape([]byte(key))
	}
	return all
}
