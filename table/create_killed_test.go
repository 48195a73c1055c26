package table_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

// childEnv has the test binary be a child, instead of running tests: the one
// that is named, and behind a colon what it is to work on.
const childEnv = "SIEVETABLE_TEST_CHILD"

// children print what they have to say, and return why they ended.
var children = map[string]func(path string) error{"writer": writeForEver, "writer of a whole file": writeAnother, "writer of half a file": writeHalf}

func TestMain(m *testing.M) {
	if name, path, ok := strings.Cut(os.Getenv(childEnv), ":"); ok {
		if err := children[name](path); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func childCommand(t *testing.T, name, path string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Skip(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), childEnv+"="+name+":"+path)
	return cmd
}

// writeForEver writes tables of many sizes under one name.
func writeForEver(name string) error {
	fmt.Println("ready")
	for n := 1; ; n = n*3%1000 + 1 {
		if err := writeFile(name, numbered(n)); err != nil {
			return err
		}
	}
}

// writeAnother writes a table before it gets ready.
func writeAnother(name string) error {
	if err := writeFile(name, numbered(1000)); err != nil {
		return err
	}
	return writeForEver(name)
}

// writeHalf gets ready in the middle of a table, and stays there.
func writeHalf(name string) error {
	w, err := table.Create(name, nil)
	if err != nil {
		return err
	}
	defer w.Abort()
	for _, p := range numbered(1000) {
		if err := w.Append(p.Key, p.Value); err != nil {
			return err
		}
	}
	fmt.Println("ready")
	for {
		time.Sleep(time.Hour)
	}
}

func writeFile(name string, pairs []workload.Pair) error {
	w, err := table.Create(name, &table.WriterOptions{FilterPolicy: filter.NewBloom(10)})
	if err != nil {
		return err
	}
	defer w.Abort()
	for _, p := range pairs {
		if err := w.Append(p.Key, p.Value); err != nil {
			return err
		}
	}
	return w.Close()
}

// A process that is killed at any point from Create to Close leaves no file
// under the final name, or a whole one.
func TestKilledWriter(t *testing.T) {
	t.Parallel()
	runs := 30
	if long.Enabled() && !testing.Short() {
		runs = 300
	}
	dir := t.TempDir()
	name := filepath.Join(dir, "a.ldb")
	rng := rand.New(rand.NewPCG(1, 1))
	whole, none, left := 0, 0, 0
	for run := range runs {
		child := "writer"
		switch run { // what a slow machine may have no other run do
		case 0:
			child = "writer of a whole file"
		case 1:
			child = "writer of half a file"
		}
		killChild(t, child, name, time.Duration(rng.IntN(5000))*time.Microsecond)
		switch err := verifyFile(name); {
		case err == nil:
			whole++
		case errors.Is(err, fs.ErrNotExist):
			none++
		default:
			t.Fatalf("the file of a killed writer: %v", err)
		}
		for _, n := range names(t, dir) {
			if strings.HasSuffix(n, ".tmp") {
				left++
			}
			if err := os.Remove(filepath.Join(dir, n)); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Logf("%d runs: %d whole files, %d none, %d temporary files left", runs, whole, none, left)
	if whole == 0 || left == 0 {
		t.Errorf("%d whole files and %d temporary ones: the writer was not killed at work", whole, left)
	}
}

// killChild runs a child, and kills it some time after it got ready.
func killChild(t *testing.T, child, name string, after time.Duration) {
	t.Helper()
	cmd := childCommand(t, child, name)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ready := make([]byte, len("ready"))
	if _, err := out.Read(ready); err != nil || string(ready) != "ready" {
		t.Fatalf("the child says %q, %v", ready, err)
	}
	time.Sleep(after)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil || cmd.ProcessState.Exited() {
		t.Fatalf("the child ended by itself: %v", err)
	}
}

func verifyFile(name string) error {
	r, err := table.Open(name, nil)
	if err != nil {
		return err
	}
	return errors.Join(r.Verify(), r.Close())
}
