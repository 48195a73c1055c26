package goleveldb_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table/goleveldb/internal/exchange"
)

// exchangeMain is a program that writes or checks a database.
const exchangeMain = `package main

import (
	"log"
	"os"
	"strconv"

	"github.com/sievetable/sievetable/table/goleveldb/internal/exchange"
)

func main() {
	seed, err := strconv.ParseUint(os.Args[3], 10, 64)
	if err != nil {
		log.Fatal(err)
	}
	work := map[string]func(string, uint64) error{"write": exchange.Write, "check": exchange.Check}[os.Args[1]]
	if err := work(os.Args[2], seed); err != nil {
		log.Fatal(err)
	}
}
`

// goleveldb's engine on our tables and the unmodified engine write and read the same databases.
func TestEnginesExchangeDatabases(t *testing.T) {
	t.Parallel()
	dir := newEngine(t)
	noError(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte(exchangeMain), 0o666))
	for seed := range uint64(2) {
		word := string(rune('0' + seed))
		ours, theirs := filepath.Join(t.TempDir(), "ours"), filepath.Join(t.TempDir(), "theirs")
		engineRun(t, dir, "run", ".", "write", ours, word)
		if err := exchange.Check(ours, seed); err != nil {
			t.Errorf("seed %d: goleveldb on what it wrote to our tables: %v", seed, err)
		}
		noError(t, exchange.Write(theirs, seed))
		engineRun(t, dir, "run", ".", "check", theirs, word)
		engineRun(t, dir, "run", ".", "check", ours, word)
	}
}

// goleveldb's own tests of its engine and of its tables pass on our tables.
func TestEngineSuite(t *testing.T) {
	t.Parallel()
	long.Test(t)
	dir := newEngine(t)
	leaveOut(t, filepath.Join(dir, "goleveldb", "leveldb", "table", "table_test.go"))
	out := engineRun(t, dir, "test", "-vet=off", "-count=1", "-v", "github.com/syndtr/goleveldb/leveldb", "github.com/syndtr/goleveldb/leveldb/table")
	passed := strings.Count("\n"+out, "\n--- PASS: Test")
	if want := countTests(t, dir); passed != want || want == 0 {
		t.Errorf("%d of goleveldb's tests have passed, want all %d:\n%s", passed, want, out)
	}
}

// countTests returns the number of tests of goleveldb's engine and tables.
func countTests(t *testing.T, dir string) (n int) {
	t.Helper()
	for _, pattern := range []string{"*_test.go", "table/*_test.go"} {
		files, err := filepath.Glob(filepath.Join(dir, "goleveldb", "leveldb", pattern))
		noError(t, err)
		for _, name := range files {
			source, err := os.ReadFile(name)
			noError(t, err)
			n += strings.Count(string(source), "\nfunc Test")
		}
	}
	return n
}

// leaveOut removes the part of goleveldb's table tests that accesses a Reader's fields.
func leaveOut(t *testing.T, name string) {
	t.Helper()
	source, err := os.ReadFile(name)
	noError(t, err)
	part := regexp.MustCompile(`(?s)func\(r \*Reader\) \{\s*It\("should have correct blocks number".*?\n\t\t\t\}\)\)`)
	if !part.Match(source) {
		t.Fatalf("%s has no such part", name)
	}
	noError(t, os.WriteFile(name, part.ReplaceAll(source, []byte("nil))")), 0o666))
}

// interrupted runs a program, interrupts it after that time, and returns its output.
func interrupted(t *testing.T, d time.Duration, program string, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	c := exec.CommandContext(ctx, program, args...)
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.WaitDelay = time.Minute
	out, err := c.CombinedOutput()
	if errors.Is(err, context.DeadlineExceeded) { // the program ended as expected
		err = nil
	}
	return string(out), err
}

// goleveldb's stress test writes, reads and scans in many goroutines and checks all results, until it is
// interrupted.
func TestEngineStress(t *testing.T) {
	t.Parallel()
	long.Test(t)
	dir := newEngine(t)
	program := filepath.Join(dir, "stress")
	engineRun(t, dir, "build", "-o", program, "github.com/syndtr/goleveldb/manualtest/dbstress")
	for _, flags := range []string{"", "-enableblockcache -enablebufferpool -enablecompression"} {
		args := "-httpprof= -numkeys 10000,1332,531,1234,1024 -db " + filepath.Join(t.TempDir(), "db") + " " + flags
		out, err := interrupted(t, 5*time.Second, program, strings.Fields(args)...)
		if err != nil || strings.Contains(out, "FATAL") || !strings.Contains(out, "WRITER DONE") {
			t.Errorf("stress %s: %v\n%s", flags, err, out)
		}
	}
}
