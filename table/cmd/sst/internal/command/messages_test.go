package command

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/rawtable"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/scripttest"
)

// longKey is longer than the part of a key that a message shows.
var longKey = strings.Repeat("k", 1<<17)

// writeLongKeys writes files with long user keys: input, tables that are sound, truncated and out of order, and a
// directory of tables.
func writeLongKeys(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	writeFile(t, "in.tsv", longKey+"1\tv\n"+longKey+"2\tv\n")
	writeFile(t, "wrong.tsv", longKey+"\\q\n")
	mustSST(t, "build", "-o", "t.ldb", "--block-size", "1", "in.tsv")
	contents := readFile(t, "t.ldb")
	writeFile(t, "cut.ldb", contents[:len(contents)-1])
	writeFile(t, "dir/1.ldb", contents)
	var f rawtable.File
	data := f.Block(rawtable.Entries(longKey+"2", "", longKey+"1", ""))
	metaindex := f.Block(rawtable.Entries())
	writeFile(t, "order.ldb", f.Footer(metaindex, f.Block(rawtable.Entries(longKey+"3", data))))
}

// A message shows at most 64 bytes of a key, wherever the key comes from.
func TestMessagesShortenKeys(t *testing.T) {
	writeLongKeys(t)
	for _, args := range [][]string{
		{"repair", "cut.ldb", "-o", "out.ldb"}, {"repair", "order.ldb", "-o", "out.ldb"},
		{"get", "--explain", "t.ldb", longKey}, {"get", "--explain", "dir", longKey + "1"}, {"get", "order.ldb", longKey + "1"},
		{"get", "t.ldb", longKey + `\q`}, {"get", "--input-format", "hex", "t.ldb", longKey}, {"get", "--keys-from", "wrong.tsv", "t.ldb"},
		{"get", "--internal-keys", "yes", "t.ldb", "k"},
		{"scan", "--from", longKey + `\q`, "t.ldb"}, {"scan", "order.ldb", "--keys", "--limit", "1", "--from", "l"},
		{"build", "-o", "out.ldb", "in.tsv", "in.tsv"}, {"build", "-o", "out.ldb", "wrong.tsv"},
		{"verify", "cut.ldb", "order.ldb"}, {"stats", "cut.ldb", "order.ldb"},
		{"layout", "t.ldb"}, {"layout", "cut.ldb"}, {"layout", "order.ldb"}, {"layout", "--internal-keys", "yes", "cut.ldb"},
	} {
		_, stdout, stderr := sst(args...)
		for line := range strings.Lines(stdout + stderr) {
			if n := strings.Count(line, "k"); strings.Contains(line, longKey[:65]) {
				t.Errorf("sst %.200q prints a line with a key of %d bytes", args, n)
			}
		}
		if stdout+stderr == "" && args[0] != "scan" {
			t.Errorf("sst %.200q prints nothing", args)
		}
	}
}

// Messages also shorten paths that are longer than any file's, whichever command, argument or flag they are given to.
func TestMessagesShortenNames(t *testing.T) {
	long.NoRace(t)
	writeUsable(t)
	for _, c := range commands(program.Command(nil)) {
		name := strings.TrimPrefix(c.CommandPath(), "sst ")
		var lines [][]string
		for _, usage := range usages[name] {
			if long := strings.NewReplacer("PATH", longKey, "HOSTILE", longKey).Replace(usage); long != usage {
				lines = append(lines, strings.Fields(long))
			}
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if scripttest.IsName(f) {
				lines = append(lines, append(strings.Fields(callable[c.Name()]), "--"+f.Name+"="+longKey))
			}
		})
		for _, line := range lines {
			args := append(strings.Fields(name), line...)
			status, stdout, stderr := sst(args...)
			if status != cli.ExitUsage {
				t.Errorf("sst %.200q: status %d, want %d", args, status, cli.ExitUsage)
			}
			for printed := range strings.Lines(stdout + stderr) {
				if n := strings.Count(printed, "k"); n > 1000 {
					t.Errorf("sst %.200q prints a line with a name of %d bytes", args, n)
				}
			}
		}
	}
}
