package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/bench/peers/internal/goleveldb"
	"github.com/sievetable/sievetable/bench/peers/internal/history"
)

// churnEnv names an environment variable. If it is set, the test binary works on the goleveldb database in that
// directory.
const churnEnv = "SIEVETABLE_TEST_CHURN"

// A recoverer is an engine that works on databases in a separate process, and recovers them afterwards.
type recoverer struct {
	name    string
	churn   func(dir string, reuseLogs bool) *exec.Cmd
	recover func(dir string) ([]byte, error) // all pairs, as sst scan -f hex prints them
}

// eachRecoverer runs a test with each engine.
func eachRecoverer(t *testing.T, test func(t *testing.T, e recoverer)) {
	t.Run("goleveldb", func(t *testing.T) { test(t, goleveldbRecoverer(t)) })
	t.Run("C++ LevelDB", func(t *testing.T) { test(t, levelDBRecoverer(t)) })
}

func goleveldbRecoverer(t *testing.T) recoverer {
	t.Helper()
	self, err := os.Executable()
	noError(t, err)
	return recoverer{
		name: "goleveldb",
		churn: func(dir string, _ bool) *exec.Cmd { // goleveldb cannot reuse logs
			cmd := exec.Command(self)
			cmd.Env = append(os.Environ(), churnEnv+"="+dir)
			return cmd
		},
		recover: func(dir string) ([]byte, error) {
			var out bytes.Buffer
			err := goleveldb.Dump(dir, &out)
			return out.Bytes(), err
		},
	}
}

func levelDBRecoverer(t *testing.T) recoverer {
	t.Helper()
	db := levelDBDatabase(t)
	return recoverer{
		name:    "C++ LevelDB",
		churn:   db.Churn,
		recover: db.Dump,
	}
}

// live has the engine open the database, do the ops, and close it.
func (e recoverer) live(t *testing.T, dir string, reuseLogs bool, ops ...[]history.Op) {
	t.Helper()
	cmd := e.churn(dir, reuseLogs)
	cmd.Stdin = bytes.NewReader(history.Encode(slices.Concat(ops...)))
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != "ready\n" {
		t.Fatalf("%s: %v\n%s", e.name, err, out)
	}
}

// writeOps writes ops to a process until it dies.
func writeOps(w io.WriteCloser, ops iter.Seq[history.Op]) {
	defer w.Close() // the process may be dead
	out := bufio.NewWriter(w)
	for op := range ops {
		if _, err := out.Write(op.Append(nil)); err != nil {
			return
		}
	}
	out.Flush() // the process may be dead
}

// compare describes how the command's output for dir differs from the output of the engine that recovers a copy. If
// they agree, it returns "". The error is the engine's own.
func (e recoverer) compare(t *testing.T, sst sstCommand, dir string) (difference string, err error) {
	t.Helper()
	recovered := copyOf(t, dir)
	defer os.RemoveAll(recovered) // before the test ends, since there are many
	want, err := e.recover(recovered)
	if err != nil {
		return "", err
	}
	status, got, stderr := sst.call("scan", "-f", "hex", dir)
	if got != string(want) {
		return fmt.Sprintf("%s\nsst: status %d, %.1000s", firstDifference(want, []byte(got)), status, stderr), nil
	}
	if dropped := droppedBy(recovered); dropped == "" && status != 0 {
		return fmt.Sprintf("sst: status %d, %.1000s", status, stderr), nil
	} else if dropped != "" && stderr == "" {
		return "sst reports no damage; the engine: " + dropped, nil
	}
	return "", nil
}

// droppedBy returns the message of C++ LevelDB that it dropped a part of a log, or "" if it dropped nothing.
func droppedBy(dir string) string {
	text, err := os.ReadFile(filepath.Join(dir, "LOG"))
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, ".log: dropping ") {
			return line
		}
	}
	return ""
}

// firstDifference describes the first line that differs in two texts.
func firstDifference(want, got []byte) string {
	w, g := bytes.Split(want, []byte("\n")), bytes.Split(got, []byte("\n"))
	i := 0
	for i < min(len(w), len(g))-1 && bytes.Equal(w[i], g[i]) {
		i++
	}
	return fmt.Sprintf("%d lines, want %d; line %d is %.60q, want %.60q", len(g)-1, len(w)-1, i+1, g[i], w[i])
}
