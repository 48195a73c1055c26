package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// There may be any number of keys, which are asked for many at a time: each has its answer, in
// the order that they were given.
func TestKeysInBatches(t *testing.T) {
	t.Chdir(t.TempDir())
	var keys, want strings.Builder
	for i := range 2*maxBatchKeys + 10 {
		fmt.Fprintf(&keys, "key%d\n", i)
		if i%1000 == 0 {
			fmt.Fprintf(&want, "key%d\t\n", i)
		}
	}
	for name, contents := range map[string]string{"keys.txt": keys.String(), "in.tsv": want.String(), "long.txt": strings.Repeat("k", maxKeyLine+1)} {
		if err := os.WriteFile(name, []byte(contents), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	mustSST(t, "build", "-o", "t.ldb", "in.tsv")
	status, got, stderr := sst("get", "--keys-from", "keys.txt", "t.ldb")
	if status != exitNegative || got != want.String() {
		t.Errorf("status %d, %d answers, want %d: %s", status, strings.Count(got, "\n"), strings.Count(want.String(), "\n"), stderr)
	}
	status, _, stderr = sst("get", "--keys-from", "long.txt", "t.ldb")
	if status != exitUsage || !strings.Contains(stderr, "long.txt, line 1: longer than 16777216 bytes, want at most that many") {
		t.Errorf("status %d, %s", status, stderr)
	}
}
