package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/syndtr/goleveldb/leveldb/opt"

	"github.com/sievetable/sievetable/bench/peers/internal/cxxtool"
	"github.com/sievetable/sievetable/bench/peers/internal/history"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/workload"
)

// An sstCommand is the path of a built sst.
type sstCommand string

func buildSST(t *testing.T) sstCommand {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sst")
	_, err := cxxtool.Run("go", nil, "build", "-o", path, "github.com/sievetable/sievetable/table/cmd/sst")
	noError(t, err)
	return sstCommand(path)
}

// run runs the command, which must succeed, and returns what it printed.
func (c sstCommand) run(t *testing.T, stdin []byte, args ...string) []byte {
	t.Helper()
	out, err := cxxtool.Run(string(c), stdin, args...)
	if err != nil {
		t.Fatalf("sst %v: %v\n%s", args, err, out)
	}
	return out
}

// From the databases of both engines, sst reads what the engines read. It finds the databases sound, and builds
// tables with the same entries.
func TestCommandOnDatabases(t *testing.T) {
	long.Test(t)
	t.Parallel()
	sst := buildSST(t)
	rounds := workload.Writes(4, 2500, 1200)
	users := usersOf(rounds)
	ops, _ := history.Of(rounds, users)
	eachLived(t, opt.SnappyCompression, ops, func(t *testing.T, _, db string, answers []history.Answer) {
		newest := answers[len(answers)-len(users):] // from the last snapshot
		checkScan(t, sst, db, users, newest)
		checkCopies(t, sst, db)
	})
}

// checkScan compares the output of sst scan and sst get with the engine's answers.
func checkScan(t *testing.T, sst sstCommand, db string, users [][]byte, answers []history.Answer) {
	t.Helper()
	var want []string
	for i, user := range users {
		if answers[i].Found {
			want = append(want, fmt.Sprintf("%s\t%s\n", user, answers[i].Value))
		}
		if i%500 == 0 && answers[i].Found {
			if got := sst.run(t, nil, "get", db, string(user)); string(got) != string(answers[i].Value)+"\n" {
				t.Errorf("sst get %s = %q, want %q", user, got, answers[i].Value)
			}
		}
	}
	got := string(sst.run(t, nil, "scan", db))
	if got != strings.Join(want, "") {
		t.Errorf("sst scan printed %d bytes, want %d others in %d lines", len(got), len(strings.Join(want, "")), len(want))
	}
	lines := strings.SplitAfter(string(sst.run(t, nil, "scan", "--reverse", db)), "\n")
	slices.Reverse(lines)
	if strings.Join(lines, "") != got {
		t.Error("sst scan --reverse is not the reverse of sst scan")
	}
}

// checkCopies builds tables from the output of sst scan, for the whole database and for each of its tables, and
// compares them by sst diff.
func checkCopies(t *testing.T, sst sstCommand, db string) {
	t.Helper()
	if out := sst.run(t, nil, "verify", "--quiet", db); len(out) > 0 {
		t.Errorf("sst verify: %s", out)
	}
	copied := filepath.Join(t.TempDir(), "copy.ldb")
	sst.run(t, sst.run(t, nil, "scan", db), "build", "-o", copied)
	sst.run(t, nil, "verify", copied)
	sst.run(t, nil, "diff", db, copied)
	for _, table := range filesOf(t, db, "*.ldb", 2) {
		sst.run(t, sst.run(t, nil, "scan", table), "build", "--internal-keys=yes", "-o", copied)
		sst.run(t, nil, "verify", copied)
		sst.run(t, nil, "diff", table, copied)
		sst.run(t, nil, "convert", table, "-o", copied)
		sst.run(t, nil, "diff", table, copied)
	}
}
