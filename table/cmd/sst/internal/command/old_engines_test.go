package command

import (
	"path/filepath"
	"strings"
	"testing"
)

// A key that LevelDB 1.17 hashed as signed bytes is found, and the tool says by which hash.
func TestFilterOfSignedBytes(t *testing.T) {
	t.Parallel()
	file := filepath.Join(goldens, "leveldb-1.17", "byte-edges.ldb")
	if got := mustSST(t, "get", "--explain", "--input-format", "hex", file, "000080"); !strings.Contains(got, "hash of signed bytes 0x") || !strings.Contains(got, "found: ") {
		t.Errorf("get --explain prints\n%s", got)
	}
	if got := mustSST(t, "get", "--explain", file, "7f7f7f", "--input-format", "hex"); strings.Contains(got, "signed") {
		t.Errorf("get --explain of bytes < 0x80 prints\n%s", got)
	}
	if got := mustSST(t, "stats", file); !strings.Contains(got, "two hashes") {
		t.Errorf("stats does not say that there are two hashes:\n%s", got)
	}
	if got := mustSST(t, "stats", filepath.Join(goldens, "leveldb", "byte-edges.ldb")); strings.Contains(got, "two hashes") {
		t.Errorf("stats of a table by LevelDB 1.23 says that there are two hashes:\n%s", got)
	}
}
