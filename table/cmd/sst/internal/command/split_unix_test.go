//go:build unix

package command

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table/cmd/internal/scripttest"
	"github.com/sievetable/sievetable/table/set"
)

// splitScript cuts sorted lines into tables of 1000 keys.
const splitScript = `split -d -a 4 -l 1000 --filter='sst build --sorted --input-format raw-keys --manifest-line $FILE.json -o $FILE.ldb' - part-`

// inSplitShell returns a command that runs the script in a new directory with urls.txt. Without sort and split, it
// skips the test.
func inSplitShell(t *testing.T, script string, input []byte) *exec.Cmd {
	t.Helper()
	for _, program := range []string{"sh", "sort", "split"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	if exec.Command("split", "--filter=cat", os.DevNull).Run() != nil {
		t.Skip("this split has no --filter")
	}
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), "PATH="+sstInPath(t)+":"+os.Getenv("PATH"))
	writeFile(t, filepath.Join(cmd.Dir, "urls.txt"), input)
	return cmd
}

// sort and split cut URLs, unsorted and with repetitions, into tables of a set. The tables have the lines that sort
// -u prints.
func TestSortAndSplit(t *testing.T) {
	want := writeURLs(t)
	cmd := inSplitShell(t, `LC_ALL=C sort -u urls.txt | `+splitScript+` &&
		sst manifest --tables 6 --entries 5500 part-*.json -o set.jsonl && sst manifest part-*.ldb -o again.jsonl`, want.input)
	dir := cmd.Dir
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Fatalf("%v\n%s", err, out)
	}
	manifest := readFile(t, filepath.Join(dir, set.ManifestName))
	if diff := cmp.Diff(string(manifest), string(readFile(t, filepath.Join(dir, "again.jsonl")))); diff != "" {
		t.Errorf("(-of summaries +of tables):\n%s", diff)
	}
	checkSet(t, dir, manifest, want.sorted, 6)
}

// A sort that ends early, and a lost part, are errors.
func TestSortAndSplitLosesNothing(t *testing.T) {
	want := writeURLs(t)
	for name, test := range map[string]struct{ script, says string }{
		"killed sort":            {`LC_ALL=C sort -u urls.txt | head -c 100001 | ` + splitScript, "the last line has no newline"},
		"killed between lines":   {`LC_ALL=C sort -u urls.txt | head -n 2500 | ` + splitScript + ` && sst manifest --entries 5500 part-*.json`, "--entries is 5500, but the tables have 2500 entries"},
		"a part that is missing": {`LC_ALL=C sort -u urls.txt | ` + splitScript + ` && rm part-0003.json && sst manifest part-*.json`, "tables part-… are numbered 0 to 5, with 3 missing"},
	} {
		out, err := inSplitShell(t, test.script, want.input).CombinedOutput()
		if err == nil || !strings.Contains(string(out), test.says) {
			t.Errorf("%s: %v, want %q:\n%s", name, err, test.says, out)
		}
	}
}

// urls are lines in random order, some of them twice, and the output of sort -u for them.
type urls struct{ input, sorted []byte }

func writeURLs(t *testing.T) urls {
	t.Helper()
	keys := workload.W3(5500).Keys
	keys[17] = []byte(`http://example.com/C:\new\x2f` + "\t\xff")
	lines := slices.Concat(keys[3000:], keys[:4000])
	slices.SortFunc(keys, bytes.Compare)
	join := func(lines [][]byte) []byte { return append(bytes.Join(lines, []byte("\n")), '\n') }
	return urls{join(lines), join(keys)}
}

// sstInPath returns a directory that has the test binary as sst.
func sstInPath(t *testing.T) string {
	t.Helper()
	return filepath.Dir(scripttest.Link(t, "sst"))
}

// checkSet checks that a manifest lists that many tables, and that their keys, in this order, are the sorted lines.
func checkSet(t *testing.T, dir string, manifest, want []byte, tables int) {
	t.Helper()
	m, err := set.ReadManifest(bytes.NewReader(manifest))
	noError(t, err)
	var hex strings.Builder
	for _, table := range m.Tables {
		hex.WriteString(mustSST(t, "scan", "--keys", "--format", "hex", filepath.Join(dir, table.Name)))
	}
	if len(m.Tables) != tables || hex.String() != hexLines(want) {
		t.Errorf("%d tables with other keys than the input, want %d tables", len(m.Tables), tables)
	}
}

// hexLines returns the lines in hexadecimal.
func hexLines(lines []byte) string {
	var all strings.Builder
	for line := range bytes.Lines(lines) {
		fmt.Fprintf(&all, "%x\n", bytes.TrimSuffix(line, []byte("\n")))
	}
	return all.String()
}

// If a signal ends a build of a set, no table of it is left, even if some were complete.
func TestSignalEndsSet(t *testing.T) {
	p := command(t)
	p.Args = append(p.Args, "build", "--sorted", "--entries-per-table", "100", "-o", p.path("set"), "--input-format", "keys")
	in, err := p.StdinPipe()
	noError(t, err)
	noError(t, p.Start())
	ended, end := context.WithCancel(t.Context())
	go func() {
		defer end()
		for i, err := 0, error(nil); err == nil; i++ {
			if _, err = fmt.Fprintf(in, "%09d\n", i); i > 10_000 {
				time.Sleep(time.Millisecond)
			}
		}
	}()
	for tables := 0; tables < 3; time.Sleep(time.Millisecond) {
		files, err := filepath.Glob(p.path("set/*.tmp/*.ldb"))
		noError(t, err)
		if tables = len(files); ended.Err() != nil {
			t.Fatalf("%v, %s", p.Wait(), &p.stderr)
		}
	}
	noError(t, p.Process.Signal(syscall.SIGTERM))
	p.checkEnd(t, 128+int(syscall.SIGTERM), "sst: interrupted\n")
}
