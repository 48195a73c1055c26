package command

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/scripttest"
	"github.com/sievetable/sievetable/table/codecs"
)

// A littleMemory runs sst in an address space that ulimit -v limits.
type littleMemory struct {
	sst     string // path
	inputs  string // directory
	outputs string // directory
	temp    string // directory of temporary files
}

func newLittleMemory(t *testing.T) littleMemory {
	t.Helper()
	if long.Race || testing.Short() {
		t.Skip("the race detector takes the address space, and an emulator has another one")
	}
	m := littleMemory{scripttest.Link(t, "sst"), t.TempDir(), t.TempDir(), t.TempDir()}
	m.prepare(t)
	return m
}

// prepare writes the inputs.
func (m *littleMemory) prepare(t *testing.T) {
	t.Helper()
	var pairs strings.Builder
	for i := range 30_000 {
		fmt.Fprintf(&pairs, "%08d\tvalue %d\n", uint32(i)*2654435761%100_000_000, i)
	}
	writeFile(t, m.in("pairs"), pairs.String())
	mustSST(t, "build", m.in("pairs"), "-o", m.in("t.ldb"), "--table-filter", "fuse")
	mustSST(t, "build", m.in("pairs"), "-o", m.in("set/"), "--entries-per-table", "5000", "--table-filter", "table-bloom")
	mustSST(t, "build", m.in("pairs"), "-o", m.in("db"), "--database")
	contents := readFile(t, m.in("t.ldb"))
	writeFile(t, m.in("cut.ldb"), contents[:len(contents)-1])
}

// prepareZeros writes a table with one value of 250 MB, which the codec compresses well, and a set with that table.
func (m *littleMemory) prepareZeros(t *testing.T, name string, c table.Codec) {
	t.Helper()
	noError(t, os.Mkdir(m.in(name+".set"), 0o777))
	path := m.in(name + ".set/zeros.ldb")
	w, err := table.Create(path, &table.WriterOptions{Compression: c})
	noError(t, err)
	noError(t, errors.Join(w.Append([]byte("key"), make([]byte, 250e6)), w.Close(), os.Link(path, m.in(name+".ldb"))))
	mustSST(t, "manifest", path, "-o", m.in(name+".set/set.jsonl"))
}

func (m *littleMemory) in(name string) string { return filepath.Join(m.inputs, name) }

// run runs sst in an address space of kib KiB. In args, < stands for the directory of inputs, and > for the directory
// of outputs.
func (m *littleMemory) run(t *testing.T, kib int, args string) (status int, stderr string) {
	t.Helper()
	args = strings.NewReplacer("<", `"$IN"/`, ">", `"$OUT"/`).Replace(args)
	var b strings.Builder
	cmd := exec.Command("sh", "-c", fmt.Sprintf(`ulimit -v %d && exec "$SST" %s`, kib, args))
	cmd.Env, cmd.Stderr = append(os.Environ(), "SST="+m.sst, "IN="+m.inputs, "OUT="+m.outputs, "TMPDIR="+m.temp), &b
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), b.String()
}

// crashed reports whether a message comes from Go's runtime or the C library.
func crashed(stderr string) bool {
	return strings.Contains(stderr, "goroutine") || strings.Contains(stderr, "fatal error") || strings.Contains(stderr, "runtime") || strings.Contains(stderr, "SIG")
}

// starts reports whether Go's runtime can start in that address space. Otherwise the process ends before sst begins.
func (m *littleMemory) starts(t *testing.T, kib int) bool {
	t.Helper()
	for range 3 {
		if _, stderr := m.run(t, kib, "version"); crashed(stderr) {
			return false
		}
	}
	return true
}

// check runs sst without outputs of earlier runs, and checks that it ends with a message of its own, and leaves no
// temporary files.
func (m *littleMemory) check(t *testing.T, kib int, args string) (status int, stderr string) {
	t.Helper()
	noError(t, errors.Join(os.RemoveAll(m.outputs), os.Mkdir(m.outputs, 0o777)))
	status, stderr = m.run(t, kib, args)
	crash := crashed(stderr)
	for less := 16 << 10; crash && less <= 128<<10; less += 16 << 10 {
		if !m.starts(t, kib-less) {
			return status, stderr // the runtime starts by chance only: it needs one or two pieces of 64 MiB
		}
	}
	isRefused := strings.Contains(stderr, "--force") // so memory was not needed
	ok := status == cli.ExitOK || status == cli.ExitMemory ||
		status == cli.ExitUsage && strings.Count(stderr, "\n") == 1 && !isRefused ||
		strings.Contains(args, "cut.ldb") && status == cli.ExitDamaged
	if !ok || crash || status == cli.ExitMemory && strings.Count(stderr, "\n") != 1+strings.Count(stderr, "sst: note: ") {
		t.Errorf("ulimit -v %d, sst %s: status %d, %.400s", kib, args, status, stderr)
	}
	for _, dir := range []string{m.temp, m.outputs} {
		left, errLeft := filepath.Glob(filepath.Join(dir, "*.tmp"))
		inside, err := filepath.Glob(filepath.Join(dir, "*", "*.tmp"))
		if left = append(left, inside...); errLeft != nil || err != nil || len(left) > 0 {
			t.Errorf("ulimit -v %d, sst %s: %q are left", kib, args, left)
		}
	}
	return status, stderr
}

// A command that needs more memory than the limit says so, and suggests what to do. Other commands succeed.
func TestMemoryIsAskedFor(t *testing.T) {
	m := newLittleMemory(t)
	m.prepareZeros(t, "snappy", table.Snappy)
	m.prepareZeros(t, "zstd", codecs.Zstd)
	const zeros = "zeros.ldb needs 250 MB of memory, but the limit is "
	for _, tt := range []struct {
		kib  int
		args string
		want string // the message; "": success
	}{
		{1 << 20, "build --memory 64MiB <pairs -o >t.ldb --table-filter fuse", ""},
		{1 << 20, "build <pairs -o >t.ldb", ""},
		{4 << 20, "build --memory 64GiB <pairs -o >t.ldb", "sst with --memory 65536MiB needs 69 GB of memory, but the limit is "},
		{1 << 20, "build --filter-only --table-filter table-bloom --filter-keys 500M <pairs -o >f.filter", "a filter for 500,000,000 keys needs 537 MB of memory, but the limit is "},
		{1 << 20, "verify <snappy.ldb", "snappy.ldb needs 250 MB of memory, but the limit is "},
		{1 << 20, "verify <zstd.ldb", "zstd.ldb needs 250 MB of memory, but the limit is "},
		{1 << 20, "verify <snappy.set", zeros},
		{1 << 20, "verify <zstd.set", zeros},
		{1 << 20, "merge <snappy.ldb -o >m.ldb", "snappy.ldb needs 250 MB of memory, but the limit is "},
		{1 << 20, "merge <zstd.ldb -o >m.ldb", "zstd.ldb needs 250 MB of memory, but the limit is "},
		{1 << 20, "get <zstd.ldb key", "zstd.ldb needs 250 MB of memory, but the limit is "},
	} {
		if !m.starts(t, tt.kib) {
			t.Errorf("Go's runtime does not start in %d KiB", tt.kib)
			continue
		}
		status, stderr := m.check(t, tt.kib, tt.args)
		if want := map[bool]int{true: cli.ExitOK, false: cli.ExitMemory}[tt.want == ""]; status != want || !strings.Contains(stderr, tt.want) {
			t.Errorf("sst %s: status %d, %s; want %d, %s", tt.args, status, stderr, want, tt.want)
		}
	}
}

// commandsInLittleMemory are run with random limits.
var commandsInLittleMemory = []string{
	"build <pairs -o >t.ldb", "build <pairs -o >t.ldb --memory 32MiB --table-filter fuse:16", "build <pairs -o >t.ldb --memory 200MiB -c zstd --concurrency 8",
	"build <pairs -o >s/ --entries-per-table 1000 --table-filter table-bloom", "build <pairs -o >db --database",
	"build --filter-only <pairs -o >f.filter", "build --filter-only --table-filter table-bloom --filter-keys 300M <pairs -o >f.filter",
	"merge <t.ldb <set -o >m.ldb", "merge <db -o >m/ --table-filter fuse", "convert <t.ldb -o >t.ldb -c zstd", "merge --database <db -o >db", "repair <db -o >db", "repair <cut.ldb -o >t.ldb",
	"get <t.ldb 00000000 || test $? = 1", "scan <set", "stats <t.ldb", "stats --try <t.ldb", "verify <set", "layout <t.ldb", "diff <t.ldb <set", "report <t.ldb -o >r.html", "report <db -o >r.html",
	"help build", "manifest <t.ldb -o >set.jsonl",
}

// commandsOfALargeFilter are run with a filter of 375 MB.
var commandsOfALargeFilter = []string{
	"get <big.filter 00000000 || test $? = 1", "stats <big.filter", "verify <big.filter", "report <big.filter -o >r.html", "merge <big.filter -o >u.filter",
}

// commandsOfZeros are run with small tables that have a value of 250 MB.
var commandsOfZeros = []string{
	"get <zstd.ldb key", "verify <zstd.ldb", "verify <snappy.ldb", "verify <zstd.set", "merge <zstd.ldb -o >m.ldb", "merge <snappy.ldb -o >m.ldb -c zstd",
	"stats <snappy.ldb", "scan <zstd.ldb", "convert <zstd.ldb -o >m.ldb", "diff <zstd.ldb <snappy.ldb", "report <snappy.ldb -o >r.html",
}

// Whatever the limit, sst ends with a result or a message. Limits in which Go's runtime cannot start are skipped.
func TestAnyAddressSpace(t *testing.T) {
	m, runs, commands := newLittleMemory(t), 16, commandsInLittleMemory
	if long.Enabled() {
		runs = 1000
		mustSST(t, "build", "--filter-only", "--table-filter", "table-bloom", "--filter-keys", "300M", m.in("pairs"), "-o", m.in("big.filter"))
		m.prepareZeros(t, "snappy", table.Snappy)
		m.prepareZeros(t, "zstd", codecs.Zstd)
		commands = slices.Concat(commands, commandsOfALargeFilter, commandsOfZeros)
	}
	r := rand.New(rand.NewPCG(64, 1))
	done := map[int]int{}
	for range runs {
		kib := 600<<10 + r.IntN(1200<<10)
		if r.IntN(4) == 0 {
			kib = 600<<10 + r.IntN(4<<20)
		}
		args := commands[r.IntN(len(commands))]
		if !m.starts(t, kib) {
			done[-1]++
			continue
		}
		status, _ := m.check(t, kib, args)
		done[status]++
	}
	if t.Logf("runs by status: %v", done); done[cli.ExitOK] < runs/8 || done[cli.ExitMemory] < runs/8 {
		t.Errorf("%d runs ended well, and %d for lack of memory, of %d", done[cli.ExitOK], done[cli.ExitMemory], runs)
	}
}
