package command

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/rawtable"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/filetest"
	"github.com/sievetable/sievetable/table/set"
)

// forged is a line that a hostile name tries to add to the output.
const forged = "users.ldb: ok"

// hostile contains invalid UTF-8, and characters that move a terminal's cursor, color, clear or hide text, or reverse
// its direction. It appears in file names, in names inside files, in keys and values, and as arguments.
const hostile = "x\x1b[31m\x1b]0;y\a\b\v\r\n" + forged + "\n\u0085\u009b2J\u202e\u2066\u2028\u200b\ufeff\U000e0001\x7f\xff\xc0y"

// Commands print hostile names to a terminal as plain text only, and none of them can begin a line.
func TestHostileNames(t *testing.T) {
	t.Chdir(t.TempDir())
	paths := writeHostile(t)
	all := commands(program.Command(nil))
	for name := range usages {
		if !slices.ContainsFunc(all, func(c *cobra.Command) bool { return c.CommandPath() == "sst "+name }) {
			t.Errorf("there is no command sst %s", name)
		}
	}
	for _, c := range all {
		name := strings.TrimPrefix(c.CommandPath(), "sst ")
		usage, ok := usages[name]
		if !ok {
			t.Errorf("sst %s is not tried: add it to usages", name)
			continue
		}
		t.Run(name, func(t *testing.T) {
			for _, line := range commandLines(c, usage, paths) {
				checkPrinted(t, append(strings.Fields(name), line...))
			}
		})
	}
	for _, args := range [][]string{{hostile}, {"--" + hostile}, {"-" + hostile}, {"__complete", hostile, hostile}, {"__complete", "get", "--" + hostile, ""}} {
		checkPrinted(t, args)
	}
}

// commands returns all runnable commands below one.
func commands(above *cobra.Command) (all []*cobra.Command) {
	for _, c := range above.Commands() {
		if all = append(all, commands(c)...); c.Runnable() {
			all = append(all, c)
		}
	}
	return all
}

// usages are arguments for each command. PATH stands for each of the hostile files in turn, or for every third one
// unless long tests are enabled. Formats that print bytes unescaped are left out.
var usages = map[string][]string{
	"build":    {"-o out.ldb PATH", "-o out.ldb -f json PATH", "-o out.ldb -f keys --internal-keys=yes PATH", "-o HOSTILE/out", "-o out/ PATH", "-o HOSTILE/ --entries-per-table 1 PATH", "--manifest-line - -o HOSTILEout.ldb PATH", "--manifest-line PATH -o out.ldb PATH", "--database -o out.db PATH", "--database -o HOSTILE/out PATH"},
	"convert":  {"PATH -o out.ldb", "PATH -o PATH/out"},
	"diff":     {"PATH PATH", "-f json PATH HOSTILEraw.ldb", "-f hex HOSTILEraw.ldb PATH", "-s PATH HOSTILEwritten.ldb"},
	"get":      {"PATH HOSTILE", "-f json PATH HOSTILE a", "-f hex PATH HOSTILE", "--explain PATH HOSTILE a", `PATH \qHOSTILE`, "--keys-from PATH PATH", "--input-format hex PATH HOSTILE 61"},
	"layout":   {"PATH", "--json PATH", "--internal-keys yes PATH", "HOSTILEdb/MANIFEST-1", "HOSTILEdb/7.log", "--json HOSTILEdb/MANIFEST-1"},
	"manifest": {"PATH", "PATH HOSTILEwritten.ldb", "PATH -o PATH", "-o HOSTILE/out PATH"},
	"merge":    {"PATH -o out.ldb", "PATH PATH -o out/", "PATH HOSTILEwritten.ldb --database -o merged", "PATH --database -o HOSTILEnew", "HOSTILEonly.filter PATH -o out.filter", "HOSTILEwritten.ldb PATH -o HOSTILE/out", "--on-duplicate error PATH PATH -o HOSTILEout2.ldb", "PATH -o PATH/out"},
	"report":   {"PATH -o out.html", "PATH -o -", "PATH -o HOSTILE/out"},
	"repair":   {"PATH -o new", "--certain PATH -o HOSTILEnew2", "PATH -o HOSTILE/new", "PATH -o PATH/new", "PATH -o HOSTILEout.ldb", "PATH -o PATH"},
	"scan":     {"PATH", "-f json PATH", "-f hex -r PATH", "--versions -f json PATH", "--internal-keys yes PATH"},
	"sweep":    {"PATH", "--json PATH", "--delete --age 0s PATH"},
	"stats":    {"PATH", "--json PATH", "--all-tables PATH", "--try PATH", "--try --json PATH"},
	"verify":   {"PATH", "-q PATH", "--json PATH", "--all-tables PATH missingHOSTILE"},
	"version":  {"", "HOSTILE"},

	"damage": {""}, "exit-status": {""}, "filters": {""}, "formats": {""}, "sets": {""}, "sources": {""}, "tables": {""},

	"help":       {"HOSTILE", "get HOSTILE"},
	"completion": {"bash", "fish", "powershell", "zsh", "HOSTILE"},
}

// commandLines returns the usages with each of the paths, and each of the command's flags
// with a hostile value.
func commandLines(c *cobra.Command, usages, paths []string) (lines [][]string) {
	for u, usage := range usages {
		for i, path := range paths {
			if !strings.Contains(usage, "PATH") {
				if i > 0 {
					break
				}
			} else if (u+i)%3 > 0 && !long.Enabled() {
				continue
			}
			line := strings.Fields(usage)
			for i, arg := range line {
				line[i] = strings.NewReplacer("PATH", path, "HOSTILE", hostile).Replace(arg)
			}
			lines = append(lines, line)
		}
	}
	first := lines[0]
	c.Flags().VisitAll(func(f *pflag.Flag) {
		lines = append(lines, append(slices.Clone(first), "--"+f.Name+"="+hostile))
	})
	return append(lines, []string{"--" + hostile}, []string{"-" + hostile}, []string{hostile, hostile, hostile})
}

// checkPrinted checks what a command prints.
func checkPrinted(t *testing.T, args []string) {
	t.Helper()
	stderr, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	noError(t, err)
	defer stderr.Close()
	defer func(real *os.File) { os.Stderr = real }(os.Stderr)
	os.Stderr = stderr // where cobra prints some things, whatever writers it has
	_, printed, said := sst(args...)
	direct := readFile(t, stderr.Name())
	for line := range strings.Lines(printed + said + string(direct)) {
		if strings.HasPrefix(line, forged) {
			t.Errorf("sst %q prints a line that a name made: %q", args, line)
		}
		for at, r := range line {
			if broken := r == utf8.RuneError && !strings.HasPrefix(line[at:], "\ufffd"); broken || !strconv.IsPrint(r) && r != '\n' && r != '\t' {
				t.Errorf("sst %q prints %q", args, line[max(0, at-20):min(len(line), at+20)])
				break
			}
		}
	}
}

// writeHostile fills the current directory with sound, damaged and foreign tables, input, and databases. All have
// hostile names, which it returns.
func writeHostile(t *testing.T) (paths []string) {
	t.Helper()
	sound := hostileTable()
	damaged := slices.Clone(sound)
	damaged[3] ^= 1
	foreign := append(slices.Clone(sound[:len(sound)-8]), "\xf7\xcf\xf4\x85\xb7\x41\xe2\x88"...)
	for name, contents := range map[string]string{
		"raw.ldb": string(sound), "damaged.ldb": string(damaged), "cut.ldb": string(sound[:len(sound)-9]), "foreign.sst": string(foreign), "empty.ldb": "",
		"right.tsv": "a\tb\n", "wrong.tsv": `\q` + hostile, "keys.tsv": strings.ReplaceAll(hostile, "\n", "") + "\tx\n", "wrong.json": `{"` + hostile + `": 1}`,
		"db/CURRENT": "MANIFEST-1\n", "db/MANIFEST-1": manifest(t, 5), "db/5.ldb": string(sound), "db/6" + hostile + ".ldb": "", "db/7.log": "7",
		"damaged/CURRENT": "MANIFEST-1\n", "damaged/MANIFEST-1": manifest(t, 5, 7), "damaged/5.ldb": string(sound), "damaged/7.ldb": string(damaged),
		"lacking/CURRENT": "MANIFEST-1\n", "lacking/MANIFEST-1": manifest(t, 5),
		"set/set.jsonl": hostileSet(t, len(sound)), "set/5.ldb": string(sound), "cutset/set.jsonl": hostileSet(t, 100)[:400], "forged.json": `{"name":"` + hostile + `"}`,
		"lost/CURRENT": hostile, "lost/" + hostile + ".ldb": string(sound), "lost/1.sst": string(foreign),
	} {
		path := hostile + name
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(contents), 0o666)); err != nil {
			t.Skip("this system has no such names: ", err)
		}
	}
	writeHostileTable(t, hostile+"written.ldb")
	paths, err := filepath.Glob("*")
	noError(t, err)
	return append(paths, hostile+"missing")
}

// hostileTable returns a table in which keys, values, parts, policies and properties have
// hostile names.
func hostileTable() []byte {
	var f rawtable.File
	index := rawtable.Entries(hostile, f.Block(rawtable.Entries(hostile, hostile)))
	properties := f.Block(rawtable.Entries("rocksdb.comparator", hostile, "rocksdb.compression", hostile, "rocksdb.filter.policy", hostile, hostile, hostile))
	metaindex := f.Block(rawtable.Entries("filter."+hostile, properties, "fullfilter."+hostile, properties, "rocksdb.properties", properties, hostile, properties))
	return f.Footer(metaindex, f.Block(index))
}

// named is a comparer with a hostile name.
type named struct{ table.Comparer }

func (named) Name() string { return hostile }

// writeHostileTable writes a table of several blocks that has filters.
func writeHostileTable(t *testing.T, path string) {
	t.Helper()
	o := table.WriterOptions{
		BlockSize: 1, Comparer: named{table.BytewiseComparer}, Properties: true,
		FilterPolicy: filter.NewBloom(10), TableFilterPolicy: filter.NewTableBloom(10),
	}
	keys := []string{"a", hostile, "y" + hostile}
	writeEntries(t, path, o, len(keys), func(i int) string { return keys[i] }, func(int) string { return hostile })
}

// manifest returns a database's MANIFEST that has a hostile comparer and lists the tables.
func manifest(t *testing.T, tables ...byte) string {
	t.Helper()
	edit := append(binary.AppendUvarint([]byte{1}, uint64(len(hostile))), hostile...)
	for _, number := range tables {
		edit = append(edit, 7, 0, number, 1, 0, 0) // level, number, size, and the first and the last key
	}
	return string(filetest.Log(t, string(edit)))
}

// hostileSet returns the manifest of a set with hostile keys: one table has that size, and one is missing.
func hostileSet(t *testing.T, size int) string {
	t.Helper()
	var b strings.Builder
	zeros := strings.Repeat("0", 64)
	line := set.Table{SHA256: zeros, TailSum: zeros, Size: int64(size), TailSize: 48, Entries: 1}
	there, missing := line, line
	there.Name, there.Smallest, there.Largest = "5.ldb", []byte(hostile), []byte(hostile)
	missing.Name, missing.Smallest, missing.Largest = "6.ldb", []byte("y"+hostile), []byte("z"+hostile)
	noError(t, set.WriteManifest(&b, &set.Manifest{Tables: []set.Table{there, missing}}))
	return b.String()
}

// Commands print only through package text, which escapes names.
func TestCommandsPrintThroughText(t *testing.T) {
	files, err := filepath.Glob("*.go")
	noError(t, err)
	for _, name := range files {
		contents := readFile(t, name)
		if found := regexp.MustCompile(`(fmt|cmd)\.(Fp|P)rint\w*`).Find(contents); found != nil && !strings.HasSuffix(name, "_test.go") {
			t.Errorf("%s: %s prints what is not escaped: use text.Line or text.Row", name, found)
		}
	}
}
